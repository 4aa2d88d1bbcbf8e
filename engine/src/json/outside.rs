//! `${env:NAME}` and `${file:PATH}`: values that stand outside of the job file, and are secrets where they stand in quotes.

use serde_json::Value;

use super::advice::UNSET;
use super::cursor::Cursor;
use super::grammar::Parser;
use super::{Broken, Origin, blanks, numbers, words};

/// The two kinds of references, as they open.
#[derive(Clone, Copy)]
enum Kind {
    Environment,
    File,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::Environment, Kind::File];

    fn opens_with(self) -> &'static str {
        match self {
            Kind::Environment => "${env:",
            Kind::File => "${file:",
        }
    }

    fn form(self) -> &'static str {
        match self {
            Kind::Environment => "${env:NAME}",
            Kind::File => "${file:PATH}",
        }
    }
}

/// Whether a reference begins here.
pub(super) fn begins(cursor: Cursor<'_>) -> bool {
    Kind::ALL.iter().any(|kind| cursor.rest().starts_with(kind.opens_with()))
}

impl Parser<'_, '_> {
    /// The text that a reference stands for, if one stands here, inside a string that this quote ends.
    pub(super) fn reference_in_string(&mut self, quote: char) -> Result<Option<String>, Broken> {
        self.reference(Some(quote))
    }

    /// The value that a reference without quotes stands for.
    pub(super) fn reference_as_value(&mut self) -> Result<Value, Broken> {
        let at = self.cursor.at();
        let Some(text) = self.reference(None)? else { return Err(Broken::new(at, UNSET)) };
        let value = plain_value(text.trim()).ok_or_else(|| {
            let message = "what was fetched here is neither a number nor true, false or null: \
                           put double quotes around ${…}";
            Broken::new(at, message)
        })?;
        if self.cursor.peek().is_some_and(words::is_word) {
            return Err(self.unexpected("a comma or the end after the value that is fetched"));
        }
        Ok(value)
    }

    fn reference(&mut self, quote: Option<char>) -> Result<Option<String>, Broken> {
        let at = self.cursor.at();
        let Some(kind) = Kind::ALL.into_iter().find(|kind| self.cursor.eat_text(kind.opens_with())) else {
            return Ok(None);
        };
        let name = self.reference_name(at, kind, quote)?;
        let origin = match kind {
            Kind::Environment => Origin::Environment(&name),
            Kind::File => Origin::File(&name),
        };
        let text = (self.fetch)(origin).map_err(|message| Broken::new(at, message))?;
        // Without quotes stands a number such as a count of records, which masked would spoil every figure.
        if quote.is_some() {
            self.secrets.push(text.clone());
        }
        Ok(Some(text))
    }

    /// What stands between the colon and the closing brace. Inside a string it has the escapes of a string.
    fn reference_name(&mut self, at: usize, kind: Kind, quote: Option<char>) -> Result<String, Broken> {
        let mut name = String::new();
        loop {
            let escape_at = self.cursor.at();
            match self.cursor.next() {
                Some('}') if name.is_empty() => {
                    return Err(Broken::new(at, format!("nothing is named here: write {}", kind.form())));
                }
                Some('}') => return Ok(name),
                Some('\\') if quote.is_some() && self.cursor.peek().is_some() => name.push(self.escape(escape_at)?),
                Some(letter) if Some(letter) != quote && !blanks::is_line_break(letter) => name.push(letter),
                _ => {
                    let message =
                        format!("the `{}` that opens here is never closed: write {}", kind.opens_with(), kind.form());
                    return Err(Broken::new(at, message));
                }
            }
        }
    }
}

/// A text that is a number, true, false or null and nothing else.
fn plain_value(text: &str) -> Option<Value> {
    match text {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        "null" => Some(Value::Null),
        _ => {
            let mut cursor = Cursor::new(text);
            let number = numbers::number(&mut cursor).ok()?;
            cursor.peek().is_none().then_some(Value::Number(number))
        }
    }
}
