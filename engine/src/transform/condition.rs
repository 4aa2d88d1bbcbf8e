//! The condition of `dx_filter`: an operator and a value. What it means for a column depends on the column's type (`comparison`).

use transship_plugin_api::Result;

use super::paras::Paras;
use super::pattern::Pattern;

/// An operator and what values are held against.
pub(super) enum Condition {
    /// Greater, less, equal…
    Compare(Operator, String),
    /// The whole text matches a pattern; `not`: it does not.
    Like { pattern: Pattern, not: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
}

/// What stands in the place of the operator.
#[derive(Debug, Clone, Copy)]
enum Word {
    Compare(Operator),
    Like { not: bool },
}

impl Condition {
    /// What the job file says.
    pub(super) fn new(paras: &Paras) -> Result<Condition> {
        let words = [
            ("like", Word::Like { not: false }),
            ("not like", Word::Like { not: true }),
            (">", Word::Compare(Operator::Greater)),
            ("<", Word::Compare(Operator::Less)),
            ("=", Word::Compare(Operator::Equal)),
            ("==", Word::Compare(Operator::Equal)),
            ("!=", Word::Compare(Operator::NotEqual)),
            (">=", Word::Compare(Operator::GreaterOrEqual)),
            ("<=", Word::Compare(Operator::LessOrEqual)),
        ];
        let word = paras.choice(0, &words)?;
        let value = paras.text(1);
        if value.is_empty() {
            return Err(paras.error(1, "is empty, but a value is needed; like with \"^$\" finds empty texts"));
        }
        match word {
            Word::Compare(operator) => Ok(Condition::Compare(operator, value.to_string())),
            Word::Like { not } => {
                let pattern = Pattern::new(value)
                    .map_err(|problem| paras.error(1, format_args!("is {}, {problem}", paras.shown(1))))?;
                Ok(Condition::Like { pattern, not })
            }
        }
    }

    /// Whether records with NULL in the column are dropped. DataX has a rule of its own for each operator.
    pub(super) fn drops_null(&self) -> bool {
        match self {
            Condition::Compare(Operator::Equal, value) => value.eq_ignore_ascii_case("null"),
            Condition::Compare(Operator::NotEqual, value) => !value.eq_ignore_ascii_case("null"),
            Condition::Compare(..) => false,
            Condition::Like { not, .. } => *not,
        }
    }
}
