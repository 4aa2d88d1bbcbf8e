//! Dates and times: how the job has them written into a column, and which texts a column of dates takes.
//! Not here: all other values (`store`), and the forms that SQLite itself knows (`clock`).

use arrow_schema::{DataType, Field};
use transship_plugin_api::ColumnFormats;
use transship_plugin_api::dates::{MICROS_PER_DAY, Zone, parse_date};
use transship_plugin_api::row::{Infinity, Value};

use crate::clock;
use crate::types::{Kind, Target};

/// How dates and times are written into a column.
#[derive(Debug, Clone)]
pub(crate) struct Dates {
    pub(super) formats: ColumnFormats,
    pub(super) zone: Zone,
}

impl Dates {
    /// What the job says of a column like this. Its formats are for text columns: all others have the form that SQLite
    /// knows. Instants in a column that is declared to have no zone are what clocks in the job's zone show.
    pub(in crate::writer) fn of(
        formats: &ColumnFormats,
        field: &Field,
        declared: &str,
        target: Target,
    ) -> Option<Dates> {
        let column_zone = match field.data_type() {
            DataType::Timestamp(_, zone) => zone.as_deref(),
            _ => None,
        };
        let has_no_zone = Kind::declared(declared) == Some(Kind::Timestamp);
        let formats = match target {
            Target::Text if formats.says_how_dates_are_written() => formats.clone(),
            _ if has_no_zone && column_zone.is_some() && formats.zone().is_some() => {
                formats.clone().without_date_formats()
            }
            _ => return None,
        };
        let zone = formats.zone_of(column_zone.unwrap_or("UTC"));
        Some(Dates { formats, zone })
    }
}

/// What a text is to a column of dates.
pub(super) enum DateText {
    /// A date or time in a usual form, which stays as it is.
    Kept,
    /// One in a form of the job's own, or eight digits, of which SQLite would make a number.
    Rewritten(Value<'static>),
}

/// What a text is to a column of such dates.
///
/// # Errors
/// Why it is no date.
pub(super) fn read(text: &str, kind: Kind, formats: &ColumnFormats) -> Result<DateText, String> {
    let bytes = text.as_bytes();
    if text.trim().is_empty() {
        return Err("the text is empty, which is no date".into());
    }
    match formats.parse_moment(bytes) {
        Ok(moment) if parse_date(bytes) == Ok(moment) && !bytes.iter().all(u8::is_ascii_digit) => Ok(DateText::Kept),
        Ok(moment) => Ok(DateText::Rewritten(of_kind(moment, kind, formats)?)),
        // Those with a zone, or finer than a microsecond, are dates too.
        Err(_) if clock::is_date_or_time(bytes) => Ok(DateText::Kept),
        Err(_) if kind != Kind::Time && Infinity::parse(bytes).is_some() => Ok(DateText::Kept),
        Err(_) => {
            let example = match kind {
                Kind::Date => "no date like 2024-02-29",
                Kind::Time => "no time like 23:59:59",
                _ => "no date like 2024-02-29 23:59:59",
            };
            Err(format!("the text is {example}; other forms go into \"extraFormats\" of the job file's common.column"))
        }
    }
}

/// A local time as a value of a column of dates; with its time of day where there is one, for nothing may be lost.
fn of_kind(moment: i64, kind: Kind, formats: &ColumnFormats) -> Result<Value<'static>, String> {
    Ok(match kind {
        Kind::Date if moment % MICROS_PER_DAY == 0 => Value::Date((moment / MICROS_PER_DAY) as i32),
        Kind::Time if (0..MICROS_PER_DAY).contains(&moment) => Value::Time(moment),
        Kind::Instant => Value::Instant(formats.instant_micros(moment).ok_or("the date is too far from now")?),
        _ => Value::Timestamp(moment),
    })
}
