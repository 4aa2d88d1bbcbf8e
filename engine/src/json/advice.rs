//! What stands in a place where something else was expected, in words, and what to write instead.

use super::cursor::Cursor;
use super::grammar::Parser;
use super::words::is_word;
use super::{Broken, numbers, outside};

/// How the message about a variable begins that nobody has set. Whoever set the variables knows the rest.
pub const UNSET: &str = "a variable that is not set stands here";

pub(super) const KEY: &str = "a key in double quotes or `}`";

pub(super) const COLON: &str = "a colon after the key";

pub(super) const END: &str = "the end of the text";

pub(super) const QUOTE_IT: &str = "a text must stand in double quotes";

impl Parser<'_, '_> {
    /// That something else stands here than what is expected.
    pub(super) fn unexpected(&self, expected: &str) -> Broken {
        self.unexpected_with(expected, "")
    }

    /// The same, with an advice for where what stands here has none.
    pub(super) fn unexpected_with(&self, expected: &str, advice: &str) -> Broken {
        let at = self.cursor.at();
        let Some(letter) = self.cursor.peek() else { return self.brackets.never_closed(at, expected) };
        if outside::begins(self.cursor) {
            let message = "what is to be fetched can only stand in the place of a value or inside a string";
            return Broken::new(at, format!("expected {expected}: {message}"));
        }
        if letter == '$' {
            return Broken::new(at, UNSET);
        }
        let instead = self.instead(letter, expected).unwrap_or_else(|| advice.into());
        Broken::new(at, format!("expected {expected}, found {}{instead}", name(letter)))
    }

    /// What to write instead of a character, as the end of a message.
    fn instead(&self, letter: char, expected: &str) -> Option<String> {
        if let Some((ascii, _)) = full_width(letter) {
            return Some(format!(": write `{ascii}`"));
        }
        let advice = match (letter, self.brackets.opening()) {
            (']' | '}', None) | (']', Some('{')) | ('}', Some('[')) => return Some(self.brackets.not_closed_yet()),
            (',' | '}', _) if expected == COLON => ": in { } every key has a value; values without keys stand in [ ]",
            (_, _) if expected == COLON => ": write `:` between a key and its value",
            (':', Some('[')) => ": a key and its value must stand in { } inside a list",
            (':', None) => ": a key and its value must stand in { }",
            (_, None) if expected == END => ": a file holds one job; remove what follows its last bracket",
            (',', _) => ": remove the comma, or write what is missing before it",
            (';', _) => ": write `,` between two values",
            ('/', _) => ": a comment begins with // or /*",
            ('\\', _) => ": a backslash can only stand inside quotes",
            ('`', _) => ": write `\"`",
            ('(' | ')', _) => ": lists stand in [ ], objects in { }",
            ('\0', _) => {
                ": the file seems to be in UTF-16; name its encoding with --job-encoding, for instance UTF-16LE"
            }
            _ => return None,
        };
        Some(advice.into())
    }
}

/// What is said of a text that is no JSON at all instead of what is wrong at its first word.
pub(super) fn no_json(start: Cursor<'_>, broken: Broken) -> Broken {
    const FORM: &str = "a job file has the form {\"job\": {\"content\": [{\"reader\": …, \"writer\": …}]}}";
    match start.peek() {
        None if start.at() == 0 => Broken::new(0, format!("the file is empty: {FORM}")),
        None => Broken::new(start.at(), format!("nothing stands in the file but blanks and comments: {FORM}")),
        Some(letter) if letter == '<' || (begins_bare(letter) && !broken.message.starts_with(UNSET)) => {
            let message = format!("a job file is JSON and begins with `{{`, but this one with {}", name(letter));
            Broken::new(start.at(), message)
        }
        Some(_) => broken,
    }
}

/// Whether a word or a number may begin like this.
fn begins_bare(letter: char) -> bool {
    letter != '$' && (is_word(letter) || numbers::may_begin_with(letter))
}

/// A character as a person can see it.
fn name(letter: char) -> String {
    if let Some((_, what)) = full_width(letter) {
        return format!("the full-width {what} `{letter}`");
    }
    match letter {
        '`' => "a backtick".into(),
        '"' | '\'' | '\\' => format!("`{letter}`"),
        letter if letter.is_control() => format!("the control character \\u{:04x}", u32::from(letter)),
        letter => format!("`{}`", letter.escape_debug()),
    }
}

/// The ASCII character that was meant by one of an East Asian or typographic keyboard, and what it is called.
fn full_width(letter: char) -> Option<(char, &'static str)> {
    Some(match letter {
        '，' | '、' => (',', "comma"),
        '：' => (':', "colon"),
        '；' => (',', "semicolon"),
        '＝' => (':', "equals sign"),
        '“' | '”' | '„' | '＂' | '「' | '」' => ('"', "quote"),
        '‘' | '’' | '＇' => ('\'', "quote"),
        '｛' => ('{', "bracket"),
        '｝' => ('}', "bracket"),
        '［' | '【' => ('[', "bracket"),
        '］' | '】' => (']', "bracket"),
        _ => return None,
    })
}
