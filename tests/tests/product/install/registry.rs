//! Extensions in Debian's `docker-registry`, with and without a password and TLS.

use std::fmt::Write;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc;

use acp_chain::extension::Digest;
use acp_chain_tests::{host, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::signed::Keys;
use super::world::{World, digest, package};

/// `me:secret`, as `htpasswd -B` writes it.
const PASSWORDS: &str = "me:$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n";

/// The media type of a manifest.
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// A registry that runs until it is dropped.
struct Registry {
    process: Child,
    /// The registry's host and port.
    name: String,
    _data: TempDir,
}

/// The registry's requirements.
#[derive(Default)]
struct Requirements {
    password: bool,
    tls: bool,
}

impl Registry {
    /// Starts a registry; one with TLS has an address that is not treated as this machine.
    fn start(wants: &Requirements) -> (Self, World) {
        let mut world = World::new();
        let data = tempfile::tempdir().unwrap();
        let path = |name: &str| data.path().join(name).display().to_string();
        let host = if wants.tls { "127.0.0.2" } else { "127.0.0.1" };
        let mut config = format!(
            "version: 0.1\nstorage: {{ filesystem: {{ rootdirectory: {} }} }}\nhttp:\n  addr: {host}:0\n",
            path("data")
        );
        if wants.tls {
            let certified = rcgen::generate_simple_self_signed([host.to_owned()]).unwrap();
            fs::write(path("cert.pem"), certified.cert.pem()).unwrap();
            fs::write(path("key.pem"), certified.signing_key.serialize_pem()).unwrap();
            let (cert, key) = (path("cert.pem"), path("key.pem"));
            let _ = writeln!(config, "  tls: {{ certificate: {cert}, key: {key} }}");
            world.set("SSL_CERT_FILE", cert);
        }
        if wants.password {
            fs::write(path("passwords"), PASSWORDS).unwrap();
            let passwords = path("passwords");
            let _ = writeln!(
                config,
                "auth: {{ htpasswd: {{ realm: it, path: {passwords} }} }}"
            );
        }
        fs::write(path("config.yml"), config).unwrap();
        let mut process = world
            .command(&host::peer("bin/docker-registry"))
            .args(["serve", &path("config.yml")])
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let (tell, told) = mpsc::channel();
        // The output is read to its end, or the registry would block.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, address)) = line.split_once("listening on ") {
                    let _ = tell.send(
                        address
                            .split(['"', ','])
                            .next()
                            .unwrap_or_default()
                            .to_owned(),
                    );
                }
            }
        });
        let name = told.recv().expect("the address of the registry");
        let registry = Self {
            process,
            name,
            _data: data,
        };
        (registry, world)
    }

    fn reference(&self, version: &str) -> String {
        format!("{}/org/it{version}", self.name)
    }

    /// Logs a user in.
    fn log_in(&self, world: &mut World, password: &str) {
        let folder = world.path("docker");
        fs::create_dir_all(&folder).unwrap();
        let auth = STANDARD.encode(format!("me:{password}"));
        let config = format!(r#"{{"auths":{{"{}":{{"auth":"{auth}"}}}}}}"#, self.name);
        fs::write(folder.join("config.json"), config).unwrap();
        world.set("DOCKER_CONFIG", folder.display().to_string());
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn what_was_published_is_installed_and_updated_and_comes_back_from_the_lock() {
    let (registry, world) = Registry::start(&Requirements::default());
    let reference = registry.reference(":1");
    let file = world.package("it.wasm", "it", "1.0.0", &["prompts.read"]);
    let first = world.do_run(&["publish", "it.wasm", &reference]);
    assert!(
        first.starts_with(&format!("{reference}@sha256:")),
        "{first}"
    );
    // Publishing the same file twice changes nothing.
    assert_eq!(world.do_run(&["publish", "it.wasm", &reference]), first);

    world.do_run(&["add", &reference, "--yes"]);
    let agreed = world.locked("it").agreed;
    assert_eq!(agreed.digest, digest(&file));
    assert_eq!(
        first.trim(),
        format!("{reference}@{}", agreed.manifest.unwrap())
    );
    assert_eq!(world.do_run(&["update"]), "`it` is up to date.\n");

    // The tag changes, and the lock does not.
    world.package("it.wasm", "it", "1.1.0", &["prompts.read"]);
    world.do_run(&["publish", "it.wasm", &reference]);
    fs::remove_dir_all(world.path(".local")).unwrap();
    let offline = world.fail(&["install", "--offline"]);
    assert!(
        offline.contains("`--offline` forbids downloads"),
        "{offline}"
    );
    assert_eq!(
        world.do_run(&["install", "--locked"]),
        "it 1.0.0: installed\n"
    );
    assert_eq!(
        world.do_run(&["install", "--offline"]),
        "it 1.0.0: is there\n"
    );

    world.do_run(&["update", "--yes"]);
    assert_eq!(world.locked("it").agreed.digest, digest(&file));
    let agreed = world.locked("it").agreed;
    drop(registry);
    let gone = world.fail(&["update", "--yes"]);
    assert!(gone.contains("there is no connection"), "{gone}");
    assert_eq!(world.locked("it").agreed, agreed);
}

#[test]
fn a_digest_in_a_reference_holds_whatever_the_tag_says() {
    let (registry, world) = Registry::start(&Requirements::default());
    let reference = registry.reference(":1");
    let file = world.package("it.wasm", "it", "1.0.0", &[]);
    let first = world.do_run(&["publish", "it.wasm", &reference]);
    world.package("it.wasm", "it", "1.1.0", &[]);
    world.do_run(&["publish", "it.wasm", &reference]);
    world.do_run(&["add", first.trim(), "--yes"]);
    assert_ne!(world.locked("it").agreed.digest, digest(&file));
    assert!(world.do_run(&["update"]).starts_with("`it` stays: "));
    let missing = world.fail(&["add", &registry.reference(":3"), "--yes"]);
    assert!(
        missing.contains("the server answers 404") && missing.contains("check the name"),
        "{missing}"
    );
}

/// Uploads bytes to a registry. Returns their descriptor.
async fn push(registry: &Registry, kind: &str, bytes: &[u8]) -> Value {
    let client = web::client();
    let digest = Digest::of(bytes);
    let uploads = format!("http://{}/v2/org/it/blobs/uploads/", registry.name);
    let begun = client.post(uploads).send().await.unwrap();
    let place = begun.headers()["location"].to_str().unwrap().to_owned();
    let put = client
        .put(format!("{place}&digest={digest}"))
        .body(bytes.to_vec());
    assert_eq!(put.send().await.unwrap().status(), 201);
    json!({ "mediaType": kind, "digest": digest, "size": bytes.len() })
}

/// The requests of `oras push REFERENCE it.wasm:TYPE`.
async fn push_as_oras(registry: &Registry, component: &[u8], kind: &str) {
    let layer = push(registry, kind, component).await;
    let config = push(registry, "application/vnd.unknown.config.v1+json", b"{}").await;
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer],
    });
    let url = format!("http://{}/v2/org/it/manifests/1", registry.name);
    let put = web::client().put(url).header("content-type", MANIFEST);
    let put = put.body(manifest.to_string()).send().await.unwrap();
    assert_eq!(put.status(), 201);
}

/// A folder with an artifact as the CNCF's guidance for WebAssembly has it, which `wkg oci push` follows (an
/// OCI image layout).
fn layout(world: &World, component: &[u8]) -> PathBuf {
    let folder = world.path("layout");
    fs::create_dir_all(folder.join("blobs/sha256")).unwrap();
    let blob = |kind: &str, bytes: &[u8]| {
        let digest = Digest::of(bytes).to_string();
        let path = folder.join("blobs").join(digest.replace(':', "/"));
        fs::write(path, bytes).unwrap();
        json!({ "mediaType": kind, "digest": digest, "size": bytes.len() })
    };
    let layer = blob("application/wasm", component);
    let config = json!({
        "created": "2026-01-01T00:00:00Z", "architecture": "wasm", "os": "wasip2",
        "layerDigests": [layer["digest"]], "component": { "exports": [], "imports": [], "target": null },
    });
    let config = blob(
        "application/vnd.wasm.config.v0+json",
        config.to_string().as_bytes(),
    );
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer],
    });
    let manifest = blob(MANIFEST, manifest.to_string().as_bytes());
    let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    fs::write(folder.join("index.json"), index.to_string()).unwrap();
    let version = json!({ "imageLayoutVersion": "1.0.0" });
    fs::write(folder.join("oci-layout"), version.to_string()).unwrap();
    folder
}

#[test]
fn what_skopeo_copies_into_a_registry_is_installed() {
    let (registry, mut world) = Registry::start(&Requirements::default());
    let component = package("it", "1.0.0", &[]);
    let layout = layout(&world, &component);
    // The folder for uploads in progress.
    world.set("TMPDIR", world.path("").display().to_string());
    let mut copy = world.command(&host::peer("bin/skopeo"));
    copy.args(["--insecure-policy", "copy", "--dest-tls-verify=false"]);
    copy.arg(format!("oci:{}", layout.display()));
    copy.arg(format!("docker://{}", registry.reference(":1")));
    let copied = copy.output().unwrap();
    assert!(copied.status.success(), "{copied:?}");
    world.do_run(&["add", &registry.reference(":1"), "--yes"]);
    assert_eq!(world.locked("it").agreed.digest, Digest::of(&component));
}

#[tokio::test]
async fn what_others_push_is_installed_or_told_by_its_layout() {
    let (registry, world) = Registry::start(&Requirements::default());
    let reference = registry.reference(":1");
    let component = package("it", "1.0.0", &[]);
    push_as_oras(
        &registry,
        &component,
        "application/vnd.oci.image.layer.v1.tar",
    )
    .await;
    let told = world.fail(&["add", &reference, "--yes"]);
    assert!(
        told.contains("the layers `application/vnd.oci.image.layer.v1.tar`"),
        "{told}"
    );
    push_as_oras(
        &registry,
        &component,
        "application/vnd.wasm.content.layer.v1+wasm",
    )
    .await;
    world.do_run(&["add", &reference, "--yes"]);
    assert_eq!(world.locked("it").agreed.digest, Digest::of(&component));
}

#[test]
fn signatures_go_along_and_are_told_good_bad_and_missing() {
    let (registry, mut world) = Registry::start(&Requirements::default());
    let keys = Keys::new(&world, "one");
    let minisign = host::peer("bin/minisign");
    let path = std::env::var("PATH").unwrap_or_default();
    world.set(
        "PATH",
        format!("{}:{path}", minisign.parent().unwrap().display()),
    );
    let reference = registry.reference(":1");
    world.package("it.wasm", "it", "1.0.0", &[]);
    world.do_run(&["publish", "it.wasm", &reference, "--sign", &keys.secret()]);
    world.do_run(&["add", &reference, "--yes", "--signer", &keys.public()]);
    let agreed = world.locked("it").agreed;
    assert_eq!(agreed.signer.as_ref().unwrap().to_string(), keys.public());

    world.package("it.wasm", "it", "1.1.0", &[]);
    world.do_run(&["publish", "it.wasm", &reference]);
    let unsigned = world.do_run(&["update", "--yes"]);
    assert!(
        unsigned.contains("! it is no longer signed, was signed by "),
        "{unsigned}"
    );
    assert_eq!(world.locked("it").agreed, agreed);
    world.do_run(&["publish", "it.wasm", &reference, "--sign", &keys.secret()]);
    world.do_run(&["update", "--yes"]);
    assert_eq!(world.locked("it").agreed.version.as_deref(), Some("1.1.0"));
}

#[test]
fn a_password_is_taken_from_podmans_file_where_docker_has_none() {
    let (registry, mut world) = Registry::start(&Requirements {
        password: true,
        tls: false,
    });
    let reference = registry.reference(":1");
    world.package("it.wasm", "it", "1.0.0", &[]);
    // The configuration that a removed Docker Desktop leaves.
    let docker = world.path("docker");
    fs::create_dir_all(&docker).unwrap();
    let config = r#"{"auths":{},"credsStore":"acp-chain-missing"}"#;
    fs::write(docker.join("config.json"), config).unwrap();
    world.set("DOCKER_CONFIG", docker.display().to_string());
    let told = world.fail(&["publish", "it.wasm", &reference]);
    assert!(
        told.contains("the server answers 401")
            && told.contains(
                "docker/config.json: the helper `docker-credential-acp-chain-missing` cannot be run"
            ),
        "{told}"
    );
    let auth = STANDARD.encode("me:secret");
    let file = |name: &str| format!(r#"{{"auths":{{"{name}":{{"auth":"{auth}"}}}}}}"#);
    let podman = world.path(".config/containers");
    fs::create_dir_all(&podman).unwrap();
    let part = file(&format!("{}/org", registry.name));
    fs::write(podman.join("auth.json"), part).unwrap();
    world.do_run(&["publish", "it.wasm", &reference]);
    // If a file is named, only that file counts.
    let named = world.path("auth.json").display().to_string();
    world.set("REGISTRY_AUTH_FILE", &*named);
    fs::write(&named, "{}").unwrap();
    world.fail(&["add", &reference, "--yes"]);
    fs::write(&named, file(&registry.name)).unwrap();
    world.do_run(&["add", &reference, "--yes"]);
}

#[test]
fn a_password_is_taken_from_dockers_configuration_and_tls_is_checked() {
    let (registry, mut world) = Registry::start(&Requirements {
        password: true,
        tls: true,
    });
    let reference = registry.reference(":1");
    world.package("it.wasm", "it", "1.0.0", &[]);
    let told = world.fail(&["publish", "it.wasm", &reference]);
    assert!(
        told.contains("the server answers 401") && told.contains("`docker login`"),
        "{told}"
    );
    registry.log_in(&mut world, "wrong");
    let told = world.fail(&["publish", "it.wasm", &reference]);
    assert!(told.contains("the server answers 401"), "{told}");
    registry.log_in(&mut world, "secret");
    world.do_run(&["publish", "it.wasm", &reference]);
    world.do_run(&["add", &reference, "--yes"]);

    // A certificate of an untrusted authority.
    let certificate = rcgen::generate_simple_self_signed(["other".to_owned()]).unwrap();
    fs::write(world.path("other.pem"), certificate.cert.pem()).unwrap();
    world.set(
        "SSL_CERT_FILE",
        world.path("other.pem").display().to_string(),
    );
    let told = world.fail(&["update"]);
    assert!(told.contains("certificate"), "{told}");
}
