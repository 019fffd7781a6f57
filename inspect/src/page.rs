//! The files of the page. They are in the program as they stand in `page/`: nothing builds them.

/// A file of the page.
#[derive(Debug)]
pub struct File {
    /// Its path, from the page on.
    pub name: &'static str,
    /// What browsers call its kind.
    pub media_type: &'static str,
    /// What it holds.
    pub bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

macro_rules! files {
    ($($name:literal $media_type:ident),* $(,)?) => {
        [$(File {
            name: $name,
            media_type: $media_type,
            bytes: include_bytes!(concat!("../page/", $name)),
        }),*]
    };
}

/// All of them; each module behind those that it imports.
pub const FILES: [File; 18] = files![
    "index.html" HTML,
    "style.css" CSS,
    "vendor/uPlot.css" CSS,
    "vendor/lit-html.js" JS,
    "vendor/uPlot.js" JS,
    "vendor/diff.js" JS,
    "words.js" JS,
    "model.js" JS,
    "query.js" JS,
    "backend.js" JS,
    "json.js" JS,
    "compare.js" JS,
    "list.js" JS,
    "side.js" JS,
    "detail.js" JS,
    "plots.js" JS,
    "exports.js" JS,
    "main.js" JS,
];

/// The file of this name; without one, the first.
pub fn file(name: &str) -> Option<&'static File> {
    let name = if name.is_empty() { "index.html" } else { name };
    FILES.iter().find(|file| file.name == name)
}
