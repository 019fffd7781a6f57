//! The book is complete as plain files: each file that a page shows is up to date, and each link has a target.
//! `cargo xtask book` copies the files into the pages again.

use std::fs;
use std::path::{Path, PathBuf};

/// Set by `cargo xtask book`.
const WRITE: &str = "ACP_CHAIN_BOOK";

/// Marks the block of code below it as a file's text, by its path in the repository. `PATH: FIRST … LAST` is the part
/// from the first line that begins with `FIRST` to the next line that begins with `LAST`.
const ABOVE: &str = "<!-- the file ";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All pages: the book's, and those beside the code.
fn pages() -> Vec<PathBuf> {
    let mut folders = vec![
        root().join("docs"),
        root().join("examples"),
        root().join("guests"),
    ];
    let mut pages = vec![];
    for name in [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
    ] {
        pages.push(root().join(name));
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() && !path.ends_with("node_modules") => folders.push(path),
                Some(extension) if extension == "md" => pages.push(path),
                _ => {}
            }
        }
    }
    pages
}

/// The page with the current text of the files that it shows.
fn with_files(page: &str) -> String {
    let mut parts = page.split(ABOVE);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->").expect("the end of a comment");
        let (path, lines) = name.split_once(": ").unwrap_or((name, ""));
        let file = fs::read_to_string(root().join(path))
            .unwrap_or_else(|error| panic!("{name}, which a page shows: {error}"));
        let file = part_of(&file, lines).unwrap_or_else(|| panic!("{name} does not exist"));
        let (fence, rest) = rest.trim_start().split_once('\n').expect("a block of code");
        let (_, rest) = rest.split_once("\n```\n").expect("the end of the block");
        for text in [
            ABOVE,
            name,
            " -->\n",
            fence,
            "\n",
            file.trim_end(),
            "\n```\n",
            rest,
        ] {
            whole.push_str(text);
        }
    }
    whole
}

/// The lines of a file from the one that begins with `FIRST` to the one that begins with `LAST`; all by default.
fn part_of(file: &str, lines: &str) -> Option<String> {
    let Some((first, last)) = lines.split_once(" … ") else {
        return Some(file.to_owned());
    };
    let mut lines = file.lines().skip_while(|line| !line.starts_with(first));
    let mut part = format!("{}\n", lines.next()?);
    for line in lines {
        part.push_str(line);
        part.push('\n');
        if line.starts_with(last) {
            return Some(part);
        }
    }
    None
}

#[test]
fn pages_show_files_as_they_are() {
    let writes = std::env::var_os(WRITE).is_some();
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let (name, now) = (path.display(), with_files(&page));
        assert!(
            !page.contains("{{#"),
            "{name} includes something, which only mdBook reads"
        );
        if writes {
            fs::write(&path, now).unwrap();
        } else {
            assert!(
                now == page,
                "{name} is out of date: `cargo xtask book` regenerates it"
            );
        }
    }
}

#[test]
fn links_lead_somewhere() {
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let code = |(at, _): &(usize, &str)| at % 2 == 1;
        let prose = page.split("```").enumerate().filter(|part| !code(part));
        for (_, text) in prose {
            for link in text.split("](").skip(1) {
                let link = link.split([')', ' ']).next().unwrap_or_default();
                let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
                if link.contains("://") || link.starts_with("mailto:") {
                    continue;
                }
                let target = match file {
                    "" => path.clone(),
                    file => path.with_file_name(file),
                };
                let name = path.display();
                assert!(
                    target.exists(),
                    "{name} links to {link}, which does not exist"
                );
                if !anchor.is_empty() {
                    let target = fs::read_to_string(target).unwrap();
                    assert!(
                        anchors(&target).any(|known| known == anchor),
                        "{name}: no {link}"
                    );
                }
            }
        }
    }
}

/// The anchors of a page's headings.
fn anchors(page: &str) -> impl Iterator<Item = String> {
    let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
    headings.map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter })
            .collect()
    })
}
