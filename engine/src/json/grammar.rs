//! The grammar: values, lists, and the commas between them.

use serde_json::Value;

use super::advice::{END, no_json};
use super::blanks::{DataxTakes, is_line_break};
use super::brackets::{Brackets, Step};
use super::cursor::Cursor;
use super::words::is_word;
use super::{Broken, Document, Node, NodeKind, Note, Origin, numbers, strings};

/// A text while it is read.
pub(super) struct Parser<'a, 'f> {
    pub(super) cursor: Cursor<'a>,
    pub(super) brackets: Brackets<'a>,
    pub(super) fetch: &'f mut dyn FnMut(Origin<'_>) -> Result<String, String>,
    pub(super) notes: Vec<Note>,
    pub(super) secrets: Vec<String>,
    /// Where the first comment begins that DataX would refuse.
    pub(super) refused_comment: Option<usize>,
}

/// What stands after a value.
#[derive(Clone, Copy)]
pub(super) enum After {
    Comma,
    /// No comma, though the bracket is not closed; the value ends here.
    NoComma(usize),
    /// The bracket that closes.
    Close,
}

impl<'a, 'f> Parser<'a, 'f> {
    pub(super) fn new(text: &'a str, fetch: &'f mut dyn FnMut(Origin<'_>) -> Result<String, String>) -> Parser<'a, 'f> {
        Parser {
            cursor: Cursor::new(text),
            brackets: Brackets::new(text),
            fetch,
            notes: Vec::new(),
            secrets: Vec::new(),
            refused_comment: None,
        }
    }

    /// The whole text.
    pub(super) fn document(mut self) -> Result<Document, Broken> {
        self.blanks(DataxTakes::OneLine)?;
        let start = self.cursor;
        let root = self.whole_value().map_err(|broken| no_json(start, broken))?;
        self.note_refused_comment();
        self.notes.sort_by_key(|note| note.at);
        Ok(Document { root, notes: self.notes, secrets: self.secrets })
    }

    fn whole_value(&mut self) -> Result<Node, Broken> {
        let root = self.value(Step::Root)?;
        self.blanks(DataxTakes::NoComment)?;
        if self.cursor.peek().is_some() { Err(self.unexpected(END)) } else { Ok(root) }
    }

    /// The value that begins here.
    pub(super) fn value(&mut self, step: Step<'a>) -> Result<Node, Broken> {
        let start = self.cursor.at();
        let kind = match self.cursor.peek() {
            Some('{') => self.object(step)?,
            Some('[') => self.list(step)?,
            Some('$') => NodeKind::Scalar(self.reference_as_value()?),
            Some(letter) if strings::may_begin_with(letter) => NodeKind::Scalar(Value::String(self.string()?)),
            Some(letter) if numbers::may_begin_with(letter) => {
                NodeKind::Scalar(Value::Number(numbers::number(&mut self.cursor)?))
            }
            Some(letter) if is_word(letter) => NodeKind::Scalar(self.word()?),
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Node { span: start..self.cursor.at(), kind })
    }

    fn list(&mut self, step: Step<'a>) -> Result<NodeKind, Broken> {
        self.brackets.open(&mut self.cursor, '[', step)?;
        self.blanks(DataxTakes::NoComment)?;
        let mut items = Vec::new();
        while !self.brackets.close(&mut self.cursor) {
            let item = self.value(Step::Item(items.len()))?;
            if let After::NoComma(end) = self.after(&item, DataxTakes::NoComment)? {
                if !self.cursor.peek().is_some_and(begins_value) {
                    return Err(self.no_comma(&item));
                }
                self.note_missing_comma(end);
            }
            items.push(item);
        }
        Ok(NodeKind::List(items))
    }

    /// Goes past what separates a value from the next.
    pub(super) fn after(&mut self, value: &Node, comments_after_comma: DataxTakes) -> Result<After, Broken> {
        self.blanks(DataxTakes::NoComment)?;
        if self.cursor.eat(',') {
            self.blanks(comments_after_comma)?;
            if self.cursor.peek() == Some(',') {
                let message = "two commas in a row: remove one, or write what is missing between them";
                return Err(Broken::new(self.cursor.at(), message));
            }
            return Ok(After::Comma);
        }
        if self.cursor.peek() == Some(self.brackets.closing()) {
            return Ok(After::Close);
        }
        if self.may_lack_comma(value) { Ok(After::NoComma(value.span.end)) } else { Err(self.no_comma(value)) }
    }

    /// After a string a comma may only be missing at the end of a line: `"select "x" from t"` is a string with a mistake in it.
    fn may_lack_comma(&self, value: &Node) -> bool {
        !is_string(value) || self.cursor.since(value.span.end).contains(is_line_break)
    }

    pub(super) fn note_missing_comma(&mut self, at: usize) {
        let message = "a comma is missing here: the text is read as if it stood there".into();
        self.notes.push(Note { at, message });
    }

    /// That something else follows a value than a comma or the end.
    pub(super) fn no_comma(&self, value: &Node) -> Broken {
        let written = self.cursor.slice(value.span.clone());
        let quote = written.chars().next().filter(|letter| strings::may_begin_with(*letter));
        let advice = match quote {
            None => String::new(),
            Some(quote) if written.contains(is_line_break) => format!(
                ": if the string before it should end on its first line, its closing quote is missing there; \
                 a quote inside a string is written `\\{quote}`"
            ),
            Some(quote) => format!(": write the comma, or `\\{quote}` for a quote inside the string before it"),
        };
        self.unexpected_with(&format!("a comma or `{}`", self.brackets.closing()), &advice)
    }
}

fn begins_value(letter: char) -> bool {
    matches!(letter, '{' | '[') || strings::may_begin_with(letter) || numbers::may_begin_with(letter) || is_word(letter)
}

fn is_string(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Scalar(Value::String(_)))
}
