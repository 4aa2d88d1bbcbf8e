//! JSON as people write it in job files: what DataX's parser takes, and comments wherever white space may stand. The tree keeps
//! where in the text each node stands. It is not responsible for what the values mean, nor for lines and columns.

use std::ops::Range;

use serde_json::Value;

mod advice;
mod blanks;
mod brackets;
mod cursor;
mod find;
mod grammar;
mod members;
mod numbers;
mod outside;
mod strings;
mod words;

pub use advice::UNSET as UNSET_VARIABLE;

/// What a text holds.
#[derive(Clone)]
pub struct Document {
    /// The outermost value.
    pub root: Node,
    /// What is odd about the text, though not wrong, in the order of the text.
    pub notes: Vec<Note>,
    /// What was put in by `${env:…}` and `${file:…}`. It must not be printed.
    pub secrets: Vec<String>,
}

/// A value and where it stands.
#[derive(Clone)]
pub struct Node {
    /// Its bytes in the text, from its first character (a quote, a bracket) to its last.
    pub span: Range<usize>,
    /// What it is.
    pub kind: NodeKind,
}

/// The kinds of values.
#[derive(Clone)]
pub enum NodeKind {
    /// A string, a number, true, false or null. A number keeps the digits it was written with.
    Scalar(Value),
    /// The values of `[…]`.
    List(Vec<Node>),
    /// The members of `{…}`: of members with the same key, only the last, in the place of the first.
    Object(Vec<Member>),
}

/// A key of an object and its value.
#[derive(Clone)]
pub struct Member {
    /// The key, without quotes and escapes.
    pub key: String,
    /// Where the key begins in the text: its quote, if it has one.
    pub key_at: usize,
    /// The value.
    pub node: Node,
}

/// What is odd about a text, though not wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The byte of the text it is about.
    pub at: usize,
    /// What is odd.
    pub message: String,
}

/// What is wrong with a text and what to try. It holds no content of strings: that may be secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The byte of the text where it is wrong; the length of the text if something is missing at its end.
    pub at: usize,
    /// What is wrong and what to try.
    pub message: String,
}

impl Broken {
    fn new(at: usize, message: impl Into<String>) -> Broken {
        Broken { at, message: message.into() }
    }
}

/// From where a secret is put into a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin<'a> {
    /// `${env:NAME}`: the environment variable of this name.
    Environment(&'a str),
    /// `${file:PATH}`: the file of this path.
    File(&'a str),
}

/// Reads a text. `fetch` gets what stands for `${env:NAME}` and `${file:PATH}`, or says why it cannot.
///
/// # Errors
/// What is wrong with the text, or what `fetch` said, with the place.
pub fn parse(text: &str, fetch: &mut dyn FnMut(Origin<'_>) -> Result<String, String>) -> Result<Document, Broken> {
    grammar::Parser::new(text, fetch).document()
}

impl Document {
    /// The values without their places.
    pub fn value(&self) -> Value {
        self.root.value()
    }
}

impl Node {
    /// The value without its places.
    pub fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar(value) => value.clone(),
            NodeKind::List(items) => items.iter().map(Node::value).collect(),
            NodeKind::Object(members) => {
                members.iter().map(|member| (member.key.clone(), member.node.value())).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests;
