//! Where the user's files of this program are, and how the user moves them.

/// A kind of the user's files, which have a folder of the system's for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserFiles {
    /// `config.toml`.
    Settings,
    /// What is installed, decided and stored.
    Data,
    /// What can be made again.
    Cache,
    /// The log, and what is beside it.
    State,
    /// The sockets of running programs.
    Sockets,
}

impl UserFiles {
    /// A folder that only the user can change, in words.
    pub const YOURS: &str = "a folder of yours";

    /// The variable that moves it, on Linux.
    const fn variable(self) -> &'static str {
        match self {
            Self::Settings => "XDG_CONFIG_HOME",
            Self::Data => "XDG_DATA_HOME",
            Self::Cache => "XDG_CACHE_HOME",
            Self::State => "XDG_STATE_HOME",
            Self::Sockets => "XDG_RUNTIME_DIR",
        }
    }

    /// How its user moves it to a folder, as in "a folder of yours": an imperative, without a capital letter.
    pub fn step(self, folder: &str) -> String {
        self.step_on(cfg!(target_os = "linux"), folder)
    }

    /// How its user moves it, on Linux or elsewhere: on macOS and Windows, the variables have no effect.
    fn step_on(self, is_linux: bool, folder: &str) -> String {
        let variable = self.variable();
        match self {
            // Read by ourselves, on each system that has sockets.
            Self::Sockets => format!("let {variable} name {folder}"),
            _ if is_linux => format!("let {variable} name {folder}"),
            Self::Settings => "name another file with `--settings`".to_owned(),
            Self::Data => format!("name {folder} with `--data`"),
            Self::State => "name another file with `--log-file`".to_owned(),
            Self::Cache => format!("let your home be {folder}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_linux_is_told_of_variables_that_move_folders() {
        let all = [
            UserFiles::Settings,
            UserFiles::Data,
            UserFiles::Cache,
            UserFiles::State,
        ];
        for place in all {
            let there = place.step_on(true, UserFiles::YOURS);
            assert!(there.ends_with("_HOME name a folder of yours"), "{there}");
            let elsewhere = place.step_on(false, UserFiles::YOURS);
            assert!(!elsewhere.contains("XDG_"), "{elsewhere}");
        }
        let step = UserFiles::Data.step_on(false, UserFiles::YOURS);
        assert_eq!(step, "name a folder of yours with `--data`");
    }
}
