//! How instants are read so that each is exact, and `where` means what it means elsewhere.
//!
//! A TIMESTAMP is sent as the session's clock shows it. Of a clock that changes in summer, an hour a year is shown twice: such a
//! clock tells no instants. But it must not be set to another zone where the job has words that depend on it.

use arrow_schema::{DataType, Schema};
use transship_sql::parameters::{Columns, Source, What};
use transship_sql::{MySql, names};

use crate::config::ReaderConfig;
use crate::session::Clock;

/// How instants are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instants {
    /// As the session's clock shows them: it is always as far ahead of UTC, or there are none.
    Shown,
    /// As a clock shows them that the session gets.
    Fixed,
    /// As seconds since 1970.
    Counted,
}

impl Instants {
    /// Of a source with these columns.
    pub(super) fn of(config: &ReaderConfig, source: &Source, schema: &Schema, clock: Clock) -> Instants {
        if !clock.changes || !schema.fields().iter().any(|field| is_instant(field.data_type())) {
            return Instants::Shown;
        }
        let What::Table(_) = &source.what else { return Instants::Fixed };
        let Columns::Named(entries) = &config.columns else {
            return if config.condition.is_some() { Instants::Counted } else { Instants::Fixed };
        };
        // Names depend on no clock. What else there is may: so it is only fixed where nothing else helps.
        let is_name = |entry: &String| names::column(entry, &MySql).is_some();
        let are_names = entries.iter().all(is_name);
        let can_be_counted = entries.len() == schema.fields().len()
            && entries
                .iter()
                .zip(schema.fields())
                .all(|(entry, field)| !is_instant(field.data_type()) || is_name(entry));
        match can_be_counted && !(are_names && config.condition.is_none()) {
            true => Instants::Counted,
            false => Instants::Fixed,
        }
    }

    /// Says what a clock that was fixed makes of the job's words.
    pub(super) fn warn(self, config: &ReaderConfig, source: &Source, clock: Clock) {
        let has_words = match &source.what {
            What::Query(..) => true,
            What::Table(_) => {
                let plain = |entry: &String| names::column(entry, &MySql).is_some();
                let are_names = match &config.columns {
                    Columns::All => true,
                    Columns::Named(entries) => entries.iter().all(plain),
                };
                config.condition.is_some() || !are_names
            }
        };
        if self == Instants::Fixed && has_words {
            let minutes = clock.offset_seconds.abs() / 60;
            let sign = if clock.offset_seconds < 0 { '-' } else { '+' };
            log::warn!(
                "{}: the server's clock changes in summer, and it shows one hour of the year twice; so that each TIMESTAMP is read as \
                 the instant that it is, this session's clock is always at {sign}{:02}:{:02}: conditions on TIMESTAMP columns \
                 mean that. Read unix_timestamp(column) in place of the column, or name tables in place of a query, and the \
                 clock stays the server's",
                source.name(),
                minutes / 60,
                minutes % 60
            );
        }
    }
}

pub(super) fn is_instant(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(_, Some(_)))
}
