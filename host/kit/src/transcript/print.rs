//! Writes steps as text.

use std::fmt::{self, Display};

use super::act::{Act, Call, Kind, Said, ValuesOf};

impl Said {
    /// The text of the message, laid out to follow `used` characters on the line.
    pub fn lay_out(&self, used: usize) -> String {
        let name = self.name.as_ref();
        let mut line = name.map_or_else(String::new, |name| format!("{name} "));
        match &self.kind {
            Kind::Request(method) | Kind::Notification(method) => line.push_str(&word(method)),
            Kind::Result => line.push_str("result"),
            Kind::Error => line.push_str("error"),
            Kind::Cancel => line.push_str("cancel"),
        }
        if let Some(body) = &self.body {
            line.push(' ');
            let used = used + line.chars().count();
            line.push_str(&body.lay_out(used));
        }
        line
    }
}

/// A method as one word. A method that is not a word cannot be written in a transcript: `?` replaces its characters.
fn word(method: &str) -> String {
    let shown = |c: char| if c.is_ascii_graphic() { c } else { '?' };
    let word: String = method.chars().map(shown).collect();
    if word.is_empty() || word.starts_with(['{', '[', '#']) {
        format!("?{word}")
    } else {
        word
    }
}

/// The folder of a project whose values are meant.
fn in_folder(of: &ValuesOf) -> String {
    let folder = of.folder.as_ref();
    folder.map_or_else(String::new, |folder| format!(" in {folder}"))
}

/// Writes a step without a final line feed.
impl Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (head, json) = match self {
            Self::Says(end, said) => {
                let head = format!("{}: ", end.as_str());
                return write!(f, "{head}{}", said.lay_out(head.len()));
            }
            Self::Gets(end, said) => {
                let head = format!("{} gets: ", end.as_str());
                return write!(f, "{head}{}", said.lay_out(head.len()));
            }
            Self::Calls(Call {
                name,
                server,
                method,
                params,
            }) => {
                let tool = params.tool().filter(|_| method == "tools/call");
                let (head, params) = match &tool {
                    Some((tool, arguments)) => {
                        (format!("agent calls: {name} {server}/{tool} "), arguments)
                    }
                    None => (format!("agent calls: {name} {server} {method} "), params),
                };
                return write!(f, "{head}{}", params.lay_out(head.len()));
            }
            Self::Session(name, params) => (format!("session {name} "), params),
            Self::After(time) => return write!(f, "after {}", humantime::format_duration(*time)),
            Self::Fails(proxy) => return write!(f, "{proxy} fails"),
            Self::Restarts(proxy, None) => return write!(f, "{proxy} restarts"),
            Self::Restarts(proxy, Some(saved)) => (format!("{proxy} restarts with "), saved),
            Self::Logs(proxy, text) => return write!(f, "{proxy} logs: {text}"),
            Self::HasStored(of, values) => {
                let folder = in_folder(of);
                (format!("{} has stored{folder} ", of.proxy), values)
            }
            Self::Stores(of, values) => (format!("{} stores{}: ", of.proxy, in_folder(of)), values),
        };
        write!(f, "{head}{}", json.lay_out(head.len()))
    }
}
