//! The brackets around the cursor, and which of them somebody forgot to close.

use super::Broken;
use super::blanks::{is_blank, is_line_break};
use super::cursor::Cursor;

/// How deep lists and objects may lie inside each other: far more than any job has, far less than a stack holds.
pub(super) const DEEPEST: usize = 100;

/// The brackets around the cursor.
pub(super) struct Brackets<'a> {
    text: &'a str,
    open: Vec<Open<'a>>,
    /// The first one that a bracket closed which stands further to the left than the line where it was opened.
    suspect: Option<Suspect>,
}

/// A bracket that is not closed yet.
struct Open<'a> {
    at: usize,
    bracket: char,
    step: Step<'a>,
}

/// How a value is reached from the one around it.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Root,
    Key(&'a str),
    Item(usize),
}

/// A bracket that may be the one that was forgotten.
#[derive(Clone)]
struct Suspect {
    at: usize,
    bracket: char,
    path: String,
}

impl<'a> Brackets<'a> {
    pub(super) fn new(text: &'a str) -> Brackets<'a> {
        Brackets { text, open: Vec::new(), suspect: None }
    }

    /// Goes into the bracket here.
    pub(super) fn open(&mut self, cursor: &mut Cursor<'a>, bracket: char, step: Step<'a>) -> Result<(), Broken> {
        let at = cursor.at();
        if self.open.len() == DEEPEST {
            let message = format!("lists and objects lie more than {DEEPEST} deep inside each other here");
            return Err(Broken::new(at, message));
        }
        cursor.eat(bracket);
        self.open.push(Open { at, bracket, step });
        Ok(())
    }

    /// Goes out of the innermost bracket, if it is closed here.
    pub(super) fn close(&mut self, cursor: &mut Cursor<'a>) -> bool {
        let at = cursor.at();
        let Some(open) = self.open.last().map(|open| open.at) else { return false };
        let closes = cursor.eat(self.closing());
        if closes {
            if self.suspect.is_none() && self.stands_too_far_left(open, at) {
                self.suspect = self.innermost();
            }
            self.open.pop();
        }
        closes
    }

    /// What closes the innermost bracket.
    pub(super) fn closing(&self) -> char {
        match self.open.last() {
            Some(open) if open.bracket == '[' => ']',
            _ => '}',
        }
    }

    /// The innermost bracket.
    pub(super) fn opening(&self) -> Option<char> {
        self.open.last().map(|open| open.bracket)
    }

    /// That the text ends too early. What was not closed helps more than the end itself.
    pub(super) fn never_closed(&self, end: usize, expected: &str) -> Broken {
        match self.forgotten() {
            None => Broken::new(end, format!("expected {expected}, found the end of the text")),
            Some((Suspect { at, bracket, .. }, how_sure)) => {
                let message = format!(
                    "the `{bracket}` that opens here is never closed{how_sure}: the text ends where {expected} was expected"
                );
                Broken::new(at, message)
            }
        }
    }

    /// Which bracket should be closed before another kind of bracket is, as the end of a message.
    pub(super) fn not_closed_yet(&self) -> String {
        match self.forgotten() {
            None => ": there is one closing bracket too many".into(),
            Some((Suspect { bracket, path, .. }, how_sure)) if path.is_empty() => {
                format!(": the first `{bracket}` of the text is not closed yet{how_sure}")
            }
            Some((Suspect { bracket, path, .. }, how_sure)) => {
                format!(": the `{bracket}` of {path} is not closed yet{how_sure}")
            }
        }
    }

    /// The bracket that was probably forgotten, and on what grounds. As a person would, the indentation is looked at first.
    fn forgotten(&self) -> Option<(Suspect, &'static str)> {
        let innermost = self.innermost()?;
        Some(match self.suspect.clone() {
            Some(suspect) => (suspect, ", to judge by the indentation"),
            None => (innermost, ""),
        })
    }

    fn innermost(&self) -> Option<Suspect> {
        let Open { at, bracket, .. } = *self.open.last()?;
        let mut path = String::new();
        for open in &self.open {
            match open.step {
                Step::Root => {}
                Step::Key(key) if path.is_empty() => path.push_str(key),
                Step::Key(key) => path.extend([".", key]),
                Step::Item(index) => path.push_str(&format!("[{index}]")),
            }
        }
        Some(Suspect { at, bracket, path })
    }

    /// Whether what closes here is the first on its line, and less indented than the line that it was opened in.
    fn stands_too_far_left(&self, open: usize, close: usize) -> bool {
        let before = &self.text[..close];
        let line = before.trim_end_matches(|letter| is_blank(letter) && !is_line_break(letter));
        if !line.ends_with(is_line_break) || line.len() <= open {
            return false;
        }
        let indentation = &before[line.len()..];
        let opening_line = &self.text[self.text[..open].rfind(is_line_break).map_or(0, |end| end + 1)..open];
        opening_line.strip_prefix(indentation).is_some_and(|rest| rest.starts_with([' ', '\t']))
    }
}
