//! What packed files begin with: whether a file is packed, whatever the job says.

use std::io;

/// So many bytes of a file's front are enough to tell.
pub(crate) const HEAD: usize = 10;

/// How a file that begins like this is packed, by the word for it in a job file. The marks are long enough that no text
/// begins with one.
fn packed_with(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x1f, 0x8b, 8, ..] => Some("gzip"),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => Some("bzip2"),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Some("bzip2"),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some("zip"),
        _ => None,
    }
}

/// Refuses a packed file that is to be read as it stands: it would be garbage.
pub(crate) fn refuse_packed(head: &[u8]) -> io::Result<()> {
    match packed_with(head) {
        Some(format) => Err(invalid(format!(
            "is packed with {format}, but is to be read as plain text; set \"compress\" to \"{format}\", or to \
             \"auto\" if the names of packed files say so"
        ))),
        None => Ok(()),
    }
}

/// Refuses a file that is to be unpacked but does not begin as such a file does. One that ends before this can be told
/// is left to whoever unpacks it.
pub(super) fn refuse_unless(format: &str, magic: &[u8], head: &[u8]) -> io::Result<()> {
    if magic.starts_with(&head[..head.len().min(magic.len())]) {
        return Ok(());
    }
    Err(invalid(match packed_with(head) {
        Some(other) => format!("is no {format} file, but is packed with {other}; set \"compress\" to \"{other}\""),
        None => format!("is no {format} file; leave \"compress\" out if it is plain text"),
    }))
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
