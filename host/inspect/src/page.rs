//! The files of the page, embedded unchanged from `page/`: there is no build step.

/// A file of the page.
#[derive(Debug)]
pub struct File {
    /// Its path, relative to the page.
    pub name: &'static str,
    pub media_type: &'static str,
    /// Its contents.
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

/// All files. A module comes after the modules that it imports.
pub const FILES: [File; 22] = files![
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
    "chains.js" JS,
    "list.js" JS,
    "axis.js" JS,
    "conversation.js" JS,
    "side.js" JS,
    "detail.js" JS,
    "plots.js" JS,
    "exports.js" JS,
    "dialogs.js" JS,
    "main.js" JS,
];

/// The file of this name, or the first if the name is empty.
pub fn file(name: &str) -> Option<&'static File> {
    let name = if name.is_empty() { "index.html" } else { name };
    FILES.iter().find(|file| file.name == name)
}
