//! Paths on the command line.

use std::path::PathBuf;

use acp_chain_manifest::written;
use clap::builder::{PathBufValueParser, TypedValueParser};

/// Reads a path. `~/…` is in the user's home: shells leave that of `--settings=~/x` as it is, and editors all arguments.
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| written(&path))
}

#[cfg(test)]
mod tests {
    use std::env::home_dir;
    use std::ffi::OsString;

    #[test]
    fn a_path_of_an_option_may_be_in_the_home() {
        let args = ["acp-chain", "--settings=~/c.toml", "--data", "d", "gc"];
        let cli = crate::parse(&args.map(OsString::from)).unwrap();
        assert_eq!(cli.settings, Some(home_dir().unwrap().join("c.toml")));
        assert_eq!(cli.data, Some("d".into()));
    }
}
