//! What the server says of a column of a result.

use serde::{Deserialize, Serialize};

/// A column of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The number of its type in the protocol.
    pub(crate) kind: u8,
    pub(crate) charset: u16,
    /// The longest value, in bytes or digits.
    pub(crate) length: u32,
    pub(crate) flags: u16,
    pub(crate) decimals: u8,
    /// What MariaDB calls the type, where MySQL has none like it: `uuid`, `inet6`.
    pub(crate) extended: Option<String>,
    /// How MariaDB says that the text has a form: `json`.
    pub(crate) format: Option<String>,
}

/// Numbers of types.
pub(crate) mod kind {
    pub(crate) const DECIMAL: u8 = 0;
    pub(crate) const TINY: u8 = 1;
    pub(crate) const SHORT: u8 = 2;
    pub(crate) const LONG: u8 = 3;
    pub(crate) const FLOAT: u8 = 4;
    pub(crate) const DOUBLE: u8 = 5;
    pub(crate) const NULL: u8 = 6;
    pub(crate) const TIMESTAMP: u8 = 7;
    pub(crate) const LONGLONG: u8 = 8;
    pub(crate) const INT24: u8 = 9;
    pub(crate) const DATE: u8 = 10;
    pub(crate) const TIME: u8 = 11;
    pub(crate) const DATETIME: u8 = 12;
    pub(crate) const YEAR: u8 = 13;
    pub(crate) const NEW_DATE: u8 = 14;
    pub(crate) const BIT: u8 = 16;
    pub(crate) const JSON: u8 = 245;
    pub(crate) const NEW_DECIMAL: u8 = 246;
    pub(crate) const GEOMETRY: u8 = 255;
}

const UNSIGNED: u16 = 32;
const ENUM: u16 = 256;
const SET: u16 = 2048;
/// The character set of what is no text.
const BINARY: u16 = 63;

impl Column {
    /// Reads a description; `None` if it is malformed.
    pub(super) fn parse(packet: &[u8], extended: bool) -> Option<Column> {
        let mut rest = packet;
        for _ in ["catalog", "schema", "table", "original table"] {
            take_text(&mut rest)?;
        }
        let name = String::from_utf8_lossy(take_text(&mut rest)?).into_owned();
        take_text(&mut rest)?;
        let mut column = Column { name, ..Column::default() };
        if extended {
            let mut more = take_text(&mut rest)?;
            while let Some((which, behind)) = more.split_first() {
                more = behind;
                let text = String::from_utf8_lossy(take_text(&mut more)?).into_owned();
                match which {
                    0 => column.extended = Some(text),
                    1 => column.format = Some(text),
                    _ => {}
                }
            }
        }
        let fixed = rest.get(1..11)?;
        column.charset = u16::from_le_bytes([fixed[0], fixed[1]]);
        column.length = u32::from_le_bytes([fixed[2], fixed[3], fixed[4], fixed[5]]);
        column.kind = fixed[6];
        column.flags = u16::from_le_bytes([fixed[7], fixed[8]]);
        column.decimals = fixed[9];
        Some(column)
    }

    pub(crate) fn is_unsigned(&self) -> bool {
        self.flags & UNSIGNED != 0
    }

    pub(crate) fn is_enum_or_set(&self) -> bool {
        self.flags & (ENUM | SET) != 0
    }

    /// Whether its values are bytes that mean no text.
    pub(crate) fn is_binary(&self) -> bool {
        self.charset == BINARY
    }
}

/// A number of one to nine bytes; `None` where they end too early.
#[inline]
pub(crate) fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    let (first, rest) = bytes.split_first()?;
    let width = match first {
        0..=250 => {
            *bytes = rest;
            return Some(*first as usize);
        }
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        _ => return None,
    };
    let (number, rest) = rest.split_at_checked(width)?;
    *bytes = rest;
    let mut all = [0; 8];
    all[..width].copy_from_slice(number);
    usize::try_from(u64::from_le_bytes(all)).ok()
}

/// Bytes behind their number.
#[inline]
pub(crate) fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_length(bytes)?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(text)
}
