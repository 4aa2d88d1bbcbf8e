//! The `parameter` objects of reader and writer, checked and understood; and what both have in common.
//! Not here: doing what they say (`reader`, `writer`).

mod idle;
mod reader;
mod writer;

use serde_json::Value;
use transship_plugin_api::{Params, Result};

use crate::compression::Compression;
use crate::encoding::Encoding;

pub(crate) use self::reader::{Column, From, NullText, PARAMETERS as READER_PARAMETERS, ReaderConfig};
pub(crate) use self::writer::{
    Delimited, Format, Header, PARAMETERS as WRITER_PARAMETERS, Quoting, Sql, TextRules, WriteMode, WriterConfig,
};

/// The encoding that a job names; UTF-8 if none.
fn encoding(params: &Params<'_>) -> Result<Encoding> {
    match params.text("encoding")? {
        Some(name) if !name.trim().is_empty() => Encoding::from_name(&name).ok_or_else(|| {
            params.error(
                "encoding",
                format_args!("is \"{name}\", which is no encoding that is known here ({})", Encoding::SOME_NAMES),
            )
        }),
        _ => Ok(Encoding::Utf8),
    }
}

/// How files are packed; `None` of the words is an error that lists them.
fn compression(params: &Params<'_>, words: &[(&str, Compression)]) -> Result<Compression> {
    match params.text("compress")? {
        Some(name) if !name.trim().is_empty() => {
            let name = name.trim();
            let known = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(name));
            known.map(|(_, compression)| *compression).ok_or_else(|| {
                let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
                params.error("compress", format_args!("is \"{name}\", but must be one of {}", known.join(", ")))
            })
        }
        _ => Ok(Compression::None),
    }
}

/// A text in which escapes may have been written out because JSON's own were not trusted: `\t`, `\n`, `\u0001`, `\x01`.
/// A backslash alone, or before anything else, is one.
fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(backslash) = rest.find('\\') {
        plain.push_str(&rest[..backslash]);
        let after = &rest[backslash + 1..];
        let coded = |digits: usize| {
            let character = u32::from_str_radix(after.get(1..=digits)?, 16).ok().and_then(char::from_u32)?;
            Some((character, digits + 1))
        };
        let (character, length) = match after.as_bytes().first() {
            Some(b't') => ('\t', 1),
            Some(b'n') => ('\n', 1),
            Some(b'r') => ('\r', 1),
            Some(b'u') => coded(4).unwrap_or(('\\', 0)),
            Some(b'x') => coded(2).unwrap_or(('\\', 0)),
            Some(b'\\') => ('\\', 1),
            _ => ('\\', 0),
        };
        plain.push(character);
        rest = &after[length..];
    }
    plain.push_str(rest);
    plain
}

/// A text of one ASCII character, as the CSV settings have it.
fn one_byte(params: &Params<'_>, key: &str) -> Result<Option<u8>> {
    let Some(text) = params.text(key)? else { return Ok(None) };
    match unescape(&text).as_bytes() {
        [byte] if byte.is_ascii() => Ok(Some(*byte)),
        _ => Err(params.error(key, format_args!("is \"{text}\", but must be one ASCII character"))),
    }
}

/// CSV settings: an object, or the JSON text of one in a string.
fn csv_settings(params: &Params<'_>, key: &str) -> Result<Option<Value>> {
    match params.value(key) {
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => serde_json::from_str(text).map(Some).map_err(|error| {
            params.error(key, format_args!("is a string, but not the JSON text of an object: {error}"))
        }),
        other => Ok(other.cloned()),
    }
}

#[cfg(test)]
mod tests;
