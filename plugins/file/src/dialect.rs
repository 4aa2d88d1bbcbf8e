//! What a CSV dialect is: how records and fields end, and how a field may contain what ends them.
//! Not here: cutting text into fields (`csv`), finding borders in a large file (`split`), writing (`format`).

/// How records and fields are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// What stands between two fields, in UTF-8; never empty.
    pub delimiter: Vec<u8>,
    /// What encloses a field that contains delimiters or line ends; `None`: nothing does.
    pub qualifier: Option<u8>,
    /// How the qualifier is written inside a qualified field.
    pub escape: Escape,
    /// What ends a record.
    pub terminator: Terminator,
    /// Whether blanks around a field that is not qualified are dropped.
    pub trim: bool,
    /// A record that begins with it is a comment.
    pub comment: Option<u8>,
    /// Whether a line without any character is no record.
    pub skip_empty: bool,
    /// A field of more characters than this is an error in its record.
    pub longest_field: Option<usize>,
}

/// How a qualifier is written inside a qualified field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// Twice.
    Doubled,
    /// After a backslash, which also introduces `\n`, `\t`, `\u0041` and the like. Where there is no qualifier, a
    /// backslash does the same in every field.
    Backslash,
}

/// What ends a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Terminator {
    /// `\n`, `\r` or `\r\n`.
    Line,
    /// This byte only.
    Byte(u8),
}

impl Default for Dialect {
    fn default() -> Dialect {
        Dialect {
            delimiter: vec![b','],
            qualifier: Some(b'"'),
            escape: Escape::Doubled,
            terminator: Terminator::Line,
            trim: true,
            comment: None,
            skip_empty: true,
            longest_field: None,
        }
    }
}

impl Dialect {
    /// The delimiter, where it is a single byte.
    pub(crate) fn single_delimiter(&self) -> Option<u8> {
        match self.delimiter[..] {
            [byte] => Some(byte),
            _ => None,
        }
    }

    /// Whether the CSV library knows this dialect: a delimiter of one byte, qualifiers doubled.
    pub(crate) fn is_standard(&self) -> bool {
        self.single_delimiter().is_some() && self.escape == Escape::Doubled
    }

    /// Whether this byte ends a record.
    pub(crate) fn ends_record(&self, byte: u8) -> bool {
        match self.terminator {
            Terminator::Line => byte == b'\n' || byte == b'\r',
            Terminator::Byte(terminator) => byte == terminator,
        }
    }
}

/// Whether a byte is a blank that trimming drops.
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}
