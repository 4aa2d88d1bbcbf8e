//! Files in other encodings than UTF-8, decoded piece by piece. What cannot be decoded is told, never replaced.
//! Not here: the encodings themselves (plugin-api), reading and writing files (`source`, `output`).

use encoding_rs::{DecoderResult, UTF_16BE, UTF_16LE};
use transship_plugin_api::encoding::ByteOrder;

pub(crate) use transship_plugin_api::Encoding;

/// A byte that no UTF-8 text contains: it stands for bytes that could not be decoded, so that the record they are in is
/// found to be no text and becomes dirty.
pub(crate) const UNDECODABLE: u8 = 0xff;

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
