//! Reports records that cannot be read, with their place in the file.

use serde_json::json;
use transship_plugin_api::{DirtyRecord, HostRef, Result};

/// A longer record is cut in the report: it is there to be looked at.
const SHOWN: usize = 1 << 20;

/// Where the records come from that may have to be reported.
pub(crate) struct Dirt {
    host: HostRef,
    file: String,
    entry: Option<String>,
    /// Lines of the files read before this one by the same task: positions count on over them.
    pub lines_before: u64,
}

/// A record that cannot be read, and why.
pub(crate) struct Broken<'a> {
    pub line: u64,
    pub byte: u64,
    pub column: Option<&'a str>,
    pub value: Option<&'a [u8]>,
    pub cause: &'a str,
    pub record: &'a [u8],
    /// The bytes of a record that is no text, as they are in the file.
    pub bytes: Option<&'a [u8]>,
}

impl Dirt {
    pub(crate) fn new(host: HostRef, file: &str, entry: Option<String>, lines_before: u64) -> Dirt {
        Dirt { host, file: file.to_owned(), entry, lines_before }
    }

    /// The file and, in a zip file, the entry: for messages.
    pub(crate) fn name(&self) -> String {
        match &self.entry {
            Some(entry) => format!("{} ({entry})", self.file),
            None => self.file.clone(),
        }
    }

    /// Hands a record to the engine.
    pub(crate) fn report(&self, broken: &Broken<'_>) -> Result<()> {
        let mut place = json!({"file": self.file, "line": broken.line, "byte": broken.byte});
        if let Some(entry) = &self.entry {
            place["entry"] = json!(entry);
        }
        if let Some(bytes) = broken.bytes {
            place["record_hex"] = json!(hex(&bytes[..bytes.len().min(SHOWN)]));
        }
        let value = broken.value.map(|value| String::from_utf8_lossy(&value[..value.len().min(SHOWN)]));
        let record = json!(String::from_utf8_lossy(&broken.record[..broken.record.len().min(SHOWN)]));
        self.host.dirty(&DirtyRecord {
            position: Some(self.lines_before + broken.line),
            column: broken.column,
            value: value.as_deref(),
            cause: broken.cause,
            record: Some(&record.to_string()),
            place: Some(&place.to_string()),
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
