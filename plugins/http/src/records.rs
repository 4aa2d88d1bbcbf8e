//! Finds the records in an answer while it comes in, piece by piece: the items of a list somewhere in a JSON text, or the lines
//! of JSON Lines. Only one record is held at a time, and what stands around the list.
//! Not here: what a record means (`types`).

mod scan;

use serde_json::Value;

use scan::Scan;

/// How an answer holds its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// The items of the list to which this JSON pointer leads; an object there is a single record.
    List(Vec<String>),
    /// A JSON text in each line.
    Lines,
}

impl Form {
    /// The list to which a JSON pointer leads.
    pub(crate) fn list(pointer: &str) -> Form {
        let tokens = pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"));
        Form::List(tokens.collect())
    }
}

/// The text of a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Raw {
    /// Empty if it is too long.
    pub(crate) text: Vec<u8>,
    /// Where it begins, in bytes from the beginning of the answer.
    pub(crate) at: u64,
    /// It has more bytes than a record may have.
    pub(crate) is_too_long: bool,
}

/// What is wrong with an answer: continues the sentence "the answer …".
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) problem: String,
    /// It ends too early: asked again, the server may give all of it.
    pub(crate) is_cut: bool,
}

impl Broken {
    fn new(problem: impl Into<String>) -> Broken {
        Broken { problem: problem.into(), is_cut: false }
    }
}

/// An answer as it comes in.
#[derive(Debug)]
pub(crate) enum Records {
    List(Box<Scan>),
    Lines { line: Raw, read: u64, longest: usize },
}

impl Records {
    /// Nothing has come in yet. `longest`: how many bytes a record may have.
    pub(crate) fn new(form: &Form, longest: usize) -> Records {
        match form {
            Form::List(tokens) => Records::List(Box::new(Scan::new(tokens.clone(), longest))),
            Form::Lines => Records::Lines { line: Raw::at(0), read: 0, longest },
        }
    }

    /// Takes the next piece, and appends the records that end in it.
    pub(crate) fn feed(&mut self, piece: &[u8], out: &mut impl Extend<Raw>) -> Result<(), Broken> {
        match self {
            Records::List(scan) => scan.feed(piece, out),
            Records::Lines { line, read, longest } => {
                let mut rest = piece;
                while let Some(end) = memchr::memchr(b'\n', rest) {
                    line.push(&rest[..end], *longest);
                    *read += end as u64 + 1;
                    rest = &rest[end + 1..];
                    let whole = std::mem::replace(line, Raw::at(*read));
                    out.extend((!whole.is_blank()).then_some(whole));
                }
                line.push(rest, *longest);
                *read += rest.len() as u64;
                Ok(())
            }
        }
    }

    /// The end has come: what stood around the list, and a last line without an end.
    pub(crate) fn finish(self, out: &mut impl Extend<Raw>) -> Result<Value, Broken> {
        match self {
            Records::List(scan) => scan.finish(),
            Records::Lines { line, .. } => {
                out.extend((!line.is_blank()).then_some(line));
                Ok(Value::Null)
            }
        }
    }
}

impl Raw {
    fn at(at: u64) -> Raw {
        Raw { text: Vec::new(), at, is_too_long: false }
    }

    fn push(&mut self, bytes: &[u8], longest: usize) {
        if self.is_too_long || self.text.len() + bytes.len() > longest {
            self.is_too_long = true;
            self.text = Vec::new();
        } else {
            self.text.extend_from_slice(bytes);
        }
    }

    fn is_blank(&self) -> bool {
        !self.is_too_long && self.text.iter().all(u8::is_ascii_whitespace)
    }
}
