//! Words without quotes: true, false and null, and what to write in the place of every other one.

use serde_json::Value;

use super::Broken;
use super::advice::{QUOTE_IT, UNSET};
use super::grammar::Parser;

impl Parser<'_, '_> {
    /// true, false or null.
    pub(super) fn word(&mut self) -> Result<Value, Broken> {
        let start = self.cursor.at();
        let word = self.cursor.take_while(is_word);
        match word {
            "true" => return Ok(Value::Bool(true)),
            "false" => return Ok(Value::Bool(false)),
            "null" => return Ok(Value::Null),
            _ => {}
        }
        if let Some(variable) = word.find('$') {
            return Err(Broken::new(start + variable, UNSET));
        }
        Err(Broken::new(start, refusal(word)))
    }
}

/// Whether a word without quotes, such as a key, may hold this character.
pub(super) fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$' | '-' | '.')
}

/// Why a word is no value. It shows only words that are known: another may be a password.
pub(super) fn refusal(word: &str) -> String {
    let instead = match word.trim_start_matches(['+', '-']).to_ascii_lowercase().as_str() {
        "true" => "write true, in lower case",
        "false" => "write false, in lower case",
        "null" => "write null, in lower case",
        "none" | "nil" | "undefined" => "write null, or leave the key out",
        "nan" | "infinity" | "inf" => "JSON has no such number: write it in double quotes, or null",
        "yes" | "on" => "write true, or put it in double quotes if it is a text",
        "no" | "off" => "write false, or put it in double quotes if it is a text",
        _ => {
            let first = word.chars().next().unwrap_or_default();
            return format!("expected a value, found a word without quotes that begins with `{first}`: {QUOTE_IT}");
        }
    };
    format!("{word} is no value: {instead}")
}
