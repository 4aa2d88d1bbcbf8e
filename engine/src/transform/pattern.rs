//! A Java regex that a whole text must match: translated (`java`) and run.
//!
//! The regex engine is `fancy-regex`: it knows look-around, back references and possessive repetitions, which Java has and the
//! `regex` crate has not, and hands the patterns without these to the latter's engine, which is linear in time.

use fancy_regex::{Regex, RegexBuilder};

use super::cause::Cause;

mod java;

/// How often the engine may try another way with one value.
const MOST_TRIES: usize = 1_000_000;
/// How large a compiled pattern may be, in bytes and in steps.
const MOST_BYTES: usize = 16 << 20;
const MOST_STEPS: usize = 100_000;

pub(super) struct Pattern {
    regex: Regex,
}

impl Pattern {
    /// Reads a Java regex.
    ///
    /// # Errors
    /// What is wrong with it, to continue "… is …, ".
    pub(super) fn new(java: &str) -> Result<Pattern, String> {
        let translated = java::translate(java)?;
        let regex = RegexBuilder::new(&format!(r"\A(?:{translated})\z"))
            .backtrack_limit(MOST_TRIES)
            .delegate_size_limit(MOST_BYTES)
            .max_prog_size(MOST_STEPS)
            .build();
        let told = |error: fancy_regex::Error| {
            let error = error.to_string();
            format!(
                "which is no regex that can be run here ({})",
                error.split_whitespace().collect::<Vec<_>>().join(" ")
            )
        };
        Ok(Pattern { regex: regex.map_err(told)? })
    }

    /// Whether the whole text matches.
    #[inline]
    pub(super) fn matches(&self, text: &str) -> Result<bool, Cause> {
        self.regex.is_match(text).map_err(|_| Cause::Endless)
    }
}
