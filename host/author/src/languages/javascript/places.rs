//! The origins of a bundle's parts, to report errors with their positions in the author's sources.
//!
//! A source map has far more, and with large packages the engine would take a second to parse it. Code of the SDK or of
//! npm packages is left out.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::read_json;
use crate::Error;

/// Writes the origins into the first line of a bundle, from the source map beside it. Paths are relative to `root`.
pub fn embed(bundle: &Path, root: &Path, sdk: &Path) -> Result<(), Error> {
    let map = read_json(&bundle.with_added_extension("map"))?;
    let folder = bundle.parent().unwrap_or(root);
    let sources = map["sources"].as_array().into_iter().flatten();
    let sources: Vec<_> = sources
        .map(|source| name(&folder.join(source.as_str()?), root, sdk))
        .collect();
    let mappings = map["mappings"].as_str().unwrap_or_default();
    let places = places(mappings, &sources);
    let places = json!({ "sources": sources, "places": places });
    let code = fs::read_to_string(bundle).map_err(Error::disk(bundle))?;
    // The SDK expects this name.
    let code = format!("const acpChainPlaces = {places};\n{code}");
    fs::write(bundle, code).map_err(Error::disk(bundle))
}

/// The path of a source, relative to `root`; `None` if it is not the author's.
fn name(source: &Path, root: &Path, sdk: &Path) -> Option<String> {
    let real = |path: &Path| path.canonicalize().ok();
    let source = real(source)?;
    let is_foreign =
        source.starts_with(real(sdk)?) || source.iter().any(|part| part == "node_modules");
    let shown = source.strip_prefix(real(root)?).unwrap_or(&source);
    (!is_foreign).then(|| shown.display().to_string().replace('\\', "/"))
}

/// Groups of four numbers: a line and column of the bundle, and the source and line of the code from there. Other code
/// has the source -1.
fn places(mappings: &str, sources: &[Option<String>]) -> Vec<i64> {
    let mut places = Vec::new();
    let (mut source, mut line) = (0, 0);
    let mut last = (-1, 0);
    for (number, segments) in (1..).zip(mappings.split(';')) {
        let mut column = 0;
        for segment in segments.split(',') {
            let fields = fields(segment);
            column += fields.first().unwrap_or(&0);
            if let [_, from, by, ..] = fields[..] {
                source += from;
                line += by;
            }
            let has_name = usize::try_from(source)
                .is_ok_and(|at| sources.get(at).is_some_and(Option::is_some));
            let place = if has_name && fields.len() > 1 {
                (source, line + 1)
            } else {
                (-1, 0)
            };
            if place != last {
                places.extend([number, column, place.0, place.1]);
                last = place;
            }
        }
    }
    places
}

/// The numbers of a segment (base-64 VLQ): digits of six bits, a continuation bit and five bits, the lowest digit
/// first. The lowest bit of a number is its sign.
pub fn fields(segment: &str) -> Vec<i64> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = segment.bytes();
    let digits = digits.filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte));
    let (mut fields, mut value, mut shift) = (Vec::new(), 0_i64, 0);
    for digit in digits.filter_map(|digit| i64::try_from(digit).ok()) {
        value |= (digit & 31) << shift;
        shift += 5;
        if digit & 32 == 0 {
            fields.push(if value & 1 == 1 {
                -(value >> 1)
            } else {
                value >> 1
            });
            (value, shift) = (0, 0);
        }
        // Line and column numbers are smaller.
        if shift > 50 {
            return fields;
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_that_of_the_last_segment_and_other_code_has_none() {
        let sources = [Some("src/a.js".to_owned()), None];
        // Three lines: a line of `a`, with a second one in it; one of the other; one of `a` again.
        let mappings = "AAAA,IACA;ACDA;ADEA";
        let expected = [1, 0, 0, 1, 1, 4, 0, 2, 2, 0, -1, 0, 3, 0, 0, 3];
        assert_eq!(places(mappings, &sources), expected);
    }

    #[test]
    fn numbers_have_a_sign_and_any_length() {
        assert_eq!(fields("ACDgB"), [0, 1, -1, 16]);
        assert_eq!(fields(""), [0_i64; 0]);
    }
}
