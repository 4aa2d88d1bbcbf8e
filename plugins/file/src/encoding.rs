//! Text encodings: their names, their bytes to UTF-8 and back. What cannot be converted is told, never replaced.
//! Not here: reading and writing files (`source`, `output`).

use encoding_rs::{BIG5, DecoderResult, EncoderResult, GBK, UTF_16BE, UTF_16LE};

/// How text is written in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// Each byte is the character with that number. (The web's tables, and so the library's, take it for windows-1252.)
    Latin1,
    Ascii,
    Utf16(ByteOrder),
    Other(&'static encoding_rs::Encoding),
}

/// Which byte of a pair comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Big,
    Little,
    /// The one that the byte-order mark tells, the big end first where there is none.
    Marked,
}

/// A byte that no UTF-8 text contains: it stands for bytes that could not be decoded, so that the record they are in is
/// found to be no text and becomes dirty.
pub(crate) const UNDECODABLE: u8 = 0xff;

impl Encoding {
    /// The encoding with this name: those of the WHATWG standard and Java's common ones, in any case.
    pub(crate) fn from_name(name: &str) -> Option<Encoding> {
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
            "cp936" | "ms936" => Encoding::Other(GBK),
            "cp950" | "ms950" => Encoding::Other(BIG5),
            other => {
                let found = encoding_rs::Encoding::for_label_no_replacement(other.as_bytes())?;
                match found {
                    found if found == encoding_rs::UTF_8 => Encoding::Utf8,
                    found if found == UTF_16BE => Encoding::Utf16(ByteOrder::Big),
                    found if found == UTF_16LE => Encoding::Utf16(ByteOrder::Little),
                    found => Encoding::Other(found),
                }
            }
        })
    }

    /// Its name, for messages.
    pub(crate) fn name(self) -> &'static str {
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
    pub(crate) fn mark(self) -> &'static [u8] {
        match self {
            Encoding::Utf16(ByteOrder::Marked) => &[0xfe, 0xff],
            _ => &[],
        }
    }

    /// Appends the bytes of a text.
    ///
    /// # Errors
    /// The first character that the encoding lacks.
    pub(crate) fn encode(self, text: &str, bytes: &mut Vec<u8>) -> Result<(), char> {
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

    /// How many bytes a text has in this encoding; a mark for undecodable bytes counts as one.
    pub(crate) fn encoded_length(self, text: &[u8]) -> u64 {
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

/// Turns the bytes of one file into UTF-8, piece by piece.
pub(crate) struct Decoder {
    inner: Inner,
}

enum Inner {
    Latin1,
    Ascii,
    Table(Box<encoding_rs::Decoder>),
}

/// Why [`Decoder::decode`] stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// All input is used up, but for what the decoder remembers.
    InputEmpty,
    OutputFull,
    /// Bytes that mean nothing were passed over.
    Malformed,
}

impl Decoder {
    /// A decoder for a file that begins with these bytes; `None` for UTF-8, which needs none.
    pub(crate) fn new(encoding: Encoding, head: &[u8]) -> Option<Decoder> {
        let table = match encoding {
            Encoding::Utf8 => return None,
            Encoding::Latin1 => return Some(Decoder { inner: Inner::Latin1 }),
            Encoding::Ascii => return Some(Decoder { inner: Inner::Ascii }),
            Encoding::Utf16(ByteOrder::Big) => UTF_16BE,
            Encoding::Utf16(ByteOrder::Little) => UTF_16LE,
            Encoding::Utf16(ByteOrder::Marked) => {
                if head.starts_with(&[0xff, 0xfe]) {
                    UTF_16LE
                } else {
                    UTF_16BE
                }
            }
            Encoding::Other(encoding) => encoding,
        };
        Some(Decoder { inner: Inner::Table(Box::new(table.new_decoder_without_bom_handling())) })
    }

    /// Decodes as much as fits: why it stopped, how many bytes it read and how many it wrote. `output` needs room for
    /// at least four bytes.
    pub(crate) fn decode(&mut self, input: &[u8], output: &mut [u8], last: bool) -> (Stopped, usize, usize) {
        match &mut self.inner {
            Inner::Latin1 => {
                let (read, written) = encoding_rs::mem::convert_latin1_to_utf8_partial(input, output);
                (if read == input.len() { Stopped::InputEmpty } else { Stopped::OutputFull }, read, written)
            }
            Inner::Ascii => {
                let room = input.len().min(output.len());
                let good = encoding_rs::Encoding::ascii_valid_up_to(&input[..room]);
                output[..good].copy_from_slice(&input[..good]);
                match good {
                    good if good < room => (Stopped::Malformed, good + 1, good),
                    good if good == input.len() => (Stopped::InputEmpty, good, good),
                    good => (Stopped::OutputFull, good, good),
                }
            }
            Inner::Table(decoder) => {
                let (result, read, written) = decoder.decode_to_utf8_without_replacement(input, output, last);
                let stopped = match result {
                    DecoderResult::InputEmpty => Stopped::InputEmpty,
                    DecoderResult::OutputFull => Stopped::OutputFull,
                    DecoderResult::Malformed(..) => Stopped::Malformed,
                };
                (stopped, read, written)
            }
        }
    }
}
