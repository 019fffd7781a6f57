//! Projects that a test defines, by their folders.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use acp_chain::chain::{Member, Project, Projects, Word};
use acp_chain::channel::Failure;

/// The proxies of a project, for each time that the project joins.
type Stock = Arc<Mutex<VecDeque<Vec<Member>>>>;

/// Finds projects at once.
#[derive(Debug, Default)]
pub struct Folders {
    known: HashMap<PathBuf, Stock>,
    words: VecDeque<Word>,
}

impl Folders {
    /// Adds a project in this folder, with its proxies for each time that it joins. When they are used up,
    /// joining fails.
    #[must_use]
    pub fn with(mut self, folder: &str, proxies: Vec<Vec<Member>>) -> Self {
        let stock = Arc::new(Mutex::new(proxies.into()));
        self.known.insert(folder.into(), stock);
        self
    }

    /// Adds a notice to the user.
    #[must_use]
    pub fn telling(mut self, notice: &str) -> Self {
        self.words.push_back(Word::Notice(notice.to_owned()));
        self
    }
}

impl Projects for Folders {
    fn find(&mut self, number: u64, cwd: &Path) {
        let project = self.known.get(cwd).map(|stock| {
            let (stock, name) = (stock.clone(), cwd.display().to_string());
            let make = move || {
                let mut stock = stock.lock().unwrap_or_else(PoisonError::into_inner);
                let proxies = stock.pop_front();
                proxies.ok_or_else(|| Failure::new("its proxies are used up"))
            };
            Project {
                key: name.as_str().into(),
                name,
                make: Box::new(make),
            }
        });
        self.words.push_back(Word::Found(number, Ok(project)));
    }

    fn next(&mut self) -> Pin<Box<dyn Future<Output = Word> + Send + '_>> {
        Box::pin(async {
            match self.words.pop_front() {
                Some(word) => word,
                None => std::future::pending().await,
            }
        })
    }
}
