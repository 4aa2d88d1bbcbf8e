//! Variables that nobody has set: what to say of them, without showing a piece of a secret that only looks like one.

use std::collections::BTreeSet;

use super::source::Source;
use super::variables::Unset;
use crate::error::Warning;
use crate::json::{Broken, Document, UNSET_VARIABLE};
use crate::secrets::mask_broken;

/// So many are told one by one.
const MOST: usize = 50;

/// A warning for each variable without a value, as long as it is part of a value: a comment or a key may hold any `$`.
pub(super) fn warnings(source: &Source, document: &Document) -> Vec<Warning> {
    let mut told = BTreeSet::new();
    let unset: Vec<&Unset> = source
        .unset()
        .iter()
        .filter(|unset| !unset.is_number() && document.is_in_value(unset.at) && told.insert(unset.written.as_str()))
        .collect();
    let shown = Shown::of(source, &unset);
    let mut warnings: Vec<Warning> =
        unset.iter().take(MOST).map(|unset| warning(source, document, unset, shown.has(unset))).collect();
    if let Some(next) = unset.get(MOST) {
        let more = unset.len() - MOST;
        warnings.push((next.at, format!("{}: {more} more variables are not set", source.place(next.at))).into());
    }
    warnings
}

fn warning(source: &Source, document: &Document, unset: &Unset, shown: bool) -> Warning {
    let place = source.place(unset.at);
    let message = if shown {
        // `${user.home}`: DataX takes it for `${user`, and so do we.
        let open = unset.written.starts_with("${") && !unset.written.ends_with('}');
        let (written, name) = (format!("{}{}", unset.written, if open { "…" } else { "" }), &unset.name);
        let state = if unset.is_blank { "is blank, which counts as not set," } else { "is not set" };
        format!("{place}: the variable {written} {state} and stays as it is written; -D {name}=… sets it")
    } else {
        let path = document.path_at(unset.at);
        format!("{place}: what looks like a variable in {path} is not set and stays as it is written")
    };
    (unset.at, message).into()
}

/// What is wrong with a text that is not JSON, or is none as long as its variables are not set.
pub(super) fn what_is_broken(source: &Source, broken: &Broken) -> String {
    if !broken.message.starts_with(UNSET_VARIABLE) {
        return format!("the job file is not JSON: {}", broken.message);
    }
    let unset: Vec<&Unset> = source.unset().iter().filter(|unset| !unset.is_number()).collect();
    let shown = Shown::of(source, &unset);
    let names: BTreeSet<&str> =
        unset.iter().filter(|unset| shown.has(unset)).map(|unset| unset.name.as_str()).collect();
    let written: Vec<String> = names.iter().take(MOST).map(|name| format!("${{{name}}}")).collect();
    let first = names.first().copied().unwrap_or("name");
    format!("{}; not set: {}; -D {first}=… sets one", broken.message, written.join(", "))
}

/// Which of them are no part of anything secret.
struct Shown(BTreeSet<usize>);

impl Shown {
    fn of(source: &Source, unset: &[&Unset]) -> Shown {
        if unset.is_empty() {
            return Shown(BTreeSet::new());
        }
        let text = source.text();
        // Character for character the same, but for what is secret.
        let masked = mask_broken(text);
        let mut same = BTreeSet::new();
        let mut letters = text.char_indices().zip(masked.chars()).peekable();
        for unset in unset {
            while letters.next_if(|((at, _), _)| *at < unset.at).is_some() {}
            let mut written = letters.clone().take(unset.written.chars().count());
            if written.all(|((_, letter), masked)| letter == masked) {
                same.insert(unset.at);
            }
        }
        Shown(same)
    }

    fn has(&self, unset: &Unset) -> bool {
        self.0.contains(&unset.at)
    }
}
