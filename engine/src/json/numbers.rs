//! Numbers, from the forms that DataX takes to the one form of strict JSON, with the digits kept as they were written.

use serde_json::Number;

use super::Broken;
use super::advice::{QUOTE_IT, UNSET};
use super::cursor::Cursor;
use super::words::{is_word, refusal};

/// Whether a number may begin like this.
pub(super) fn may_begin_with(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, '+' | '-' | '.')
}

/// Reads a number: `+1` is 1, `007` is 7, `.5` is 0.5, `5.` is 5.0, `1L` is 1 and `1D` is 1.0.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Result<Number, Broken> {
    let start = *cursor;
    let negative = cursor.eat('-');
    if !negative {
        cursor.eat('+');
    }
    if is_hexadecimal(cursor) {
        let message = "JSON has no hexadecimal numbers: write the number with decimal digits, or in double quotes";
        return Err(Broken::new(start.at(), message));
    }
    let whole = digits(cursor);
    let has_point = cursor.eat('.');
    let fraction = if has_point { digits(cursor) } else { "" };
    if whole.is_empty() && fraction.is_empty() {
        return Err(no_number(start));
    }
    let mut text = String::from(if negative { "-" } else { "" });
    text.push_str(without_leading_zeros(whole));
    if has_point {
        text.push('.');
        text.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    let exponent = exponent(cursor);
    text.push_str(exponent);
    let is_whole = !has_point && exponent.is_empty();
    if eat_suffix(cursor, is_whole) == Suffix::Double && is_whole {
        text.push_str(".0");
    }
    nothing_follows(cursor)?;
    text.parse().map_err(|_| no_number(start))
}

fn digits<'a>(cursor: &mut Cursor<'a>) -> &'a str {
    cursor.take_while(|letter| letter.is_ascii_digit())
}

fn is_hexadecimal(cursor: &Cursor<'_>) -> bool {
    cursor.rest().starts_with("0x") || cursor.rest().starts_with("0X")
}

fn without_leading_zeros(whole: &str) -> &str {
    match whole.trim_start_matches('0') {
        "" => "0",
        kept => kept,
    }
}

/// `e5`, `E+5`; nothing if no digit follows.
fn exponent<'a>(cursor: &mut Cursor<'a>) -> &'a str {
    let start = *cursor;
    if cursor.eat('e') || cursor.eat('E') {
        if !cursor.eat('+') {
            cursor.eat('-');
        }
        if !digits(cursor).is_empty() {
            return cursor.since(start.at());
        }
    }
    *cursor = start;
    ""
}

#[derive(PartialEq, Eq)]
enum Suffix {
    /// `D` and `F`.
    Double,
    /// `L`, `S` and `B`, or none.
    Other,
}

/// Goes past the letter with which Java says what type a number has, if it is the last of the word.
fn eat_suffix(cursor: &mut Cursor<'_>, is_whole: bool) -> Suffix {
    let mut letters = cursor.rest().chars();
    let suffix = match letters.next() {
        Some('D' | 'F') => Suffix::Double,
        Some('L' | 'S' | 'B') if is_whole => Suffix::Other,
        _ => return Suffix::Other,
    };
    if letters.next().is_some_and(continues) {
        return Suffix::Other;
    }
    cursor.next();
    suffix
}

/// Whether a character would make one word with a number before it.
fn continues(letter: char) -> bool {
    is_word(letter) || matches!(letter, '+' | '%')
}

fn nothing_follows(cursor: &Cursor<'_>) -> Result<(), Broken> {
    match cursor.peek().filter(|letter| continues(*letter)) {
        None => Ok(()),
        Some('$') => Err(Broken::new(cursor.at(), UNSET)),
        Some(letter) => {
            let message = format!("expected the end of the number, found `{letter}`: {QUOTE_IT}");
            Err(Broken::new(cursor.at(), message))
        }
    }
}

/// What begins like a number and is none.
fn no_number(mut start: Cursor<'_>) -> Broken {
    let at = start.at();
    let word = start.take_while(continues);
    if word.chars().all(|letter| matches!(letter, '+' | '-' | '.')) {
        return Broken::new(at, format!("expected a value, found `{word}`: a number needs digits"));
    }
    Broken::new(at, refusal(word))
}
