//! A whole prompt, even one longer than the limit `body`: images, whose data is not examined, make prompts long. A
//! prompt that would not fit into this proxy's memory is refused before it is read.

use acp_chain_proxy::{ChannelError, Head, Json, Step, Strings, read};

use crate::body::{self, Findings};

/// The maximum length of an examined prompt, in bytes.
const LONGEST: u64 = 40 * 1024 * 1024;
/// The maximum length of a prompt that can be changed: the host reads it several times for that.
const CHANGED: u64 = 24 * 1024 * 1024;
/// The maximum length of a text in a prompt longer than this.
const LONG: u64 = 16 * 1024 * 1024;
const LONGEST_TEXT: usize = 4 * 1024 * 1024;

/// The parameters of a prompt; `None` if no power lets this proxy read them.
pub(crate) fn prompt(head: &Head) -> Result<Option<Json>, String> {
    let size = head.size;
    if size > LONGEST {
        return Err(format!(
            "a prompt of {size} bytes is too long to be scanned for secrets; leave out its largest \
             attachment: at most {LONGEST} bytes are allowed"
        ));
    }
    let body = match read(head.id, "") {
        Err(ChannelError::Denied(_)) => return Ok(None),
        body => body.map_err(|error| error.to_string())?,
    };
    let body = body.ok_or("the prompt has no parameters")?;
    match longest_text(&body, size)? {
        None => Ok(Some(body)),
        Some((block, length)) => Err(format!(
            "block {block} of the prompt has a text of {length} bytes, too long to be scanned for \
             secrets in a prompt of {size}; past {LONG} bytes, a text may have {LONGEST_TEXT}"
        )),
    }
}

/// An error if a prompt contains secrets, and is too long to be changed.
pub(crate) fn check(findings: &Findings, head: &Head) -> Result<(), String> {
    let Some(place) = findings.first().filter(|_| head.size > CHANGED) else {
        return Ok(());
    };
    let block = place
        .strip_prefix("/prompt/")
        .and_then(|rest| rest.split('/').next());
    let block = block.and_then(|block| block.parse::<usize>().ok());
    let place = block.map_or_else(|| place.to_owned(), |block| format!("block {}", block + 1));
    let (size, name) = (
        head.size,
        findings.names.first().copied().unwrap_or_default(),
    );
    Err(format!(
        "{place} of the prompt has a secret ({name}), and a prompt of {size} bytes is too long to be \
         changed; remove the secret, or attach less than {CHANGED} bytes"
    ))
}

/// The block of a long prompt whose text is too long, counted from 1, and its length.
fn longest_text(body: &Json, size: u64) -> Result<Option<(usize, usize)>, String> {
    if size <= LONG {
        return Ok(None);
    }
    let spelling = body.spelling();
    let mut strings = Strings::of(&spelling);
    while let Some(string) = strings.next().map_err(|error| error.to_string())? {
        let length = string.range().len();
        if length > LONGEST_TEXT && body::is_text(strings.path()) {
            let block = match strings.path().get(1) {
                Some(Step::Item(index)) => index + 1,
                Some(Step::Member(_)) | None => 0,
            };
            return Ok(Some((block, length)));
        }
    }
    Ok(None)
}
