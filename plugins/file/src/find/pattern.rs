//! Wildcards: which paths match them, and below which folders such paths may be.

use transship_plugin_api::{Error, Result};

/// A path with wildcards.
#[derive(Debug)]
pub(super) struct Pattern {
    tokens: Vec<Token>,
    /// How much of it stands ahead of the first wildcard.
    plain: usize,
}

impl Pattern {
    /// Reads a pattern.
    pub(super) fn parse(pattern: &str) -> Result<Pattern> {
        let plain = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
        Ok(Pattern { tokens: Token::parse(pattern)?, plain })
    }

    /// The last folder ahead of the first wildcard of this pattern; empty: the working directory.
    pub(super) fn folder<'a>(&self, pattern: &'a str) -> &'a str {
        match pattern[..self.plain].rfind('/') {
            Some(0) => "/",
            Some(slash) => &pattern[..slash],
            None => "",
        }
    }

    /// Whether it takes the whole path.
    pub(super) fn takes(&self, path: &str) -> bool {
        let characters: Vec<char> = path.chars().collect();
        matches(&self.tokens, &characters)
    }

    /// Whether a path that begins like this may match.
    pub(super) fn may_take_below(&self, front: &str) -> bool {
        let mut tokens = self.tokens.iter();
        for character in front.chars() {
            match tokens.next() {
                // It takes slashes too, so it may take all that follows.
                Some(Token::Many) => return true,
                Some(token) if token.takes(character) => {}
                _ => return false,
            }
        }
        true
    }
}

/// A piece of a pattern.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// This character.
    One(char),
    /// Any character.
    Any,
    /// Any number of characters, slashes too: DataX walks directories recursively and lets `*` stand for them.
    Many,
    /// One of these ranges, or none of them.
    Class { ranges: Vec<(char, char)>, negated: bool },
}

impl Token {
    fn parse(pattern: &str) -> Result<Vec<Token>> {
        let mut tokens = Vec::new();
        let mut rest = pattern.chars();
        while let Some(character) = rest.next() {
            tokens.push(match character {
                '*' => Token::Many,
                '?' => Token::Any,
                '[' => Token::class(&mut rest)
                    .ok_or_else(|| Error::config(format!("the path {pattern} has a [ without its ]")))?,
                other => Token::One(other),
            });
        }
        Ok(tokens)
    }

    /// What stands between `[` and `]`.
    fn class(rest: &mut std::str::Chars<'_>) -> Option<Token> {
        let mut ranges = Vec::new();
        let mut character = rest.next()?;
        let negated = matches!(character, '!' | '^');
        if negated {
            character = rest.next()?;
        }
        loop {
            // A bracket right at the front stands for itself.
            if character == ']' && !ranges.is_empty() {
                return Some(Token::Class { ranges, negated });
            }
            let mut ahead = rest.clone();
            if ahead.next() == Some('-') && ahead.next().is_some_and(|last| last != ']') {
                rest.next();
                ranges.push((character, rest.next()?));
            } else {
                ranges.push((character, character));
            }
            character = rest.next()?;
        }
    }

    fn takes(&self, character: char) -> bool {
        match self {
            Token::One(one) => *one == character,
            Token::Any => character != '/',
            Token::Many => true,
            Token::Class { ranges, negated } => {
                character != '/' && ranges.iter().any(|(first, last)| (*first..=*last).contains(&character)) != *negated
            }
        }
    }
}

/// Whether the tokens take the whole text. On a mismatch only the last `*` is tried longer, which is enough because an
/// earlier one could do no better.
fn matches(tokens: &[Token], text: &[char]) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut last_many: Option<(usize, usize)> = None;
    while at < text.len() {
        match tokens.get(token) {
            Some(Token::Many) => {
                last_many = Some((token, at));
                token += 1;
            }
            Some(one) if one.takes(text[at]) => {
                token += 1;
                at += 1;
            }
            _ => {
                let Some((many, from)) = last_many else { return false };
                last_many = Some((many, from + 1));
                token = many + 1;
                at = from + 1;
            }
        }
    }
    tokens[token..].iter().all(|left| *left == Token::Many)
}

#[cfg(test)]
mod tests;
