//! A range of keys: the condition that its rows meet, and what people call it.

use serde::{Deserialize, Serialize};

use super::Key;
use crate::dialect::Dialect;

/// The values of a key where one range ends and the next begins, as the database told them.
pub type Bound = Vec<String>;

/// Rows of one table that are read together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Range {
    /// All rows.
    Whole,
    /// Rows whose key is not before one bound, and before the other.
    Keys {
        /// What is compared.
        key: Key,
        /// `None`: from the first key on.
        from: Option<Bound>,
        /// `None`: to the last key.
        below: Option<Bound>,
    },
    /// Rows in whose key is a NULL.
    Nulls {
        /// What is NULL.
        key: Key,
    },
}

/// The ranges between these bounds, which the database has put in order. Without any, the whole table.
pub fn between(key: &Key, bounds: Vec<Bound>) -> Vec<Range> {
    if bounds.is_empty() {
        return vec![Range::Whole];
    }
    let ends = bounds.iter().cloned().map(Some).chain([None]);
    let starts = std::iter::once(None).chain(bounds.iter().cloned().map(Some));
    let mut ranges: Vec<_> =
        starts.zip(ends).map(|(from, below)| Range::Keys { key: key.clone(), from, below }).collect();
    if key.parts.iter().any(|part| part.nullable) {
        ranges.push(Range::Nulls { key: key.clone() });
    }
    ranges
}

impl Range {
    /// The condition that its rows meet; `None` for the whole table.
    pub fn condition(&self, dialect: &dyn Dialect) -> Option<String> {
        match self {
            Range::Whole => None,
            Range::Nulls { key } => {
                let nullable = key.parts.iter().filter(|part| part.nullable);
                let nulls: Vec<_> = nullable.map(|part| format!("{} IS NULL", part.sql)).collect();
                Some(if nulls.len() > 1 { format!("({})", nulls.join(" OR ")) } else { nulls.concat() })
            }
            Range::Keys { key, from, below } => {
                let from = from.as_ref().map(|bound| compared(key, bound, Side::NotBefore, dialect));
                let below = below.as_ref().map(|bound| compared(key, bound, Side::Before, dialect));
                let mut conditions: Vec<_> = from.into_iter().chain(below).collect();
                // Of a key of several columns, one can be NULL and the comparison still be decided by those before it.
                if key.parts.len() > 1 || conditions.is_empty() {
                    conditions.extend(key.not_null());
                }
                (!conditions.is_empty()).then(|| conditions.join(" AND "))
            }
        }
    }

    /// What a person calls it, behind the table's name: `, id from 100 below 200`. Values are cut at so many characters.
    pub fn label(&self, longest: usize) -> String {
        let names = |key: &Key| {
            let names: Vec<_> = key.parts.iter().map(|part| part.name.as_str()).collect();
            if names.len() > 1 { format!("({})", names.join(", ")) } else { names.concat() }
        };
        let shown = |bound: &Bound| {
            let values: Vec<String> = bound.iter().map(|value| value.chars().take(longest).collect()).collect();
            if values.len() > 1 { format!("({})", values.join(", ")) } else { values.concat() }
        };
        match self {
            Range::Whole => String::new(),
            Range::Nulls { key } => format!(", {} is NULL", names(key)),
            Range::Keys { key, from, below } => {
                let from = from.as_ref().map(|bound| format!(" from {}", shown(bound))).unwrap_or_default();
                let below = below.as_ref().map(|bound| format!(" below {}", shown(bound))).unwrap_or_default();
                format!(", {}{from}{below}", names(key))
            }
        }
    }
}

/// On which side of a bound a row lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    NotBefore,
    Behind,
}

impl Side {
    fn sign(self) -> &'static str {
        match self {
            Side::Before => "<",
            Side::NotBefore => ">=",
            Side::Behind => ">",
        }
    }
}

/// The condition that a key lies behind a bound, so not equal to it.
pub(super) fn behind(key: &Key, bound: &Bound, dialect: &dyn Dialect) -> String {
    compared(key, bound, Side::Behind, dialect)
}

fn compared(key: &Key, bound: &Bound, side: Side, dialect: &dyn Dialect) -> String {
    let parts: Vec<_> = key.parts.iter().zip(bound).collect();
    let parts: Vec<_> =
        parts.into_iter().map(|(part, value)| (part.sql.as_str(), dialect.key_literal(value, part.kind))).collect();
    match parts.as_slice() {
        [(column, value)] => format!("{column} {} {value}", side.sign()),
        parts if dialect.compares_rows() => {
            let columns: Vec<_> = parts.iter().map(|(column, _)| *column).collect();
            let values: Vec<_> = parts.iter().map(|(_, value)| value.as_str()).collect();
            format!("({}) {} ({})", columns.join(", "), side.sign(), values.join(", "))
        }
        parts => written_out(parts, side),
    }
}

/// A comparison of rows column by column: `a >= 1 AND (a > 1 OR b >= 2)`. The first condition is one that an index serves.
fn written_out(parts: &[(&str, String)], side: Side) -> String {
    let Some(((column, value), rest)) = parts.split_first() else { return "1 = 1".into() };
    if rest.is_empty() {
        return format!("{column} {} {value}", side.sign());
    }
    let strict = if side == Side::Before { "<" } else { ">" };
    let rest = written_out(rest, side);
    format!("{column} {strict}= {value} AND ({column} {strict} {value} OR {rest})")
}
