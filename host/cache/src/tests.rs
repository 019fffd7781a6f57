//! A cache with concurrent, killed and malicious writers.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use wasmtime::{Config, Engine};

use super::entry::unfinished;
use super::{CodeCache, LoadedComponent};

const GIB: u64 = 1 << 30;

fn component(number: u32) -> Vec<u8> {
    let text =
        format!(r#"(component (core module (func (export "f") (result i32) i32.const {number})))"#);
    wat::parse_str(text).unwrap()
}

struct Fixture {
    folder: TempDir,
    engine: Engine,
}

impl Fixture {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            engine: Engine::default(),
        }
    }

    fn cache(&self) -> CodeCache {
        CodeCache::open(self.folder.path(), GIB).unwrap()
    }

    fn is_new(&self, number: u32) -> bool {
        let loaded = load(&self.cache(), &self.engine, &component(number));
        loaded.unwrap().is_new
    }

    /// The files of compiled code.
    fn compiled(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.folder.path()).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let mut paths: Vec<_> = paths
            .filter(|path| path.extension().is_some_and(|it| it == "compiled"))
            .collect();
        paths.sort();
        paths
    }
}

/// Loads a component by its file.
fn load(cache: &CodeCache, engine: &Engine, wasm: &[u8]) -> wasmtime::Result<LoadedComponent> {
    cache.load(engine, wasm, || engine.precompile_component(wasm))
}

#[test]
fn compiled_code_is_found_again() {
    let fixture = Fixture::new();
    assert!(fixture.is_new(1));
    assert!(!fixture.is_new(1));
    assert!(fixture.is_new(2));
    assert!(!fixture.is_new(1));
    assert_eq!(fixture.compiled().len(), 2);
}

#[test]
fn an_invalid_component_is_not_kept() {
    let fixture = Fixture::new();
    let module = wat::parse_str("(module)").unwrap();
    assert!(load(&fixture.cache(), &fixture.engine, &module).is_err());
    assert!(load(&fixture.cache(), &fixture.engine, b"\0asm").is_err());
    assert!(fixture.compiled().is_empty());
}

#[test]
fn an_engine_with_other_settings_finds_nothing() {
    let fixture = Fixture::new();
    assert!(fixture.is_new(1));
    let other = Engine::new(Config::new().epoch_interruption(true)).unwrap();
    let loaded = load(&fixture.cache(), &other, &component(1)).unwrap();
    assert!(loaded.is_new);
    assert!(!fixture.is_new(1));
    assert_eq!(fixture.compiled().len(), 2);
}

#[test]
fn a_damaged_file_is_removed_and_its_component_compiled_again() {
    let fixture = Fixture::new();
    assert!(fixture.is_new(1));
    let file = &fixture.compiled()[0];
    let whole = fs::read(file).unwrap();
    let mut broken: Vec<Vec<u8>> = [0, 1, 63, whole.len() / 2, whole.len() - 1]
        .map(|len| whole[..len].to_vec())
        .into();
    broken.extend((0..64).map(|part| {
        let mut flipped = whole.clone();
        flipped[part * (whole.len() - 1) / 63] ^= 1;
        flipped
    }));
    broken.push([&whole[..], b"\0"].concat());
    for content in broken {
        fs::write(file, content).unwrap();
        assert!(fixture.is_new(1));
        assert_eq!(&fixture.compiled(), std::slice::from_ref(file));
        assert_eq!(fs::read(file).unwrap(), whole);
        assert!(!fixture.is_new(1));
    }
}

#[test]
fn a_renamed_file_is_not_loaded_for_another_component() {
    let fixture = Fixture::new();
    assert!(fixture.is_new(1));
    assert!(fixture.is_new(2));
    let [one, other] = &fixture.compiled()[..] else {
        panic!("two files")
    };
    let (name, stem) = (file_name(one), file_name(other));
    let (digest, _) = name.split_once('-').unwrap();
    let (_, hash) = stem.split_once('-').unwrap();
    let stolen = fixture.folder.path().join(format!("{digest}-{hash}"));
    fs::remove_file(one).unwrap();
    fs::rename(other, &stolen).unwrap();
    assert!(fixture.is_new(1) && fixture.is_new(2));
    assert!(!stolen.exists());
}

#[test]
fn code_from_another_writer_is_not_loaded() {
    let (fixture, stranger) = (Fixture::new(), Fixture::new());
    assert!(stranger.is_new(1));
    for file in stranger.compiled() {
        fs::copy(&file, fixture.folder.path().join(file_name(&file))).unwrap();
    }
    assert!(fixture.is_new(1));
    // After the key has changed, no file is loaded.
    let key = fixture.folder.path().join("key");
    fs::write(&key, "half a key").unwrap();
    assert!(fixture.is_new(1));
    assert!(!fixture.is_new(1));
    assert_eq!(fs::read(&key).unwrap().len(), 32);
}

#[cfg(unix)]
#[test]
fn a_key_that_others_may_know_is_replaced_and_no_code_under_it_is_loaded() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let fixture = Fixture::new();
    let key = fixture.folder.path().join("key");
    assert!(fixture.is_new(1));
    let readable = |key: &Path| {
        fs::set_permissions(key, fs::Permissions::from_mode(0o644)).unwrap();
    };
    let linked = |key: &Path| {
        let elsewhere = key.with_extension("of-others");
        fs::rename(key, &elsewhere).unwrap();
        symlink(&elsewhere, key).unwrap();
    };
    let spoils: [&dyn Fn(&Path); 2] = [&readable, &linked];
    for spoil in spoils {
        let before = fs::read(&key).unwrap();
        spoil(&key);
        assert!(fixture.is_new(1));
        assert!(!fixture.is_new(1));
        assert_ne!(fs::read(&key).unwrap(), before);
        let about = fs::symlink_metadata(&key).unwrap();
        assert!(about.is_file());
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn concurrent_writers_do_not_disturb_each_other() {
    let fixture = Fixture::new();
    thread::scope(|scope| {
        for thread in 0..8 {
            let fixture = &fixture;
            scope.spawn(move || {
                for number in 0..4 {
                    let cache = CodeCache::open(fixture.folder.path(), GIB).unwrap();
                    let number = (number + thread) % 4;
                    load(&cache, &fixture.engine, &component(number)).unwrap();
                }
            });
        }
    });
    assert!((0..4).all(|number| !fixture.is_new(number)));
    let files = fs::read_dir(fixture.folder.path()).unwrap().count();
    assert_eq!(
        files,
        fixture.compiled().len() + 1,
        "only the key and the entries are left"
    );
}

#[test]
fn the_least_recently_used_file_is_evicted_first() {
    let fixture = Fixture::new();
    let one = {
        assert!(fixture.is_new(0));
        fs::metadata(&fixture.compiled()[0]).unwrap().len()
    };
    let small = CodeCache::open(fixture.folder.path(), one * 7 / 2).unwrap();
    let load = |number| load(&small, &fixture.engine, &component(number)).unwrap();
    let long_ago = |path: &Path, hours| {
        let then = SystemTime::now() - Duration::from_hours(hours);
        let file = File::options().append(true).open(path).unwrap();
        file.set_modified(then).unwrap();
    };
    let mut files = Vec::new();
    let mut known = BTreeSet::new();
    for number in 0..3 {
        load(number);
        let new = fixture
            .compiled()
            .into_iter()
            .find(|path| known.insert(path.clone()));
        files.extend(new);
    }
    for (file, hours) in files.iter().zip([3, 2, 1]) {
        long_ago(file, hours);
    }
    // Use it again.
    assert!(!load(0).is_new);
    assert!(load(3).is_new);
    assert!(!files[1].exists(), "the oldest");
    assert!(!load(0).is_new && !load(2).is_new && !load(3).is_new);
    // A file larger than the limit is compiled every time, and evicts nothing.
    let tiny = CodeCache::open(fixture.folder.path(), 10).unwrap();
    let loaded = self::load(&tiny, &fixture.engine, &component(9)).unwrap();
    assert!(loaded.is_new);
    assert!(!load(3).is_new);
}

#[test]
fn old_files_of_killed_writers_are_removed() {
    let fixture = Fixture::new();
    assert!(fixture.is_new(1));
    let (old, young) = (
        fixture.folder.path().join(".tmpA"),
        fixture.folder.path().join(".tmpB"),
    );
    for path in [&old, &young] {
        fs::write(path, "half").unwrap();
    }
    let then = SystemTime::now() - Duration::from_hours(2);
    File::options()
        .append(true)
        .open(&old)
        .unwrap()
        .set_modified(then)
        .unwrap();
    assert!(fixture.is_new(2));
    assert!(!old.exists() && young.exists());
    assert!(!fixture.is_new(1));
}

#[test]
fn code_continues_to_run_when_its_file_is_removed() {
    let fixture = Fixture::new();
    fixture.is_new(1);
    let loaded = load(&fixture.cache(), &fixture.engine, &component(1));
    let LoadedComponent { component, is_new } = loaded.unwrap();
    assert!(!is_new);
    fs::remove_file(&fixture.compiled()[0]).unwrap();
    assert!(!component.serialize().unwrap().is_empty());
}

#[test]
fn code_that_is_copied_continues_to_run_whatever_becomes_of_its_file() {
    let fixture = Fixture::new();
    fixture.is_new(1);
    let cache = fixture.cache().copying();
    let loaded = load(&cache, &fixture.engine, &component(1));
    let LoadedComponent { component, is_new } = loaded.unwrap();
    assert!(!is_new);
    // Of a mapped file, the pages would be gone.
    fs::write(&fixture.compiled()[0], "").unwrap();
    assert!(!component.serialize().unwrap().is_empty());
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn code_is_found_only_by_its_own_name() {
    let fixture = Fixture::new();
    let (cache, engine, wasm) = (fixture.cache(), &fixture.engine, component(1));
    let load = |name: &[u8]| {
        let compile = || engine.precompile_component(&wasm);
        cache.load(engine, name, compile).unwrap().is_new
    };
    assert!(load(b"sha256:1"));
    assert!(!load(b"sha256:1"));
    assert!(cache.find(engine, &b"sha256:1"[..]).unwrap().is_some());
    assert!(cache.find(engine, &b"sha256:2"[..]).unwrap().is_none());
    assert!(cache.find(engine, &wasm[..]).unwrap().is_none());
}

#[test]
fn code_can_be_kept_under_another_name() {
    let fixture = Fixture::new();
    let (cache, engine, wasm) = (fixture.cache(), &fixture.engine, component(1));
    assert!(cache.code(engine, &wasm).is_none());
    assert!(fixture.is_new(1));
    let code = cache.code(engine, &wasm).unwrap();
    let other = Engine::new(Config::new().epoch_interruption(true)).unwrap();
    assert!(cache.code(&other, &wasm).is_none());
    let kept = cache.load(engine, b"sha256:1", || -> wasmtime::Result<_> { Ok(code) });
    assert!(kept.unwrap().is_new);
    assert!(cache.find(engine, &b"sha256:1"[..]).unwrap().is_some());

    // Damaged code is not handed out.
    for file in fixture.compiled() {
        let mut content = fs::read(&file).unwrap();
        content[0] ^= 1;
        fs::write(&file, content).unwrap();
    }
    assert!(cache.code(engine, &wasm).is_none());
}

#[test]
fn an_error_names_no_temporary_file() {
    let fixture = Fixture::new();
    let missing = fixture.folder.path().join("missing");
    let error = unfinished(&missing).unwrap_err().to_string();
    assert!(!error.contains("missing"), "{error}");
}
