//! Bytes as text and text as bytes: base64 (RFC 4648, with padding), hexadecimal digits, or as the characters that they encode.

use transship_plugin_api::{Encoding, Params, Result};

use crate::types::Cause;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// How bytes stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteForm {
    /// As the text that they are in this encoding.
    Text(Encoding),
    Base64,
    /// Two digits each.
    Hexadecimal,
    /// The same with `\x` before them, as PostgreSQL has it.
    Postgres,
}

impl Default for ByteForm {
    fn default() -> ByteForm {
        ByteForm::Text(Encoding::Utf8)
    }
}

impl ByteForm {
    /// What `byteEncoding` says; where it says nothing, bytes are text in this encoding.
    pub(crate) fn read(params: &Params<'_>, encoding: Encoding) -> Result<ByteForm> {
        Ok(match params.text("byteEncoding")?.as_deref().map(str::trim) {
            None | Some("") => ByteForm::Text(encoding),
            Some(word) if word.eq_ignore_ascii_case("base64") => ByteForm::Base64,
            Some(word) if word.eq_ignore_ascii_case("hex") => ByteForm::Hexadecimal,
            Some(word) if word.eq_ignore_ascii_case("postgres") => ByteForm::Postgres,
            Some(other) => {
                let problem = format_args!("is \"{other}\", but must be \"base64\", \"hex\" or \"postgres\"");
                return Err(params.error("byteEncoding", problem));
            }
        })
    }

    /// Appends bytes; `false`, and nothing is appended, where they are no text in the encoding.
    pub(crate) fn write(self, bytes: &[u8], out: &mut String) -> bool {
        match self {
            ByteForm::Text(encoding) => match encoding.decode(bytes) {
                Some(text) => out.push_str(&text),
                None => return false,
            },
            ByteForm::Base64 => write_base64(bytes, out),
            ByteForm::Hexadecimal => write_hexadecimal(bytes, out),
            ByteForm::Postgres => {
                out.push_str("\\x");
                write_hexadecimal(bytes, out);
            }
        }
        true
    }

    /// Appends the bytes that a text stands for.
    ///
    /// # Errors
    /// Where it stands for none. What has been appended then is rubbish.
    pub(crate) fn parse(self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Cause> {
        match self {
            ByteForm::Text(Encoding::Utf8) => out.extend_from_slice(text),
            ByteForm::Text(encoding) => {
                // Fields have been found to be text by now.
                let encoded = encoding.encode(&String::from_utf8_lossy(text), out);
                encoded.map_err(|letter| format!("has {letter:?}, a character that {} lacks", encoding.name()))?;
            }
            ByteForm::Base64 => {
                parse_base64(text, out).ok_or("is not base64, which byteEncoding says that bytes are")?
            }
            ByteForm::Hexadecimal | ByteForm::Postgres => {
                let digits = text.strip_prefix(b"\\x").unwrap_or(text);
                parse_hexadecimal(digits, out)
                    .ok_or("is not hexadecimal digits, which byteEncoding says that bytes are")?;
            }
        }
        Ok(())
    }
}

fn write_base64(bytes: &[u8], out: &mut String) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
}

/// Padding has to be there, and the bits that it leaves over have to be zero: a text that was cut is no other bytes.
fn parse_base64(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    out.reserve(text.len() / 4 * 3);
    for four in text[..text.len() - padding].chunks(4) {
        let bits = four.iter().try_fold(0u32, |bits, letter| Some(bits << 6 | sextet(*letter)?))?;
        let bits = bits << (6 * (4 - four.len()));
        let [_, bytes @ ..] = bits.to_be_bytes();
        let (kept, rest) = bytes.split_at(four.len() - 1);
        if rest.iter().any(|byte| *byte != 0) {
            return None;
        }
        out.extend_from_slice(kept);
    }
    Some(())
}

fn sextet(letter: u8) -> Option<u32> {
    let number = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(number))
}

fn write_hexadecimal(bytes: &[u8], out: &mut String) {
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

fn parse_hexadecimal(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (pairs, rest) = text.as_chunks::<2>();
    out.reserve(pairs.len());
    for [high, low] in pairs {
        let digit = |letter: u8| char::from(letter).to_digit(16).map(|digit| digit as u8);
        out.push(digit(*high)? << 4 | digit(*low)?);
    }
    rest.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(form: ByteForm, text: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        form.parse(text.as_bytes(), &mut bytes).ok().map(|()| bytes)
    }

    #[test]
    fn all_bytes_come_back_in_each_form() {
        let all: Vec<u8> = (0..=255).collect();
        for form in [ByteForm::Base64, ByteForm::Hexadecimal, ByteForm::Postgres] {
            for bytes in (0..5).map(|length| &all[251..251 + length]).chain([&all[..]]) {
                let mut text = String::new();
                assert!(form.write(bytes, &mut text));
                assert_eq!(parsed(form, &text).as_deref(), Some(bytes), "{text}");
            }
        }
        let mut text = String::new();
        assert!(!ByteForm::default().write(&all, &mut text) && text.is_empty());
        assert_eq!(parsed(ByteForm::default(), "é"), Some("é".into()));
    }

    #[test]
    fn what_is_damaged_is_no_bytes() {
        for text in ["Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Z m8", "Zm8=Zg==", "Zm9v\n"] {
            assert_eq!(parsed(ByteForm::Base64, text), None, "{text:?}");
        }
        for text in ["0", "0g", "\\x0", "0x00", "+1"] {
            assert_eq!(parsed(ByteForm::Hexadecimal, text), None, "{text:?}");
        }
        assert_eq!(parsed(ByteForm::Hexadecimal, "\\x00Ff"), Some(vec![0, 255]));
    }
}
