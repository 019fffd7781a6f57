//! A cache of compiled functions, for components that get newer versions: in an interpreter with an embedded script,
//! only the script changes.

use std::borrow::Cow;

use acp_chain_rpc::Mutex;
use foldhash::{HashMap, HashMapExt};
use wasmtime::CacheStore;

/// How much is cached, in bytes.
const MOST: usize = 512 << 20;

/// Functions by their input.
#[derive(Debug)]
pub struct Functions(Mutex<CachedFunctions>);

#[derive(Debug)]
struct CachedFunctions {
    functions: HashMap<Box<[u8]>, Box<[u8]>>,
    bytes: usize,
}

impl Functions {
    /// An empty cache.
    pub fn new() -> Self {
        Self(Mutex::new(CachedFunctions {
            functions: HashMap::new(),
            bytes: 0,
        }))
    }
}

impl CacheStore for Functions {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        let kept = self.0.lock();
        let function = kept.functions.get(key)?;
        Some(Cow::Owned(function.to_vec()))
    }

    fn insert(&self, key: &[u8], value: Vec<u8>) -> bool {
        let mut kept = self.0.lock();
        let bytes = key.len() + value.len();
        if kept.bytes + bytes > MOST {
            // Most functions belong to old versions.
            kept.functions.clear();
            kept.bytes = 0;
        }
        if bytes > MOST {
            return false;
        }
        kept.bytes += bytes;
        if let Some(old) = kept.functions.insert(key.into(), value.into()) {
            kept.bytes -= key.len() + old.len();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_bounded() {
        let functions = Functions::new();
        assert!(functions.insert(b"a", vec![1; MOST / 2]));
        assert_eq!(functions.get(b"a").map(|a| a.len()), Some(MOST / 2));
        assert!(functions.insert(b"b", vec![2; MOST / 2]));
        assert!(functions.get(b"a").is_none());
        assert!(!functions.insert(b"c", vec![3; MOST]));
        assert!(functions.0.lock().bytes <= MOST);
    }
}
