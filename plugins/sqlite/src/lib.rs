//! The `sqlite` plugin: `sqlitereader`, `sqlitewriter` and `sqlitelookup`.

mod config;
mod lookup;
mod reader;
mod writer;

mod clock;
mod connection;
mod number;
mod split;
mod table;
mod types;

#[cfg(test)]
mod tests;

use transship_plugin_api::Plugin;

transship_plugin_api::export_plugin!(
    Plugin::new("sqlite", env!("CARGO_PKG_VERSION"))
        .urls(&["jdbc:sqlite:"])
        .reader(
            &["sqlitereader", "sqlite", "rdbmsreader"],
            "Reads tables and queries of a SQLite database, a large table in several splits.",
            config::READER_PARAMETERS,
            reader::new,
        )
        .writer(
            &["sqlitewriter", "sqlite", "rdbmswriter"],
            "Writes into a table of a SQLite database, one transaction per task.",
            config::WRITER_PARAMETERS,
            writer::new,
        )
        .lookup(
            &["sqlitelookup", "sqlite"],
            "Finds rows of a SQLite database by their keys, on several connections at once.",
            config::LOOKUP_PARAMETERS,
            lookup::new,
        )
);
