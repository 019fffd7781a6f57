//! The page with some of the lines, as one file for a bug report: it needs no server, and makes no requests.

use std::collections::BTreeMap;

use acp_chain_trace::Reader;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::conversation::{Conversation, conversation};
use crate::log::{Cursor, Entry, Log, body};
use crate::page::{self, File};

/// The data in the file, in place of a server.
#[derive(Serialize)]
struct Data {
    frames: Vec<Value>,
    lines: Vec<String>,
    /// The range of each line's body, in UTF-16 units, as JavaScript counts.
    bodies: Vec<[usize; 2]>,
    /// Turns by the rows of their prompts.
    conversations: BTreeMap<u64, Conversation>,
}

/// How many rows are read for the conversations of a report; later turns are left out.
const ROWS: u64 = 1_000_000;

/// Creates a report with lines of a trace.
///
/// # Errors
/// If they are not from a trace.
pub fn report(lines: &[u8]) -> Result<Vec<u8>, String> {
    let data = data(lines)?;
    let (style, script) = (style(), script());
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types lit-html",
        hash(&script),
        hash(&style)
    );
    let head = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{style}</style>\n\
         <script type=\"application/json\" id=\"report\">{data}</script>\n<script type=\"module\">{script}</script>"
    );
    let page = text(page::file("").ok_or("the page is missing")?);
    let (before, rest) = page
        .split_once(BEGIN)
        .ok_or("the page has no place for it")?;
    let (_, after) = rest.split_once(END).ok_or("the page has no place for it")?;
    Ok([before, &head, after].concat().into_bytes())
}

/// Between these markers, the page names its files.
const BEGIN: &str = "<!-- files -->";
const END: &str = "<!-- /files -->";

/// The lines as the page receives them, without anything that would close their element.
fn data(lines: &[u8]) -> Result<String, String> {
    let log = Log::of_files();
    let source = log.source("report");
    let mut entries = Vec::new();
    let (mut texts, mut bodies) = (Vec::new(), Vec::new());
    let mut reader = Reader::new(lines);
    while let Some(read) = reader.next() {
        let (number, line) = read.map_err(|error| error.to_string())?;
        let (_, text) = reader.text();
        let text = text.trim_ascii();
        texts.push(String::from_utf8_lossy(text).into_owned());
        let body = body(&line, text);
        bodies.push([body.start, body.end].map(|end| {
            let before = text.get(..end as usize).unwrap_or(text);
            String::from_utf8_lossy(before).encode_utf16().count()
        }));
        entries.push(Entry::kept(line, number, Bytes::copy_from_slice(text)));
    }
    log.append(source, entries);
    log.ended(source);
    let mut cursor = Cursor::default();
    let mut frames: Vec<Value> = Vec::new();
    while let Some(news) = log.news(&mut cursor) {
        let objects = serde_json::Deserializer::from_slice(&news).into_iter();
        frames.extend(objects.filter_map(Result::ok));
    }
    let data = Data {
        conversations: conversations(&log, &frames),
        frames,
        lines: texts,
        bodies,
    };
    let json = serde_json::to_string(&data).map_err(|error| error.to_string())?;
    Ok(json.replace('<', "\\u003c"))
}

/// The turns that begin in these frames.
fn conversations(log: &Log, frames: &[Value]) -> BTreeMap<u64, Conversation> {
    let turns = frames.iter().filter_map(|frame| frame["turns"].as_array());
    let mut left = ROWS;
    let told = turns.flatten().filter_map(|turn| {
        let row = turn[0].as_u64()?;
        let told = (left > 0).then(|| conversation(log, row, row.saturating_add(left)))?;
        left = left.saturating_sub(told.rows);
        Some((row, told))
    });
    told.collect()
}

fn text(file: &File) -> &'static str {
    std::str::from_utf8(file.bytes).unwrap_or_default()
}

fn of_kind(ending: &str) -> impl Iterator<Item = &'static File> {
    let files = page::FILES.iter();
    files.filter(move |file| file.name.ends_with(ending))
}

fn style() -> String {
    of_kind(".css").map(text).collect()
}

/// All modules as one script: each becomes a function that returns the module's exports.
fn script() -> String {
    let modules = of_kind(".js").map(|file| module(file.name, text(file)));
    let script: String = modules.collect();
    // These are only in strings and comments.
    script
        .replace("</script", "<\\/script")
        .replace("<!--", "<\\!--")
}

fn module(name: &str, text: &str) -> String {
    let mut body = String::new();
    let mut exports = Vec::new();
    for line in text.lines() {
        if let Some(import) = line.strip_prefix("import ") {
            body += &imported(import);
        } else if let Some(exported) = line
            .strip_prefix("export ")
            .filter(|rest| !rest.starts_with('{'))
        {
            let mut words = exported
                .split([' ', '(', '=', ';', '*', '{'])
                .filter(|word| !word.is_empty());
            let name =
                words.find(|word| !["async", "function", "const", "let", "class"].contains(word));
            exports.extend(name.map(str::to_owned));
            body += exported;
        } else if let Some((before, list)) = exported_list(line) {
            body += before;
            exports.extend(list.split(',').map(|export| {
                let mut words = export.split_whitespace();
                let own = words.next().unwrap_or_default();
                let public = words.nth(1).unwrap_or(own);
                format!("{public}: {own}")
            }));
        } else {
            body += line;
        }
        body.push('\n');
    }
    let exports = exports.join(", ");
    format!(
        "const {} = (() => {{\n{body}return {{ {exports} }};\n}})();\n",
        variable(name)
    )
}

/// The text before an `export {…}` list, and the list. Vendored modules end with one.
fn exported_list(line: &str) -> Option<(&str, &str)> {
    let (before, list) = line.rsplit_once("export")?;
    let list = list.trim_start().strip_prefix('{')?;
    let list = list.trim_end().trim_end_matches(';').strip_suffix('}')?;
    (before.is_empty() || before.ends_with([';', '}'])).then_some((before, list))
}

fn imported(import: &str) -> String {
    let Some((what, from)) = import.split_once(" from ") else {
        return String::new();
    };
    let from = from.trim_matches(['\'', '"', ';']).trim_start_matches("./");
    let module = variable(from);
    if what.starts_with('{') {
        format!("const {} = {module};", what.replace(" as ", ": "))
    } else {
        format!("const {what} = {module}.default;")
    }
}

fn variable(name: &str) -> String {
    let name = name.trim_end_matches(".js");
    format!(
        "module_{}",
        name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
    )
}

fn hash(text: &str) -> String {
    let digest = STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!("sha256-{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_can_close_the_element_that_contains_it() {
        let line = br#"{"from":"client","to":"a","kind":"notification","method":"</script><script>","params":["<!--<script>"]}"#;
        let report = String::from_utf8(report(line).unwrap()).unwrap();
        assert_eq!(report.matches("</script").count(), 2);
        assert_eq!(report.matches("<script").count(), 2);
        let head = report.split("<script").next().unwrap();
        assert!(!head.contains("src=") && !head.replace("href=\"data:,\"", "").contains("href="));
    }

    #[test]
    fn a_report_has_the_ranges_of_bodies() {
        let line = r#"{"from":"client","to":"ä😀","kind":"notification","method":"m","params":["ö"],"size":1}"#;
        let data: serde_json::Value =
            serde_json::from_str(&data(line.as_bytes()).unwrap()).unwrap();
        let [begin, end] = [0, 1].map(|at| {
            let place = data["bodies"][0][at].as_u64().unwrap();
            usize::try_from(place).unwrap()
        });
        let units: Vec<_> = line.encode_utf16().collect();
        assert_eq!(String::from_utf16(&units[begin..end]).unwrap(), r#"["ö"]"#);
    }

    #[test]
    fn a_module_becomes_a_function_that_returns_its_exports() {
        let text = "import { a, b as c } from './vendor/x.js';\nimport d from './y.js';\nexport const e = 1;\nexport async function f() {}\n";
        assert_eq!(
            module("z.js", text),
            "const module_z = (() => {\nconst { a, b: c } = module_vendor_x;\nconst d = module_y.default;\n\
             const e = 1;\nasync function f() {}\nreturn { e, f };\n})();\n"
        );
        assert_eq!(
            module("v.js", "var x=1;export{x as y,x as default};"),
            "const module_v = (() => {\nvar x=1;\nreturn { y: x, default: x };\n})();\n"
        );
        for line in script().lines() {
            assert!(
                !line.starts_with("import ") && !line.starts_with("export"),
                "{line}"
            );
        }
    }
}
