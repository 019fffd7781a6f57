//! Any sequence of calls, by two connections, has the results of a simple model.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// The namespaces and keys that calls choose from.
const EXTENSIONS: [&str; 3] = ["one", "two", "three"];
const KEYS: [&str; 3] = ["", "k", "a\0key"];

#[derive(Clone, Debug)]
enum Call {
    Load(usize, usize),
    Store(usize, usize, Knows, Option<String>),
    Wipe(Option<usize>),
    Reopen,
}

/// Which version a writer expects.
#[derive(Clone, Copy, Debug)]
enum Knows {
    Current,
    /// One that a value has had.
    Old,
    None,
}

fn call() -> impl Strategy<Value = Call> {
    let (extension, key) = (0..EXTENSIONS.len(), 0..KEYS.len());
    let knows = prop_oneof![
        4 => Just(Knows::Current),
        1 => Just(Knows::Old),
        1 => Just(Knows::None),
    ];
    let value = prop_oneof![
        1 => Just(None),
        3 => "\\PC{0,20}".prop_map(Some),
        1 => (any::<char>(), 0..9000_usize).prop_map(|(c, count)| Some(c.to_string().repeat(count))),
    ];
    prop_oneof![
        2 => (extension.clone(), key.clone()).prop_map(|(one, key)| Call::Load(one, key)),
        6 => (extension.clone(), key, knows, value)
            .prop_map(|(one, key, knows, value)| Call::Store(one, key, knows, value)),
        1 => proptest::option::of(extension).prop_map(Call::Wipe),
        1 => Just(Call::Reopen),
    ]
}

#[derive(Default)]
struct Model {
    /// The values and their versions, by extension and key.
    values: BTreeMap<(usize, usize), (String, u64)>,
    /// The extensions that have stored something.
    known: BTreeMap<usize, SystemTime>,
    /// The largest version of each extension.
    newest: [u64; EXTENSIONS.len()],
}

impl Model {
    fn version(&self, at: (usize, usize)) -> u64 {
        self.values.get(&at).map_or(0, |(_, version)| *version)
    }

    fn expected(&self, at: (usize, usize), knows: Knows) -> u64 {
        match knows {
            Knows::Current => self.version(at),
            Knows::Old => self.newest[at.0].saturating_sub(1),
            Knows::None => 0,
        }
    }

    /// The summaries, without times of changes.
    fn summaries(&self) -> Vec<(String, u64, u64, SystemTime)> {
        let summary = |(extension, since): (&usize, &SystemTime)| {
            let own = self.values.iter().filter(|((of, _), _)| of == extension);
            let sizes = own.map(|((_, key), (value, _))| size(KEYS[*key], value));
            let sizes: Vec<u64> = sizes.collect();
            let name = EXTENSIONS[*extension].to_owned();
            (name, sizes.len() as u64, sizes.iter().sum(), *since)
        };
        let mut all: Vec<_> = self.known.iter().map(summary).collect();
        all.sort();
        all
    }
}

fn summaries(database: &Database) -> Vec<(String, u64, u64, SystemTime)> {
    let summaries = database.namespaces().unwrap().into_iter();
    summaries
        .map(|one| (one.namespace.extension, one.count, one.bytes, one.since))
        .collect()
}

fn play(calls: Vec<(bool, Call)>) {
    let folder = tempfile::tempdir().unwrap();
    let path = path(&folder);
    let mut databases = [open(&path), open(&path)];
    let mut model = Model::default();
    for (second, call) in calls {
        let database = &mut databases[usize::from(second)];
        match call {
            Call::Load(extension, key) => {
                let loaded = database.load(&of(EXTENSIONS[extension]), KEYS[key]);
                let value = model.values.get(&(extension, key));
                let expected = Loaded {
                    value: value.map(|(value, _)| value.clone()),
                    version: model.version((extension, key)),
                    since: model.known.get(&extension).copied(),
                };
                assert_eq!(loaded.unwrap(), expected);
            }
            Call::Store(extension, key, knows, value) => {
                let at = (extension, key);
                let (namespace, key) = (of(EXTENSIONS[extension]), KEYS[key]);
                let (current, expected) = (model.version(at), model.expected(at, knows));
                let outcome = database.store(&namespace, key, expected, value.as_deref());
                match outcome.unwrap() {
                    StoreOutcome::Conflict(found) => {
                        assert_ne!(current, expected);
                        assert_eq!(found.version, current);
                        let value = model.values.get(&at).map(|(value, _)| value);
                        assert_eq!(found.value.as_ref(), value);
                        assert_eq!(found, database.load(&namespace, key).unwrap());
                    }
                    StoreOutcome::Stored { version } => {
                        assert_eq!(current, expected);
                        let Some(value) = value else {
                            assert_eq!(version, 0);
                            model.values.remove(&at);
                            continue;
                        };
                        assert!(version > model.newest[extension]);
                        model.newest[extension] = version;
                        model.values.insert(at, (value, version));
                        let since = database.load(&namespace, key).unwrap().since;
                        let since = since.expect("there is a value");
                        assert_eq!(*model.known.entry(extension).or_insert(since), since);
                    }
                }
            }
            Call::Wipe(extension) => {
                let filter = Filter {
                    extension: extension.map(|extension| EXTENSIONS[extension].to_owned()),
                    ..Filter::default()
                };
                let stays = |of: usize| extension.is_some_and(|extension| extension != of);
                let before = (model.known.len(), model.values.len());
                model.known.retain(|of, _| stays(*of));
                model.values.retain(|(of, _), _| stays(*of));
                let removed = Removed {
                    namespaces: (before.0 - model.known.len()) as u64,
                    values: (before.1 - model.values.len()) as u64,
                };
                assert_eq!(database.wipe(&filter).unwrap(), removed);
            }
            Call::Reopen => *database = open(&path),
        }
    }
    for database in &databases {
        assert_eq!(summaries(database), model.summaries());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_calls_have_the_results_of_the_model(
        calls in proptest::collection::vec((any::<bool>(), call()), 0..60),
    ) {
        play(calls);
    }
}
