//! What is inside `[…]` in a Java regex: characters, ranges, classes, classes inside, and `&&`.

use super::{Flags, Step, Translation, push_literal};

/// How deep classes may be inside one another.
const DEEPEST: usize = 50;

/// A class that is being read.
pub(super) struct Class<'t, 'a> {
    pattern: &'t mut Translation<'a>,
    out: String,
}

impl Class<'_, '_> {
    /// Reads a class of which the `[` has been read.
    pub(super) fn read(pattern: &mut Translation<'_>) -> Step<String> {
        let Flags { ignore_case, unicode_case, .. } = pattern.flags;
        let mut class = Class { pattern, out: String::new() };
        class.brackets(0)?;
        let out = class.out;
        Ok(if ignore_case && unicode_case { format!("(?i:{out})") } else { out })
    }

    fn brackets(&mut self, depth: usize) -> Step<()> {
        if depth == DEEPEST {
            return self.pattern.fail("has too many [ inside one another");
        }
        self.out.push('[');
        if self.pattern.take("^") {
            self.out.push('^');
        }
        let mut is_empty = true;
        loop {
            if self.pattern.take("&&") {
                self.out.push_str("&&");
                continue;
            }
            let Some(character) = self.pattern.next() else { return self.pattern.fail("has a [ without its ]") };
            match character {
                _ if self.pattern.flags.comments && self.pattern.skip_comment(character) => continue,
                ']' if !is_empty => break,
                '[' => self.brackets(depth + 1)?,
                first => self.item(first)?,
            }
            is_empty = false;
        }
        self.out.push(']');
        Ok(())
    }

    /// A character, a range or a class with a name.
    fn item(&mut self, first: char) -> Step<()> {
        let Some(low) = self.one(first)? else { return Ok(()) };
        let rest = self.pattern.rest.strip_prefix('-');
        let is_range = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with([']', '[']));
        if !is_range {
            self.range(low, low);
            return Ok(());
        }
        self.pattern.next();
        let last = self.pattern.next().unwrap_or(low);
        match self.one(last)? {
            Some(high) if low <= high => {
                self.range(low, high);
                Ok(())
            }
            Some(high) => self.pattern.fail(&format!("has the range {low}-{high}, whose end is before its beginning")),
            // `[a-\d]`: the dash stands for itself.
            None => {
                self.range(low, low);
                self.range('-', '-');
                Ok(())
            }
        }
    }

    /// One character; `None` if it was a class, which is written already, or nothing.
    fn one(&mut self, first: char) -> Step<Option<char>> {
        if first != '\\' {
            return Ok(Some(first));
        }
        let Some(character) = self.pattern.next() else { return self.pattern.fail("ends with a \\") };
        if character == 'Q' {
            let rest = self.pattern.rest;
            let (text, rest) = rest.split_once("\\E").unwrap_or((rest, ""));
            self.pattern.rest = rest;
            text.chars().for_each(|character| self.range(character, character));
            return Ok(None);
        }
        if let Some(class) = self.pattern.class_escape(character)? {
            self.out.push_str(&format!("[{class}]"));
            return Ok(None);
        }
        self.pattern.character_escape(character).map(Some)
    }

    /// Writes a range, with `(?i)` spelt out.
    fn range(&mut self, low: char, high: char) {
        self.push(low, high);
        let Flags { ignore_case, unicode_case, .. } = self.pattern.flags;
        if !ignore_case || unicode_case {
            return;
        }
        for (first, last, other_case) in
            [('a', 'z', char::to_ascii_uppercase as fn(&char) -> char), ('A', 'Z', |c| c.to_ascii_lowercase())]
        {
            let (low, high) = (low.max(first), high.min(last));
            if low <= high {
                self.push(other_case(&low), other_case(&high));
            }
        }
    }

    fn push(&mut self, low: char, high: char) {
        push_literal(low, &mut self.out);
        if low != high {
            self.out.push('-');
            push_literal(high, &mut self.out);
        }
    }
}
