//! What the built-in transformers are told in a job file: which column, and the list of `paras`. Errors say what is allowed.

use std::fmt;

use arrow_schema::Schema;
use serde_json::Value;
use transship_plugin_api::params::{describe, one_of};
use transship_plugin_api::{Error, Params, Result};

use super::builtin::BuiltIn;

/// A column, by what the job file calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ColumnChoice {
    Index(usize),
    /// A name, and the key that it is the value of.
    Name(String, &'static str),
}

impl ColumnChoice {
    /// DataX knows `columnIndex` alone. A name is taken there as well: it cannot mean anything else.
    pub(super) fn read(params: &Params<'_>) -> Result<ColumnChoice> {
        match (params.value("columnIndex"), params.value("columnName")) {
            (Some(_), Some(_)) => {
                Err(params.error("columnName", "cannot stand beside columnIndex: remove one of them"))
            }
            (None, None) => Err(params.error("columnIndex", "is required: the column's place, counted from 0")),
            (None, Some(_)) => Ok(ColumnChoice::Name(params.required_text("columnName")?, "columnName")),
            (Some(Value::String(text)), None) if names_a_column(text) => {
                Ok(ColumnChoice::Name(text.trim().into(), "columnIndex"))
            }
            (Some(written), None) => match params.whole("columnIndex").ok().flatten().map(usize::try_from) {
                Some(Ok(index)) => Ok(ColumnChoice::Index(index)),
                _ => {
                    let allowed = "must be a column's place, counted from 0, or its name";
                    Err(params.error("columnIndex", format_args!("{allowed}, not {}", describe(written))))
                }
            },
        }
    }

    /// The column's place among those of a schema.
    ///
    /// # Errors
    /// What is wrong with which key, and the columns that there are.
    pub(super) fn find(&self, schema: &Schema) -> Result<usize> {
        let fields = schema.fields();
        let refuse = |problem: fmt::Arguments<'_>| {
            let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
            Err(Error::schema(format!("parameter.{problem}: the columns are {}", names.join(", "))))
        };
        let (name, key) = match self {
            ColumnChoice::Index(index) if *index < fields.len() => return Ok(*index),
            ColumnChoice::Index(index) => {
                return refuse(format_args!("columnIndex is {index}, counted from 0, and there is no such column"));
            }
            ColumnChoice::Name(name, key) => (name, key),
        };
        let places = |equal: fn(&str, &str) -> bool| -> Vec<usize> {
            (0..fields.len()).filter(|index| equal(fields[*index].name(), name)).collect()
        };
        let exact = places(|a, b| a == b);
        let found = if exact.is_empty() { places(|a, b| a.eq_ignore_ascii_case(b)) } else { exact };
        match found[..] {
            [index] => Ok(index),
            [] => refuse(format_args!("{key} is \"{name}\", and there is no such column")),
            _ => refuse(format_args!(
                "{key} is \"{name}\", and several columns are called so; give the place of the right one, counted from 0, \
                 as columnIndex"
            )),
        }
    }
}

/// Whether a text in the place of an index is a name: not if it looks like a number, however wrong.
fn names_a_column(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.parse::<f64>().is_err()
}

/// The `paras` of a transformer. Numbers and booleans among them are taken as their text.
pub(super) struct Paras {
    texts: Vec<String>,
    of: &'static BuiltIn,
}

impl Paras {
    /// As many as the transformer takes.
    pub(super) fn read(params: &Params<'_>, of: &'static BuiltIn) -> Result<Paras> {
        let paras = Paras { texts: params.texts("paras")?, of };
        let given = paras.texts.len();
        if given == of.paras.len() {
            return Ok(paras);
        }
        let has = match (params.value("paras"), given) {
            (None, _) => "is required:".to_string(),
            (_, 1) => "has 1 value, but".to_string(),
            _ => format!("has {given} values, but"),
        };
        Err(params.error("paras", format_args!("{has} {}", paras.usage())))
    }

    pub(super) fn text(&self, index: usize) -> &str {
        &self.texts[index]
    }

    /// A number of UTF-16 units.
    pub(super) fn whole(&self, index: usize) -> Result<usize> {
        // DataX's numbers are those of Java's `int`.
        match self.texts[index].trim().parse::<i32>().map(usize::try_from) {
            Ok(Ok(number)) => Ok(number),
            _ => Err(self.error(
                index,
                format_args!("must be a whole number from 0 to {}, not {}", i32::MAX, self.shown(index)),
            )),
        }
    }

    /// One of a few words, in any case.
    pub(super) fn choice<T: Copy>(&self, index: usize, words: &[(&str, T)]) -> Result<T> {
        let text = self.texts[index].trim();
        let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let known = one_of(words.iter().map(|(word, _)| *word));
            self.error(index, format_args!("must be {known}, not {}", self.shown(index)))
        })
    }

    /// An error about one of them.
    pub(super) fn error(&self, index: usize, problem: impl fmt::Display) -> Error {
        Error::config(format!("parameter.paras[{index}] {problem}; {}", self.usage()))
    }

    pub(super) fn shown(&self, index: usize) -> String {
        describe(&Value::String(self.texts[index].clone()))
    }

    fn usage(&self) -> String {
        let BuiltIn { name, paras, example, .. } = self.of;
        let words = ["no", "one", "two", "three"];
        let many = words.get(paras.len()).copied().unwrap_or("several");
        format!("{name} takes {many} ({}), for example {example}", paras.join(", "))
    }
}
