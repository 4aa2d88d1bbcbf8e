//! `streamreader` makes records out of nothing, `streamwriter` prints them, keeps them in a file, or throws them away:
//! the two ends for trying out everything between.

mod columns;
mod config;
mod pace;
mod parts;
mod pause;
mod random;
mod reader;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod writer;

use transship_plugin_api::{Parameter, Plugin, export_plugin};

const TYPES: &str = r#""STRING", "LONG", "BOOL", "DOUBLE", "DATE", "BYTES", "INT" or "BOOLEAN""#;

const READER: &[Parameter] = &[
    Parameter::required("column", "list of objects", "the columns, each with value, random or sequence"),
    Parameter::required("sliceRecordCount", "integer", "how many records each task makes"),
    Parameter::optional("column[].name", "string", "col0, col1…", "the column's name"),
    Parameter::optional("column[].type", TYPES, "STRING", "the type of its values"),
    Parameter::optional("column[].value", "string, number or boolean", "", "the value of every record"),
    Parameter::optional("column[].random", "string", "", "\"a,b\": random values, or lengths of texts, from a to b"),
    Parameter::optional("column[].sequence", "string", "", "\"start,step\": numbers that no two records share"),
    Parameter::optional("column[].dateFormat", "string", config::DATE_FORMAT, "the form of dates in value and random"),
    Parameter::optional("seed", "integer", "another in every run", "the same seed makes the same random values"),
    Parameter::optional("rate", "number", "as fast as possible", "records a second of each task"),
];

const WRITER: &[Parameter] = &[
    Parameter::optional("print", "boolean", "true", "print records; false discards them"),
    Parameter::optional("fieldDelimiter", "string", "a tab", "what stands between values"),
    Parameter::optional("path", "string", "", "the directory of the file to write instead of printing"),
    Parameter::optional("fileName", "string", "", "the name of that file"),
    Parameter::optional(
        "recordNumBeforeSleep",
        "integer",
        "0",
        "each task sleeps once after so many records; files only",
    ),
    Parameter::optional("sleepTime", "integer", "0", "how many seconds it sleeps"),
    Parameter::optional("encoding", "string", "UTF-8", "ignored: output is UTF-8"),
];

export_plugin!(
    Plugin::new("stream", env!("CARGO_PKG_VERSION"))
        .reader(
            &["streamreader", "stream"],
            "Makes records of constants, sequences and random values.",
            READER,
            reader::new
        )
        .writer(
            &["streamwriter", "stream"],
            "Prints records, writes them to a file, or discards them.",
            WRITER,
            writer::new
        )
);
