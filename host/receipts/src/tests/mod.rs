mod damage;
mod folder;
mod foreign;
mod formats;
mod observed;
mod served;
mod trees;

use std::path::Path;
use std::time::Duration;

use crate::log::Log;
use crate::{Checkpoint, LogError};

/// The size of a segment in most tests, in bytes: a few records.
const SMALL: u64 = 600;

fn open(folder: &Path) -> Result<Log, LogError> {
    Log::with(folder, None, SMALL)
}

fn open_keeping(folder: &Path, keep: Duration) -> Result<Log, LogError> {
    Log::with(folder, Some(keep), SMALL)
}

/// A record of an hour ago.
fn record(number: u64) -> Vec<u8> {
    let time = std::time::SystemTime::now() - Duration::from_hours(1);
    let time = humantime::format_rfc3339_micros(time);
    format!(r#"{{"time":"{time}","what":"stop","request":{number}}}"#).into_bytes()
}

/// A log with this many records, and its checkpoint.
fn filled(folder: &Path, count: u64) -> Checkpoint {
    let mut log = open(folder).unwrap();
    for number in 0..count {
        log.append(&[record(number)]).unwrap();
    }
    log.sync().unwrap()
}
