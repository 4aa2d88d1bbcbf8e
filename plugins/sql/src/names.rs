//! Names of tables and columns: quoting, ranges like `t[0-3]`, and names told from expressions.

mod range;

use crate::dialect::Dialect;

pub use range::expand;

/// One word of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identifier {
    /// The name itself, without quotes.
    pub name: String,
    /// Whether it was written in quotes, so that its case counts everywhere.
    pub quoted: bool,
}

/// A name in these quotes, which are doubled inside.
pub fn quoted(name: &str, quote: char) -> String {
    let doubled = [quote, quote].iter().collect::<String>();
    format!("{quote}{}{quote}", name.replace(quote, &doubled))
}

/// The name in `"a ""b"""`, `` `a` ``, `[a]` or plain `a`.
pub fn unquote(text: &str) -> String {
    let text = text.trim();
    for (open, close) in [('"', '"'), ('`', '`'), ('[', ']')] {
        let inside = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        if let Some(inside) = inside {
            let close = close.to_string();
            return inside.replace(&close.repeat(2), &close);
        }
    }
    text.into()
}

/// The words of `schema.table`, `` `a b`.t `` or `t`; `None` where the text is no name.
pub fn qualified(text: &str, dialect: &dyn Dialect) -> Option<Vec<Identifier>> {
    let mut words = Vec::new();
    let mut rest = text.trim();
    loop {
        let (word, behind) = first_word(rest, dialect)?;
        words.push(word);
        match behind.trim_start() {
            "" => return Some(words),
            behind => rest = behind.strip_prefix('.')?.trim_start(),
        }
    }
}

/// The name of a column, if the entry of `column` is one; `None` for an expression or a constant, which goes into SQL as it
/// is. `table.column` is an expression, too.
pub fn column(entry: &str, dialect: &dyn Dialect) -> Option<Identifier> {
    let mut words = qualified(entry, dialect)?;
    let word = words.pop().filter(|_| words.is_empty())?;
    let is_value = !word.quoted && VALUES.iter().any(|value| value.eq_ignore_ascii_case(&word.name));
    (!is_value).then_some(word)
}

/// Words that stand for values wherever an expression may stand.
const VALUES: [&str; 9] = [
    "null",
    "true",
    "false",
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
    "current_user",
];

/// Whether the text is a literal: a string, a number, or null.
pub fn is_constant(text: &str) -> bool {
    let text = text.trim();
    let is_text = text.len() >= 2
        && text.starts_with('\'')
        && text.ends_with('\'')
        && !text[1..text.len() - 1].replace("''", "").contains('\'');
    is_text || text.eq_ignore_ascii_case("null") || is_number(text)
}

/// Whether the text is a number as every database reads it: `-1`, `.5`, `2e10`.
pub fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let only_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    only_digits(whole)
        && only_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && only_digits(exponent))
}

/// The word that a text begins with, and what follows it.
fn first_word<'a>(text: &'a str, dialect: &dyn Dialect) -> Option<(Identifier, &'a str)> {
    let first = text.chars().next()?;
    if dialect.quotes().contains(&first) {
        let mut name = String::new();
        let mut letters = text.char_indices().skip(1).peekable();
        while let Some((at, letter)) = letters.next() {
            if letter != first {
                name.push(letter);
            } else if letters.peek().is_some_and(|(_, next)| *next == first) {
                name.push(letter);
                letters.next();
            } else {
                return Some((Identifier { name, quoted: true }, &text[at + first.len_utf8()..]));
            }
        }
        return None;
    }
    let end = text.find(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '$'));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    // Only MySQL has names that begin with a digit, and even there they are no numbers.
    let may_begin = !first.is_ascii_digit() || dialect.digits_begin_names();
    let is_name = !name.is_empty() && may_begin && !is_number(name);
    is_name.then(|| (Identifier { name: name.into(), quoted: false }, rest))
}

#[cfg(test)]
mod tests;
