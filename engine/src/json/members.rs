//! Objects: keys, their values, and keys that stand more than once.

use std::collections::HashMap;

use super::advice::{COLON, KEY, UNSET};
use super::blanks::DataxTakes;
use super::brackets::Step;
use super::grammar::{After, Parser};
use super::words::is_word;
use super::{Broken, Member, NodeKind, Note, strings};

/// A key that has been read.
struct Key<'a> {
    at: usize,
    /// As it stands in the text, without its quotes.
    written: &'a str,
    content: String,
}

impl<'a> Parser<'a, '_> {
    pub(super) fn object(&mut self, step: Step<'a>) -> Result<NodeKind, Broken> {
        self.brackets.open(&mut self.cursor, '{', step)?;
        self.blanks(DataxTakes::OneLine)?;
        let mut members: Vec<Member> = Vec::new();
        let mut after = After::Comma;
        while !self.brackets.close(&mut self.cursor) {
            let key = match (after, members.last()) {
                (After::NoComma(end), Some(before)) => self.key_without_comma(end, before)?,
                _ => self.key()?,
            };
            let node = self.value(Step::Key(key.written))?;
            after = self.after(&node, DataxTakes::OneLine)?;
            members.push(Member { key: key.content, key_at: key.at, node });
        }
        Ok(NodeKind::Object(self.last_of_each(members)))
    }

    /// A key and its colon, up to the value.
    fn key(&mut self) -> Result<Key<'a>, Broken> {
        let at = self.cursor.at();
        let (content, written) = match self.cursor.peek() {
            Some(letter) if strings::may_begin_with(letter) => {
                let content = self.quoted_key()?;
                (content, self.cursor.since(at).trim_matches(letter))
            }
            Some(letter) if is_word(letter) && !self.cursor.rest().starts_with("${") => {
                let written = self.cursor.take_while(is_word);
                (written.to_string(), written)
            }
            _ => return Err(self.unexpected(KEY)),
        };
        let is_quoted = self.cursor.at() > at + written.len();
        self.blanks(DataxTakes::NoComment)?;
        if !self.cursor.eat(':') {
            return Err(self.no_colon(at, written, is_quoted));
        }
        self.blanks(DataxTakes::NoComment)?;
        Ok(Key { at, written, content })
    }

    /// That no colon follows a key. Without quotes, what was taken for one may be something else.
    fn no_colon(&self, at: usize, written: &str, is_quoted: bool) -> Broken {
        match written.find('$') {
            Some(variable) if !is_quoted => Broken::new(at + variable, UNSET),
            None if !is_quoted && self.is_rest_of_number(at, written) => {
                let message = format!("expected {KEY}, found a number: a number has no commas between its digits");
                Broken::new(at, message)
            }
            _ => self.unexpected(COLON),
        }
    }

    /// Whether what was taken for a key is the end of `1,000`.
    fn is_rest_of_number(&self, at: usize, written: &str) -> bool {
        let before = self.cursor.slice(0..at).strip_suffix(',');
        let follows_digit = before.is_some_and(|before| before.ends_with(|letter: char| letter.is_ascii_digit()));
        follows_digit && written.bytes().all(|digit| digit.is_ascii_digit())
    }

    /// A key that no comma separates from the member before it. If it is none after all, it is the comma that was expected.
    fn key_without_comma(&mut self, end: usize, before: &Member) -> Result<Key<'a>, Broken> {
        let start = self.cursor;
        let Ok(key) = self.key() else {
            self.cursor = start;
            return Err(self.no_comma(&before.node));
        };
        self.note_missing_comma(end);
        Ok(key)
    }

    /// Of several members with the same key the last one, in the place of the first.
    fn last_of_each(&mut self, members: Vec<Member>) -> Vec<Member> {
        let mut places: HashMap<String, usize> = HashMap::with_capacity(members.len());
        let mut kept: Vec<Member> = Vec::with_capacity(members.len());
        let mut repeated = Vec::new();
        for member in members {
            match places.get(&member.key) {
                Some(place) => {
                    repeated.push(*place);
                    kept[*place] = member;
                }
                None => {
                    places.insert(member.key.clone(), kept.len());
                    kept.push(member);
                }
            }
        }
        repeated.sort_unstable();
        repeated.dedup();
        for Member { key, key_at, .. } in repeated.into_iter().map(|place| &kept[place]) {
            let message =
                format!("the key {key:?} stands more than once in this object: only the last one, here, counts");
            self.notes.push(Note { at: *key_at, message });
        }
        kept
    }
}
