//! The columns that make the key of a record, by what the job file calls them: `"key": "id"`, `"key": ["client", 2]`.
//! Not here: what the values in them mean.

use std::fmt;

use arrow_schema::Schema;
use serde_json::Value;
use transship_plugin_api::params::describe;
use transship_plugin_api::plugin::Parameter;
use transship_plugin_api::{Error, Params, Result};

/// What a job file may write as a key.
pub(super) const KEY: Parameter = Parameter::required(
    "key",
    "string, integer or list of strings",
    "the column that identifies a record, or several: by name or by place, counted from 0",
);

/// One column or more, as a job file names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyColumns(Vec<Named>);

/// A column of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    /// Where it is named: `parameter.key[1]`.
    path: String,
    column: Column,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    Index(usize),
    Name(String),
}

impl KeyColumns {
    /// The columns in the parameter `key`.
    ///
    /// # Errors
    /// When there are none, or one of them is neither a name nor a place.
    pub(super) fn read(params: &Params<'_>) -> Result<KeyColumns> {
        KeyColumns::read_from(params, "key")
    }

    /// The columns in another parameter.
    ///
    /// # Errors
    /// As [`KeyColumns::read`].
    pub(super) fn read_from(params: &Params<'_>, key: &str) -> Result<KeyColumns> {
        let path = params.path(key);
        let example = "a column or a list of columns, such as \"id\" or [\"client\", \"id\"]";
        let named = match params.value(key) {
            None => return Err(params.error(key, format_args!("is required: {example}"))),
            Some(Value::Array(items)) if items.is_empty() => {
                return Err(params.error(key, format_args!("is empty: it needs {example}")));
            }
            Some(Value::Array(items)) => {
                let named = items.iter().enumerate().map(|(at, item)| Named::read(item, format!("{path}[{at}]")));
                named.collect::<Result<_>>()?
            }
            Some(single) => vec![Named::read(single, path)?],
        };
        Ok(KeyColumns(named))
    }

    /// Their places among the columns of a schema, in the order of the job file.
    ///
    /// # Errors
    /// When one of them is not there, or there twice; the message tells the columns that there are.
    pub(super) fn find(&self, schema: &Schema) -> Result<Vec<usize>> {
        let mut places: Vec<usize> = Vec::with_capacity(self.0.len());
        for named in &self.0 {
            let place = named.find(schema)?;
            if places.contains(&place) {
                let name = schema.field(place).name();
                return Err(named.refuse(schema, format_args!("is the column \"{name}\" a second time")));
            }
            places.push(place);
        }
        Ok(places)
    }
}

impl Named {
    fn read(written: &Value, path: String) -> Result<Named> {
        let column = match written {
            Value::String(name) if !name.trim().is_empty() => Column::Name(name.clone()),
            Value::Number(number) => match number.as_u64().map(usize::try_from) {
                Some(Ok(index)) => Column::Index(index),
                _ => return Err(wrong(&path, written)),
            },
            _ => return Err(wrong(&path, written)),
        };
        Ok(Named { path, column })
    }

    fn find(&self, schema: &Schema) -> Result<usize> {
        let count = schema.fields().len();
        let name = match &self.column {
            Column::Index(index) if *index < count => return Ok(*index),
            Column::Index(index) => return Err(self.nowhere(schema, index)),
            Column::Name(name) => name,
        };
        let places = |equal: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (0..count).filter(|place| equal(schema.field(*place).name())).collect()
        };
        let exact = places(&|other| other == name);
        let found = if exact.is_empty() { places(&|other| other.eq_ignore_ascii_case(name.trim())) } else { exact };
        match found[..] {
            [place] => Ok(place),
            // The place may have been written as a text, as DataX takes it.
            [] => match name.trim().parse::<usize>() {
                Ok(index) if index < count => Ok(index),
                _ => Err(self.nowhere(schema, &format_args!("\"{name}\""))),
            },
            _ => Err(self.refuse(
                schema,
                format_args!(
                    "is \"{name}\", and several columns are called so; give the place of the right one, counted from 0"
                ),
            )),
        }
    }

    fn nowhere(&self, schema: &Schema, written: &dyn fmt::Display) -> Error {
        self.refuse(schema, format_args!("is {written}, and there is no such column"))
    }

    fn refuse(&self, schema: &Schema, problem: fmt::Arguments<'_>) -> Error {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        Error::schema(format!("{} {problem}: the columns are {}", self.path, names.join(", ")))
    }
}

fn wrong(path: &str, written: &Value) -> Error {
    let allowed = "must be a column's name, or its place, counted from 0";
    Error::config(format!("{path} {allowed}, not {}", describe(written)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::{DataType, Field};
    use serde_json::json;

    fn schema() -> Schema {
        Schema::new(
            ["client", "ID", "id", "7", "twin", "twin"].map(|name| Field::new(name, DataType::Utf8, true)).to_vec(),
        )
    }

    fn places(key: Value) -> std::result::Result<Vec<usize>, String> {
        let parameter = json!({ "key": key });
        let params = Params::new(&parameter, "parameter").unwrap();
        let found = KeyColumns::read(&params).and_then(|columns| columns.find(&schema()));
        found.map_err(|error| error.message().to_string())
    }

    #[test]
    fn columns_are_found_by_name_and_by_place() {
        for (key, expected) in [
            (json!("client"), vec![0]),
            (json!("CLIENT"), vec![0]),
            (json!("id"), vec![2]),
            (json!("ID"), vec![1]),
            (json!(0), vec![0]),
            (json!("0"), vec![0]),
            (json!("7"), vec![3]),
            (json!(["id", "client"]), vec![2, 0]),
            (json!(["id", 0]), vec![2, 0]),
        ] {
            assert_eq!(places(key.clone()), Ok(expected), "{key}");
        }
    }

    #[test]
    fn what_is_no_column_is_told_with_its_place() {
        for (key, problem) in [
            (json!(null), "parameter.key is required: a column or a list"),
            (json!([]), "parameter.key is empty: it needs a column or a list"),
            (json!(""), "parameter.key must be a column's name, or its place, counted from 0, not \"\""),
            (json!(["id", true]), "parameter.key[1] must be a column's name, or its place, counted from 0, not true"),
            (json!(-1), "parameter.key must be a column's name"),
            (json!(1.5), "parameter.key must be a column's name"),
            (json!(6), "parameter.key is 6, and there is no such column: the columns are client, ID, id"),
            (json!(["id", "nobody"]), "parameter.key[1] is \"nobody\", and there is no such column: the columns are"),
            (json!("Id"), "parameter.key is \"Id\", and several columns are called so; give the place"),
            (json!("twin"), "parameter.key is \"twin\", and several columns are called so"),
            (json!(["id", 2]), "parameter.key[1] is the column \"id\" a second time"),
        ] {
            let error = places(key.clone()).unwrap_err();
            assert!(error.starts_with(problem), "{key}: {error}");
        }
    }
}
