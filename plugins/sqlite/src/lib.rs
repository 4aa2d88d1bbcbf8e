//! The `sqlite` plugin: `sqlitereader` and `sqlitewriter`.

mod config;
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
);
