//! What is read and what is refused, by behaviour; then properties that hold for every text.

use serde_json::Value;

use super::{Broken, Document, Note, Origin, parse};

mod accepted;
mod dirt;
mod fetched;
mod paths;
mod printer;
mod properties;
mod refused;

/// Reads a text that fetches nothing.
fn read(text: &str) -> Result<Document, Broken> {
    parse(text, &mut |origin| Err(format!("nothing is fetched here, but {origin:?} was asked for")))
}

#[track_caller]
fn document(text: &str) -> Document {
    read(text).unwrap_or_else(|broken| panic!("{broken:?}\n{text}"))
}

/// The value of a text about which there is nothing to say.
#[track_caller]
fn value(text: &str) -> Value {
    let document = document(text);
    assert_eq!(document.notes, [], "{text}");
    document.value()
}

/// The notes about a text: the text from each place on, and the message.
#[track_caller]
fn notes(text: &str) -> Vec<(&str, String)> {
    document(text).notes.into_iter().map(|Note { at, message }| (&text[at..], message)).collect()
}

#[track_caller]
fn broken(text: &str) -> Broken {
    let Err(broken) = read(text) else { panic!("it was read: {text}") };
    broken
}

/// A fetch that knows one variable and one file.
fn fetch(origin: Origin<'_>) -> Result<String, String> {
    match origin {
        Origin::Environment("PASS") => Ok("p\"a\\ss ${env:PASS}".into()),
        Origin::Environment("COUNT") => Ok("007\n".into()),
        Origin::Environment("FLAG") => Ok("true".into()),
        Origin::File("/run/a \"b\".txt") => Ok("from a file".into()),
        Origin::Environment(name) => Err(format!("the variable {name} is not set")),
        Origin::File(path) => Err(format!("there is no file {path}")),
    }
}
