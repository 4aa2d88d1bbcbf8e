//! The transformers that are built into the engine: DataX's `dx_…`, with its semantics, and those for streams. What there is, what
//! each takes, and how one of DataX's is made. Not here: what they do to records (`rewrite`, `filter`, `dedup`).

use std::borrow::Cow;

use serde_json::Value;
use transship_plugin_api::plugin::{Component, Parameter};
use transship_plugin_api::{ColumnFormats, Error, HostRef, Params, Result};

use super::dedup;
use super::digest::Digest;
use super::filter::Filter;
use super::lookup;
use super::order;
use super::pad::Pad;
use super::paras::{ColumnChoice, Paras};
use super::pieces::{Replace, Substr};
use super::rewrite::Rewriting;
use super::step::Step;

/// A transformer of the engine's own, and what its `paras` are.
pub(super) struct BuiltIn {
    pub name: &'static str,
    about: &'static str,
    /// What each of its `paras` is.
    pub paras: &'static [&'static str],
    /// One that works, for messages.
    pub example: &'static str,
    details: &'static str,
}

const BUILT_IN: [BuiltIn; 5] = [
    BuiltIn {
        name: "dx_digest",
        about: "replaces a value by its MD5 or SHA-1 in hexadecimal; NULL counts as an empty text",
        paras: &["md5 or sha1", "toUpperCase or toLowerCase"],
        example: r#"["md5", "toLowerCase"]"#,
        details: "the digest and the case of its letters, both in any case",
    },
    BuiltIn {
        name: "dx_filter",
        about: "drops the records of which a column fulfils a condition",
        paras: &["operator", "value"],
        example: r#"[">", "3"]"#,
        details: "an operator (like, not like, >, <, =, ==, !=, >=, <=) and a value; like takes a Java regex for the \
                  whole text, dates are compared with epoch milliseconds or a date",
    },
    BuiltIn {
        name: "dx_pad",
        about: "pads a value to a length, and cuts a longer one to it; NULL counts as an empty text",
        paras: &["l or r", "length", "pad text"],
        example: r#"["l", "8", "0"]"#,
        details: "the side, the length in UTF-16 units, and the text to pad with",
    },
    BuiltIn {
        name: "dx_replace",
        about: "replaces a piece of a value; NULL stays NULL",
        paras: &["start", "length", "replacement"],
        example: r#"["3", "4", "****"]"#,
        details: "the first position from 0 on and the length, both in UTF-16 units, and the text to put there",
    },
    BuiltIn {
        name: "dx_substr",
        about: "keeps only a piece of a value; NULL stays NULL",
        paras: &["start", "length"],
        example: r#"["0", "8"]"#,
        details: "the first position from 0 on and the length, both in UTF-16 units",
    },
];

/// What DataX has and the engine refuses: they would need a Java machine.
const GROOVY: [&str; 2] = ["dx_groovy", "dx_fackGroovy"];

/// What the built-in transformers say of themselves, as a plugin does of its components.
pub fn components() -> Vec<Component> {
    BUILT_IN
        .iter()
        .map(BuiltIn::component)
        .chain([dedup::component(), lookup::component()])
        .chain(order::components())
        .collect()
}

/// Whether the engine knows the transformer, if only to say why it does not have it.
pub fn is_built_in(name: &str) -> bool {
    GROOVY.contains(&name)
        || [dedup::NAME, lookup::NAME, order::ORDER, order::MERGE].contains(&name)
        || BUILT_IN.iter().any(|known| known.name == name)
}

/// Makes a transformer from its `parameter` object.
///
/// # Errors
/// `Config` where its parameters are wrong: in DataX these make every record dirty. `Unsupported` for Groovy.
pub(super) fn make(name: &str, parameter: &Value, formats: &ColumnFormats, host: HostRef) -> Result<Box<dyn Step>> {
    if GROOVY.contains(&name) {
        return Err(Error::unsupported(format!(
            "{name} runs Groovy code, which transship does not: use dx_filter, dx_substr, dx_replace, dx_pad or dx_digest, \
             or do it in the reader's SQL, or in a transformer plugin of your own (in Rust, C or any language that makes \
             shared libraries)"
        )));
    }
    let known = BUILT_IN
        .iter()
        .find(|known| known.name == name)
        .ok_or_else(|| Error::config(format!("there is no built-in transformer \"{name}\"")))?;
    let params = Params::new(parameter, "parameter")?;
    let column = ColumnChoice::read(&params)?;
    let paras = Paras::read(&params, known)?;
    let formats = formats.clone();
    Ok(match name {
        "dx_digest" => Rewriting::boxed(Digest::new(&paras)?, column, formats, host),
        "dx_filter" => Box::new(Filter::new(&paras, column, formats, host)?),
        "dx_pad" => Rewriting::boxed(Pad::new(&paras)?, column, formats, host),
        "dx_replace" => Rewriting::boxed(Replace::new(&paras)?, column, formats, host),
        _ => Rewriting::boxed(Substr::new(&paras)?, column, formats, host),
    })
}

impl BuiltIn {
    fn component(&self) -> Component {
        let paras = format!("{}; example: {}", self.details, self.example);
        Component {
            names: vec![self.name.into()],
            about: self.about.into(),
            parameters: vec![
                Parameter::optional(
                    "columnIndex",
                    "integer or string",
                    "",
                    "the column, counted from 0; this or columnName is required",
                ),
                Parameter::optional("columnName", "string", "", "the column by its name, instead of columnIndex"),
                Parameter { about: Cow::Owned(paras), ..Parameter::required("paras", "list of strings", "") },
            ],
        }
    }
}
