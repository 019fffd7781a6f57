use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::{Locked, Release};
use acp_chain_disk::fault;

/// A store, and a folder with a lock in it that names `old`.
struct World {
    folder: TempDir,
    store: Store,
}

const OLD: &[u8] = b"old component";
const NEW: &[u8] = b"new component";

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("data"));
    let world = World { folder, store };
    world.install(&[OLD]).unwrap();
    world
}

impl World {
    fn lock_file(&self) -> PathBuf {
        self.folder.path().join("acp-chain.lock")
    }

    fn lock(&self) -> Lock {
        Lock::read(&self.lock_file()).unwrap()
    }

    /// Adds the components, and then writes the lock, as the command `add` does.
    fn install(&self, components: &[&[u8]]) -> Result<(), StoreError> {
        let changing = self.store.change()?;
        let mut lock = Lock::parse("version = 1", &self.lock_file())?;
        for (count, component) in components.iter().enumerate() {
            let digest = changing.add(component)?;
            lock.put(locked(
                &format!("it-{count}"),
                digest,
                component.len() as u64,
            ));
        }
        changing.write(&lock)
    }

    fn components(&self) -> usize {
        fs::read_dir(self.store.components()).unwrap().count()
    }
}

fn locked(name: &str, digest: Digest, size: u64) -> Locked {
    let agreed = Release {
        source: "./it.wasm".parse().unwrap(),
        version: None,
        manifest: None,
        digest,
        size,
        wit: "0.1.0".to_owned(),
        imports: Vec::new(),
        powers: Vec::new(),
        signer: None,
        on_failure: None,
        guard: false,
        methods: std::collections::BTreeMap::new(),
        limits: std::collections::BTreeMap::new(),
    };
    Locked {
        name: name.to_owned(),
        agreed,
        pending: None,
    }
}

#[test]
fn an_added_component_is_found_by_its_digest() {
    let world = world();
    let digest = Digest::of(OLD);
    let path = world.store.find(&digest).unwrap();
    assert_eq!(fs::read(&path).unwrap(), OLD);
    assert_eq!(world.store.read(&digest).unwrap(), OLD);
    assert_eq!(
        world.store.sized(&digest, OLD.len() as u64).unwrap().path,
        path
    );
    assert_eq!(world.store.find(&Digest::of(NEW)), None);
    let missing = world.store.read(&Digest::of(NEW)).unwrap_err().to_string();
    assert!(
        missing.ends_with("is not installed; `acp-chain install` fetches it"),
        "{missing}"
    );
}

#[test]
fn a_damaged_component_is_an_error_and_can_be_replaced() {
    let world = world();
    let digest = Digest::of(OLD);
    let path = world.store.find(&digest).unwrap();
    fs::write(&path, "old compon").unwrap();
    let told = world.store.sized(&digest, OLD.len() as u64).unwrap_err();
    assert!(
        told.to_string()
            .contains("is damaged: remove it, then `acp-chain install`")
    );
    assert!(matches!(
        world.store.read(&digest),
        Err(StoreError::Damaged { .. })
    ));
    world.install(&[OLD]).unwrap();
    assert_eq!(world.store.read(&digest).unwrap(), OLD);
}

#[test]
fn a_wrong_size_is_an_error_of_the_lock() {
    let world = world();
    let told = world.store.sized(&Digest::of(OLD), 3).unwrap_err();
    assert!(
        matches!(told, StoreError::OtherSize(_, actual) if actual == OLD.len() as u64),
        "{told}"
    );
}

#[test]
fn a_missing_component_does_not_block_others() {
    let world = world();
    world.install(&[OLD, NEW]).unwrap();
    fs::remove_file(world.store.find(&Digest::of(OLD)).unwrap()).unwrap();
    let mut lock = world.lock();
    lock.remove("it-1").unwrap();
    world.store.change().unwrap().write(&lock).unwrap();
    assert_eq!(world.lock(), lock);
}

#[test]
fn a_lock_is_as_readable_as_other_files_beside_it() {
    let world = world();
    let usual = world.folder.path().join("usual");
    fs::write(&usual, "").unwrap();
    let permissions = |path: &Path| fs::metadata(path).unwrap().permissions();
    assert_eq!(permissions(&world.lock_file()), permissions(&usual));
    let manifest = world.folder.path().join("acp-chain.toml");
    let changing = world.store.change().unwrap();
    changing.write_manifest(&manifest, "").unwrap();
    assert_eq!(permissions(&manifest), permissions(&usual));
}

#[cfg(unix)]
#[test]
fn a_lock_behind_a_link_stays_there() {
    let world = world();
    let elsewhere = world.folder.path().join("elsewhere");
    fs::rename(world.lock_file(), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, world.lock_file()).unwrap();
    world.install(&[OLD, NEW]).unwrap();
    let link = fs::symlink_metadata(world.lock_file()).unwrap();
    assert!(link.is_symlink());
    assert_eq!(Lock::read(&elsewhere).unwrap().extensions().count(), 2);
}

#[test]
fn a_component_without_a_lock_is_collected() {
    let world = world();
    world.install(&[NEW]).unwrap();
    assert_eq!(world.components(), 2);
    let collected = world.store.change().unwrap().collect(&[]).unwrap();
    assert_eq!(
        (collected.components, collected.bytes),
        (1, OLD.len() as u64)
    );
    assert_eq!(world.store.read(&Digest::of(NEW)).unwrap(), NEW);

    fs::remove_file(world.lock_file()).unwrap();
    world.store.change().unwrap().collect(&[]).unwrap();
    assert_eq!(world.components(), 0);
    assert_eq!(world.store.lock_files().unwrap().len(), 0);
}

#[test]
fn an_unreadable_lock_prevents_collection() {
    let world = world();
    world.install(&[NEW]).unwrap();
    fs::write(world.lock_file(), "version = 2").unwrap();
    let told = world
        .store
        .change()
        .unwrap()
        .collect(&[])
        .unwrap_err()
        .to_string();
    assert!(told.starts_with("nothing was removed"), "{told}");
    assert!(told.contains("use the newer acp-chain"), "{told}");
    assert_eq!(world.components(), 2);
}

#[test]
fn a_kill_or_a_full_disk_at_any_step_leaves_old_or_new() {
    fault::at_each_step(
        world,
        |world| drop(world.install(&[OLD, NEW])),
        |world, fault| {
            let lock = world.lock();
            assert!([1, 2].contains(&lock.extensions().count()), "{fault}");
            for digest in lock.digests() {
                world.store.read(&digest).expect(fault);
            }
            // The next command repairs everything.
            world.install(&[OLD, NEW]).expect(fault);
            assert_eq!(world.lock().extensions().count(), 2, "{fault}");
            assert_eq!(world.components(), 2, "{fault}");
        },
    );
}

#[test]
fn a_kill_or_a_full_disk_while_collecting_keeps_what_is_used() {
    fault::at_each_step(
        || {
            let world = world();
            world.install(&[NEW]).unwrap();
            let gone = Path::new("/nowhere/acp-chain.lock");
            world.store.change().unwrap().used_by(gone).unwrap();
            world
        },
        |world| drop(world.store.change().map(|changing| changing.collect(&[]))),
        |world, fault| {
            assert_eq!(world.store.read(&Digest::of(NEW)).expect(fault), NEW);
            world.store.change().unwrap().collect(&[]).expect(fault);
            assert_eq!(world.components(), 1, "{fault}");
            assert_eq!(world.store.lock_files().unwrap().len(), 1, "{fault}");
        },
    );
}

#[test]
fn only_one_process_changes_the_store_at_a_time() {
    let world = world();
    let first = world.store.change().unwrap();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| world.install(&[OLD, NEW]));
        let lock = File::open(world.folder.path().join("data/lock")).unwrap();
        assert!(lock.try_lock().is_err());
        first.add(NEW).unwrap();
        drop(first);
        second.join().unwrap().unwrap();
    });
    assert_eq!(world.lock().extensions().count(), 2);
}
