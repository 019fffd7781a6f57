//! `examples/serve/acp-chain@.service`, which no test starts: checked by systemd's own reader, and against the server.

use std::fs;

use acp_chain_tests::host::{self, peer};
use acp_chain_tests::wire::in_time;
use tokio::process::Command;

use super::kubernetes::{drain_seconds, is_flag, output};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../examples/serve/acp-chain@.service"
);

/// The values of a key, in order.
fn values<'u>(unit: &'u str, key: &str) -> Vec<&'u str> {
    let all = unit.lines().filter_map(|line| line.split_once('='));
    let of_key = all.filter(|(name, _)| *name == key);
    of_key.map(|(_, value)| value).collect()
}

#[tokio::test]
async fn systemd_knows_every_key_and_value() {
    let unit = fs::read_to_string(FILE).unwrap();
    // Packages put the program there.
    let own = unit.replace("/usr/bin/acp-chain", host::program().to_str().unwrap());
    assert_ne!(own, unit);
    let folder = tempfile::tempdir().unwrap();
    for (text, is_right) in [(&own, true), (&own.replace("KillMode=", "KilMode="), false)] {
        let file = folder.path().join("acp-chain@.service");
        fs::write(&file, text).unwrap();
        let mut command = Command::new(peer("bin/systemd-analyze"));
        let verified = command.args(["verify", "--man=no"]).arg(&file).output();
        let verified = in_time("its end", verified).await.unwrap();
        // It also tells of other units, and errors do not always change its status.
        let told = String::from_utf8(verified.stderr).unwrap();
        let is_told = told.lines().any(|line| line.contains("acp-chain@"));
        assert_eq!(is_told, !is_right, "{told}");
    }
}

#[tokio::test]
async fn its_options_are_those_of_the_server_and_turns_have_time_to_end() {
    let unit = fs::read_to_string(FILE).unwrap();
    let help = output(host::acp_chain("serve").arg("--help")).await;
    let starts = values(&unit, "ExecStart");
    let [start] = starts[..] else {
        panic!("{starts:?}")
    };
    let own = start.split(' ').take_while(|word| *word != "--");
    let flags: Vec<_> = own.filter(|word| word.starts_with("--")).collect();
    assert!(flags.len() > 1, "{start}");
    for flag in flags {
        assert!(is_flag(&help, flag), "{flag}: {help}");
    }
    let stop: u64 = values(&unit, "TimeoutStopSec")[0].parse().unwrap();
    assert!(stop > drain_seconds(&help));
    assert!(values(&unit, "Environment").contains(&"ACP_CHAIN_NODE=%i"));
    assert!(help.contains("ACP_CHAIN_NODE"));
}
