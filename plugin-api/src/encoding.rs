//! Text encodings: their names, and text to bytes and back. What cannot be converted is told, never replaced.
//! Not here: decoding files piece by piece.

use std::borrow::Cow;

use encoding_rs::{BIG5, EUC_KR, EncoderResult, GBK, UTF_16BE, UTF_16LE};

/// How text is written in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, as all text inside is.
    Utf8,
    /// Each byte is the character with that number. (The web's tables, and so the library's, take it for windows-1252.)
    Latin1,
    /// Bytes below 128.
    Ascii,
    /// Pairs of bytes.
    Utf16(ByteOrder),
    /// Any other that the WHATWG standard has a table for.
    Other(&'static encoding_rs::Encoding),
}

/// Which byte of a pair comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// The one that counts more.
    Big,
    /// The one that counts less.
    Little,
    /// The one that the byte-order mark tells, the big end first where there is none.
    Marked,
}

impl Encoding {
    /// Names to choose from, for messages about one that is unknown.
    pub const SOME_NAMES: &str = "known are UTF-8, UTF-16, GBK, GB18030, Big5, Shift_JIS, EUC-JP, EUC-KR, ISO-8859-1 to -16, \
                                  windows-1250 to -1258, KOI8-R and others of the WHATWG standard";

    /// The encoding with this name: those of the WHATWG standard and Java's common ones, in any case.
    pub fn from_name(name: &str) -> Option<Encoding> {
        let name = name.trim().to_ascii_lowercase();
        Some(match name.as_str() {
            "utf-8" | "utf8" => Encoding::Utf8,
            "iso-8859-1" | "iso8859-1" | "iso8859_1" | "iso_8859-1" | "8859_1" | "latin1" | "latin-1" | "l1" => {
                Encoding::Latin1
            }
            "us-ascii" | "ascii" => Encoding::Ascii,
            "utf-16" | "utf16" | "utf_16" | "unicode" => Encoding::Utf16(ByteOrder::Marked),
            "utf-16be" | "utf_16be" => Encoding::Utf16(ByteOrder::Big),
            "utf-16le" | "utf_16le" => Encoding::Utf16(ByteOrder::Little),
            "cp936" | "ms936" | "x-mswin-936" | "euc_cn" | "euc-cn" => Encoding::Other(GBK),
            "cp949" | "ms949" | "x-windows-949" => Encoding::Other(EUC_KR),
            "cp950" | "ms950" | "x-windows-950" => Encoding::Other(BIG5),
            other => match by_label(other)? {
                found if found == encoding_rs::UTF_8 => Encoding::Utf8,
                found if found == UTF_16BE => Encoding::Utf16(ByteOrder::Big),
                found if found == UTF_16LE => Encoding::Utf16(ByteOrder::Little),
                found => Encoding::Other(found),
            },
        })
    }

    /// Its name, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Latin1 => "ISO-8859-1",
            Encoding::Ascii => "US-ASCII",
            Encoding::Utf16(ByteOrder::Marked) => "UTF-16",
            Encoding::Utf16(ByteOrder::Big) => "UTF-16BE",
            Encoding::Utf16(ByteOrder::Little) => "UTF-16LE",
            Encoding::Other(encoding) => encoding.name(),
        }
    }

    /// What a file in it begins with: the byte-order mark of UTF-16, as Java writes it.
    pub fn mark(self) -> &'static [u8] {
        match self {
            Encoding::Utf16(ByteOrder::Marked) => &[0xfe, 0xff],
            _ => &[],
        }
    }

    /// Appends the bytes of a text.
    ///
    /// # Errors
    /// The first character that the encoding lacks.
    pub fn encode(self, text: &str, bytes: &mut Vec<u8>) -> Result<(), char> {
        match self {
            Encoding::Utf8 => bytes.extend_from_slice(text.as_bytes()),
            Encoding::Latin1 => {
                for character in text.chars() {
                    bytes.push(u8::try_from(u32::from(character)).map_err(|_| character)?);
                }
            }
            Encoding::Ascii => match text.chars().find(|character| !character.is_ascii()) {
                Some(character) => return Err(character),
                None => bytes.extend_from_slice(text.as_bytes()),
            },
            Encoding::Utf16(ByteOrder::Little) => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            Encoding::Utf16(_) => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Encoding::Other(encoding) => encode_by_table(encoding, text, bytes)?,
        }
        Ok(())
    }

    /// The text that bytes are, borrowed where they are that text already; `None` where they are no text in this encoding.
    pub fn decode(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        let table = match self {
            Encoding::Utf8 => return std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Encoding::Latin1 => return Some(encoding_rs::mem::decode_latin1(bytes)),
            Encoding::Ascii if bytes.is_ascii() => return std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Encoding::Ascii => return None,
            Encoding::Utf16(ByteOrder::Little) => UTF_16LE,
            Encoding::Utf16(ByteOrder::Big) => UTF_16BE,
            Encoding::Utf16(ByteOrder::Marked) => match bytes {
                [0xff, 0xfe, rest @ ..] => return UTF_16LE.decode_without_bom_handling_and_without_replacement(rest),
                [0xfe, 0xff, rest @ ..] => return UTF_16BE.decode_without_bom_handling_and_without_replacement(rest),
                _ => UTF_16BE,
            },
            Encoding::Other(table) => table,
        };
        table.decode_without_bom_handling_and_without_replacement(bytes)
    }

    /// How many bytes a text has in this encoding; a mark for undecodable bytes counts as one.
    pub fn encoded_length(self, text: &[u8]) -> u64 {
        let text = String::from_utf8_lossy(text);
        let mut bytes = Vec::with_capacity(text.len());
        match self.encode(&text, &mut bytes) {
            Ok(()) => bytes.len() as u64,
            Err(_) => text
                .chars()
                .map(|character| {
                    bytes.clear();
                    self.encode(character.encode_utf8(&mut [0; 4]), &mut bytes).map_or(1, |()| bytes.len() as u64)
                })
                .sum(),
        }
    }
}

/// The encoding with this label of the WHATWG standard. Java's older names differ from them in a character: `ISO8859_2`,
/// `8859_2`, `EUC_KR`.
fn by_label(name: &str) -> Option<&'static encoding_rs::Encoding> {
    let find = |label: &str| encoding_rs::Encoding::for_label_no_replacement(label.as_bytes());
    let with_hyphens = || name.replace('_', "-");
    let number = || name.strip_prefix("8859_").or_else(|| name.strip_prefix("iso8859_"));
    find(name).or_else(|| find(&with_hyphens())).or_else(|| find(&format!("iso-8859-{}", number()?)))
}

fn encode_by_table(encoding: &'static encoding_rs::Encoding, text: &str, bytes: &mut Vec<u8>) -> Result<(), char> {
    let mut encoder = encoding.new_encoder();
    let mut rest = text;
    loop {
        bytes.reserve(encoder.max_buffer_length_from_utf8_without_replacement(rest.len()).unwrap_or(rest.len() * 4));
        match encoder.encode_from_utf8_to_vec_without_replacement(rest, bytes, true) {
            (EncoderResult::InputEmpty, _) => return Ok(()),
            (EncoderResult::OutputFull, read) => rest = &rest[read..],
            (EncoderResult::Unmappable(character), _) => return Err(character),
        }
    }
}

#[cfg(test)]
mod tests;
