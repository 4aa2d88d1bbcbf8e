//! A place in a text and the steps that lead on from there, always from character to character.

use std::ops::Range;

/// A place in a text.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// The byte it stands at.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The text from here on.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The text from an earlier place up to here.
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.slice(start..self.at)
    }

    /// A part of the text.
    pub(super) fn slice(&self, span: Range<usize>) -> &'a str {
        &self.text[span]
    }

    /// The character here.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The character here; the cursor goes on to the next one.
    pub(super) fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    /// Goes past this character, if it stands here.
    pub(super) fn eat(&mut self, letter: char) -> bool {
        let stands_here = self.peek() == Some(letter);
        if stands_here {
            self.at += letter.len_utf8();
        }
        stands_here
    }

    /// Goes past this text, if it stands here.
    pub(super) fn eat_text(&mut self, text: &str) -> bool {
        let stands_here = self.rest().starts_with(text);
        if stands_here {
            self.at += text.len();
        }
        stands_here
    }

    /// Goes past all characters up to the first that is not of this sort, and gives them.
    pub(super) fn take_while(&mut self, of_sort: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|letter| !of_sort(letter)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Goes past the next place where this text stands, if there is one.
    pub(super) fn eat_through(&mut self, end: &str) -> bool {
        let found = self.rest().find(end);
        self.at += found.map_or(0, |before| before + end.len());
        found.is_some()
    }
}
