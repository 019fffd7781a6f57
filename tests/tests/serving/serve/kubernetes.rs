//! `examples/serve/kubernetes.yaml`, without a cluster: checked against the API and the server.

use std::fs;
use std::path::Path;
use std::process::Output;

use acp_chain_tests::host::{self, peer};
use acp_chain_tests::web;
use acp_chain_tests::wire::in_time;
use serde_json::Value;
use tokio::process::Command;

use super::replica::Replica;

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../examples/serve/kubernetes.yaml"
);

/// Prints YAML as JSON.
const READER: &str =
    "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";

/// The standard output of a command, which must succeed.
pub async fn output(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = in_time("its end", command.output()).await.unwrap();
    let (stdout, stderr) = [stdout, stderr]
        .map(|bytes| String::from_utf8(bytes).unwrap())
        .into();
    assert!(status.success(), "{status}: {stdout}{stderr}");
    stdout
}

/// For how long turns may go on when the server is asked to stop, by its help.
pub fn drain_seconds(help: &str) -> u64 {
    let (_, about) = help.split_once("--drain-seconds").unwrap();
    let (_, time) = about.split_once("asked to stop: ").unwrap();
    time.split(' ').next().unwrap().parse().unwrap()
}

/// Whether the help of the server has this flag.
pub fn is_flag(help: &str, flag: &str) -> bool {
    let lines = help.lines().map(str::trim_start);
    let flags = lines.filter(|line| line.starts_with("--"));
    let mut names = flags.filter_map(|line| line.split_whitespace().next());
    names.any(|name| name == flag)
}

/// The resource of this kind and name.
async fn resource(kind: &str, name: &str) -> Value {
    let mut reader = Command::new(peer("balancers/bin/python"));
    let text = output(reader.args(["-c", READER, FILE])).await;
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    let found = all
        .into_iter()
        .find(|resource| resource["kind"] == kind && resource["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("no {kind} {name}"))
}

#[tokio::test]
async fn the_api_of_kubernetes_knows_every_field() {
    output(Command::new(peer("bin/kubernetes-validate")).args(["--strict", FILE])).await;
}

#[tokio::test]
async fn probes_ask_for_what_the_server_answers_and_turns_have_time_to_end() {
    let pods = resource("StatefulSet", "acp-chain").await;
    let pod = &pods["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let port = &container["ports"][0];
    let listens = format!("--listen=$(ADDRESS):{}", port["containerPort"]);
    assert_eq!(container["args"][0], *listens);
    let service = resource("Service", "acp-chain").await;
    assert_eq!(service["spec"]["ports"][0]["port"], port["containerPort"]);
    assert_eq!(service["spec"]["ports"][0]["targetPort"], port["name"]);
    assert_eq!(pods["spec"]["serviceName"], service["metadata"]["name"]);

    let (replica, client) = (Replica::start("a").await, web::client());
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        let get = &container[probe]["httpGet"];
        assert_eq!(get["port"], port["name"]);
        let url = format!(
            "http://{}{}",
            replica.address,
            get["path"].as_str().unwrap()
        );
        let answer = in_time("an answer", client.get(url).send()).await.unwrap();
        assert_eq!(answer.status(), 200, "{probe}");
    }

    let help = output(host::acp_chain("serve").arg("--help")).await;
    let grace = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
    assert!(grace > drain_seconds(&help));
    assert!(help.contains("ACP_CHAIN_NODE"));
    assert_eq!(container["env"][0]["name"], "ACP_CHAIN_NODE");
    assert_eq!(
        container["env"][0]["valueFrom"]["fieldRef"]["fieldPath"],
        "metadata.name"
    );
}

#[tokio::test]
async fn its_settings_name_a_store() {
    let config = resource("ConfigMap", "acp-chain").await;
    let settings = config["data"]["config.toml"].as_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("acp-chain");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("config.toml"), settings).unwrap();
    let mut command = host::acp_chain("serve");
    command
        .arg("--migrate")
        .env("XDG_CONFIG_HOME", folder.path());
    let told = in_time("its end", command.output()).await.unwrap();
    assert!(!told.status.success());
    // It got as far as the files of the secret.
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("/etc/acp-chain-store/ca.pem"), "{told}");
}

#[tokio::test]
async fn what_the_examples_say_to_the_server_is_what_it_knows() {
    let help = output(host::acp_chain("serve").arg("--help")).await;
    let pods = resource("StatefulSet", "acp-chain").await;
    let container = &pods["spec"]["template"]["spec"]["containers"][0];
    let all = container["args"].as_array().unwrap().iter();
    let mut said: Vec<_> = all.map(|one| one.as_str().unwrap().to_owned()).collect();
    let end = said.iter().position(|one| one == "--").unwrap();
    said.truncate(end);
    let file = Path::new(FILE).with_file_name("Containerfile");
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(r#"ENTRYPOINT ["acp-chain", "serve"]"#));
    let (_, own) = text.split_once("… acp-chain ").unwrap();
    let own = own.split_whitespace().take_while(|word| *word != "--");
    said.extend(own.filter(|word| word.starts_with("--")).map(str::to_owned));
    assert!(said.len() > 6, "{said:?}");
    for flag in said {
        let name = flag.split('=').next().unwrap();
        assert!(is_flag(&help, name), "{flag}: {help}");
    }
    // Prometheus requests the metrics at their address.
    let metrics = &container["ports"][1];
    assert!(
        container["args"]
            .as_array()
            .unwrap()
            .contains(&Value::String(format!(
                "--metrics=$(ADDRESS):{}",
                metrics["containerPort"]
            )))
    );
    let about = &pods["spec"]["template"]["metadata"]["annotations"];
    let port = metrics["containerPort"].to_string();
    assert_eq!(about["prometheus.io/port"], *port);
    assert_eq!(about["prometheus.io/path"], "/metrics");
    let example = Path::new(FILE).with_file_name("prometheus.yml");
    assert!(
        fs::read_to_string(example)
            .unwrap()
            .contains(&format!(":{port}]"))
    );
}

#[tokio::test]
async fn its_haproxy_knows_all_replicas_and_routes_as_the_example_does() {
    let config = resource("ConfigMap", "acp-chain-balancer").await;
    let text = config["data"]["haproxy.cfg"].as_str().unwrap();
    let pods = resource("StatefulSet", "acp-chain").await;
    let replicas = pods["spec"]["replicas"].as_u64().unwrap();
    let servers = text
        .lines()
        .filter(|line| line.trim_start().starts_with("server "));
    assert_eq!(u64::try_from(servers.count()).unwrap(), replicas);
    for number in 0..replicas {
        let pod = format!("acp-chain-{number}");
        for line in [
            format!("server {pod} {pod}.acp-chain:8600\n"),
            format!(
                "use-server {pod} if {{ req.hdr(acp-connection-id),field(1,.) -m str {pod} }}\n"
            ),
        ] {
            assert!(text.contains(&line), "{line}");
        }
    }
    // The rest of the routing is that of the tested example.
    let example = fs::read_to_string(Path::new(FILE).with_file_name("haproxy.cfg")).unwrap();
    let (_, rules) = example.split_once("\nbackend replicas\n").unwrap();
    let same = rules.lines().map(str::trim).filter(|line| {
        let own = ["#", "server ", "use-server ", "default-server "];
        !line.is_empty() && !own.iter().any(|own| line.starts_with(own))
    });
    for line in same {
        assert!(text.contains(line), "{line}");
    }

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("haproxy.cfg");
    fs::write(&file, text).unwrap();
    output(
        Command::new(peer("bin/haproxy"))
            .arg("-c")
            .arg("-f")
            .arg(&file),
    )
    .await;
}
