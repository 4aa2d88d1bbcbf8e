//! `streamreader` makes records out of nothing, `streamwriter` prints them, keeps them in a file, or throws them away:
//! the two ends for trying out everything between.

mod columns;
mod config;
mod pace;
mod parts;
mod pause;
mod random;
mod reader;
mod replay;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod work;
mod writer;

use transship_plugin_api::{Parameter, Plugin, export_plugin};

const TYPES: &str = r#""STRING", "LONG", "BOOL", "DOUBLE", "DATE", "BYTES", "INT" or "BOOLEAN""#;

const READER: &[Parameter] = &[
    Parameter::optional(
        "column",
        "list of objects",
        "required without replay",
        "the columns, each with value, random or sequence",
    ),
    Parameter::optional("sliceRecordCount", "integer", "required without replay", "how many records each task makes"),
    Parameter::optional("column[].name", "string", "col0, col1…", "the column's name"),
    Parameter::optional("column[].type", TYPES, "STRING", "the type of its values"),
    Parameter::optional("column[].value", "string, number or boolean", "", "the value of every record"),
    Parameter::optional("column[].random", "string", "", "\"a,b\": random values, or lengths of texts, from a to b"),
    Parameter::optional("column[].sequence", "string", "", "\"start,step\": numbers that no two records share"),
    Parameter::optional("column[].dateFormat", "string", config::DATE_FORMAT, "the form of dates in value and random"),
    Parameter::optional("seed", "integer", "another in every run", "the same seed makes the same random values"),
    Parameter::optional("rate", "number", "as fast as possible", "records a second of each task"),
    Parameter::optional(
        "replay",
        "object",
        "",
        "a stream of events of many clients, some of them twice, in place of columns",
    ),
    Parameter::optional("replay.rate", "number", "1000", "events a second, those that come twice counted once"),
    Parameter::optional("replay.clients", "integer", "100", "how many clients send them, each as likely as the others"),
    Parameter::optional("replay.firstClient", "integer", "1000", "the first client's number; the others follow it"),
    Parameter::optional(
        "replay.hotShare",
        "number",
        "0",
        "the share of events that the first client sends beside its part of the others",
    ),
    Parameter::optional("replay.duplicates", "number", "0.01", "the share of events that come a second time"),
    Parameter::optional(
        "replay.delay",
        "list of strings",
        "10 ms, 5 s",
        "how much later they come again, at least and at most",
    ),
    Parameter::optional("replay.seconds", "number", "no end", "for how long new events come"),
    Parameter::optional("replay.events", "integer", "no end", "how many new events come"),
    Parameter::optional("replay.seed", "integer", "another in every run", "the same seed makes the same events"),
    Parameter::optional(
        "replay.realTime",
        "boolean",
        "true",
        "whether events come at their times; false: as fast as possible",
    ),
    Parameter::optional(
        "replay.linger",
        "string",
        "5 ms",
        "how long an event waits for others to travel with; 0: each one travels alone",
    ),
];

const WRITER: &[Parameter] = &[
    Parameter::optional("print", "boolean", "true, with work false", "print records; false discards them"),
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
    Parameter::optional(
        "work",
        "object",
        "",
        "a service that takes its time over each record of a task, one after another",
    ),
    Parameter::optional("work.mean", "string", "0", "how long it takes on average, like \"10 ms\""),
    Parameter::optional("work.deviation", "string", "0", "the standard deviation of that, like \"1 ms\""),
    Parameter::optional("work.seed", "integer", "another in every run", "the same seed makes the same times"),
    Parameter::optional(
        "work.order",
        "object",
        "",
        "fails the job if records of a key are out of order or in two tasks at once",
    ),
    Parameter::required("work.order.key", "string", "the column of the key"),
    Parameter::required(
        "work.order.sequence",
        "string",
        "a column of whole numbers that grow with each record of the key",
    ),
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
