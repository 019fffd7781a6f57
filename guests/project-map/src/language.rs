//! The language of a file, by its name.

use crate::project::{extension, last};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Python,
    Script,
    Go,
    C,
    Java,
    Markdown,
    /// A manifest, which declares nothing but refers to many files.
    CargoToml,
    PackageJson,
    GoMod,
}

impl Language {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match last(name) {
            "Cargo.toml" => return Some(Self::CargoToml),
            "package.json" => return Some(Self::PackageJson),
            "go.mod" | "go.work" => return Some(Self::GoMod),
            _ => {}
        }
        Some(match extension(name)? {
            "rs" => Self::Rust,
            "py" | "pyi" => Self::Python,
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => Self::Script,
            "go" => Self::Go,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Self::C,
            "java" => Self::Java,
            "md" | "markdown" => Self::Markdown,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Python => "Python",
            Self::Script => "JavaScript or TypeScript",
            Self::Go => "Go",
            Self::C => "C or C++",
            Self::Java => "Java",
            Self::Markdown => "Markdown",
            Self::CargoToml => "Cargo manifest",
            Self::PackageJson => "npm manifest",
            Self::GoMod => "Go manifest",
        }
    }
}
