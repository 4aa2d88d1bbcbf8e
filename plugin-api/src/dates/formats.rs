//! `common.column` of a job file: how dates become text, text becomes dates, and where local times meet instants, in all
//! columns that say nothing else.

use super::MICROS_PER_SECOND;
use super::iso::{self, Clock};
use super::pattern::{DatePattern, push_offset};
use super::usual::{Cause, TOO_FAR, parse_date_but};
use super::zone::{Zone, abbreviated};
use crate::encoding::Encoding;
use crate::error::Result;
use crate::params::Params;

const NANOS_PER_SECOND: i128 = 1_000_000_000;
/// Where DataX lets numbers and dates meet if a job says nothing else.
const DATAX_ZONE: Zone = Zone::fixed(8 * 3_600);

/// `common.column` of a job file: how dates become text and text becomes dates where a column says nothing else.
///
/// **A timestamp without a zone is what a clock on a wall shows, and is never shifted**: text to date to text gives the same
/// text, whatever the zone. `timeZone` says which clock it is where one has to be known:
///
/// | from \ to | with `timeZone` | without |
/// | --- | --- | --- |
/// | local time \ milliseconds since 1970, and back | in that zone | in GMT+8, DataX's default: the same numbers as there |
/// | instant \ text | what that zone's clock shows | the clock of the column's zone, else UTC's, with its offset (`+00:00`) unless `datetimeFormat` is written |
/// | instant \ local time, and back | in that zone | in UTC |
///
/// A zone is one by Java's names or those of the IANA database ([`Zone::parse`]). DataX takes an unknown one for GMT; here it is
/// an error.
///
/// **Formats that are written are followed to the letter**, so `yyyy-MM-dd HH:mm:ss` cuts a fraction of a second off. Where
/// none is written dates are `2020-01-02`, times `03:04:05`, moments `2020-01-02 03:04:05`, and a fraction is shown where
/// there is one.
///
/// **Reading** tries the written formats (`datetimeFormat`, `dateFormat`, `timeFormat`, `extraFormats`), then the
/// [usual forms](super::parse_date). It is strict where DataX is lenient: all of the text must be a date that exists. As
/// lists do in DataX, `extraFormats` replaces the default list `["yyyyMMdd"]` item by item: `[]` changes nothing.
#[derive(Debug, Clone)]
pub struct ColumnFormats {
    datetime: Option<DatePattern>,
    date: Option<DatePattern>,
    time: Option<DatePattern>,
    /// What is tried in reading before the usual forms: all of the written ones.
    reading: Vec<DatePattern>,
    /// Whether `yyyyMMdd` is still among the extra formats.
    compact: bool,
    zone: Option<Zone>,
    encoding: Encoding,
}

impl Default for ColumnFormats {
    fn default() -> ColumnFormats {
        ColumnFormats {
            datetime: None,
            date: None,
            time: None,
            reading: Vec::new(),
            compact: true,
            zone: None,
            encoding: Encoding::Utf8,
        }
    }
}

impl ColumnFormats {
    /// What a plugin's parameters say under `common`, where the engine puts the job file's object of that name.
    ///
    /// # Errors
    /// `Config`: a pattern, zone or encoding that means nothing, with its path in the job file.
    pub fn read(parameter: &Params<'_>) -> Result<ColumnFormats> {
        // Paths are those of the job file, where people look for them.
        let column = match parameter.value("common") {
            Some(common) => Params::new(common, "common")?.object("column")?,
            None => None,
        };
        column.map_or_else(|| Ok(ColumnFormats::default()), |column| ColumnFormats::of(&column))
    }

    /// What a `common.column` object says.
    ///
    /// # Errors
    /// As [`ColumnFormats::read`].
    pub fn of(column: &Params<'_>) -> Result<ColumnFormats> {
        let written = |key| Ok::<_, crate::Error>(column.text(key)?.filter(|text| !text.trim().is_empty()));
        let pattern = |key| {
            let parse = |text: String| DatePattern::parse(&text).map_err(|error| error.context(column.path(key)));
            written(key)?.map(parse).transpose()
        };
        let extra = column.texts("extraFormats")?;
        let parse = |(index, text): (usize, &String)| {
            let at = || format!("{}[{index}]", column.path("extraFormats"));
            DatePattern::parse(text).map_err(|error| error.context(at()))
        };
        // A blank pattern would take every blank text for the beginning of 1970.
        let not_blank = |(_, text): &(usize, &String)| !text.trim().is_empty();
        let patterns = [pattern("datetimeFormat")?, pattern("dateFormat")?, pattern("timeFormat")?];
        let mut reading: Vec<DatePattern> = patterns.iter().flatten().cloned().collect();
        for pattern in extra.iter().enumerate().filter(not_blank).map(parse) {
            reading.push(pattern?);
        }
        let [datetime, date, time] = patterns;
        Ok(ColumnFormats {
            datetime,
            date,
            time,
            reading,
            compact: extra.is_empty(),
            zone: match written("timeZone")? {
                Some(name) => {
                    if let Some(place) = abbreviated(&name) {
                        let path = column.path("timeZone");
                        log::warn!(
                            "{path} is \"{name}\", taken for {place} as in Java; write {place} or what is meant"
                        );
                    }
                    let zone = Zone::parse(&name);
                    Some(zone.map_err(|problem| column.error("timeZone", format_args!("is {problem}")))?)
                }
                None => None,
            },
            encoding: match written("encoding")? {
                Some(name) => Encoding::from_name(&name).ok_or_else(|| {
                    column.error("encoding", format_args!("is \"{name}\", which is no encoding; write utf-8 or gbk"))
                })?,
                None => Encoding::Utf8,
            },
        })
    }

    /// The same, but days and moments are written by this pattern: a writer's own setting goes before the job's.
    pub fn with_date_format(self, pattern: DatePattern) -> ColumnFormats {
        ColumnFormats { datetime: Some(pattern.clone()), date: Some(pattern), ..self }
    }

    /// The same zone and encoding without any format, for targets that have a form of their own for dates.
    pub fn without_date_formats(self) -> ColumnFormats {
        ColumnFormats { zone: self.zone, encoding: self.encoding, ..ColumnFormats::default() }
    }

    /// Whether the job file says anything of how dates are written: a format for them, or a zone.
    pub fn says_how_dates_are_written(&self) -> bool {
        self.datetime.is_some() || self.date.is_some() || self.time.is_some() || self.zone.is_some()
    }

    /// Appends a day, counted from 1970-01-01.
    pub fn write_date(&self, out: &mut String, days: i64) {
        match &self.date {
            Some(pattern) => pattern.format_clock_into(Clock { days, seconds: 0, nanos: 0 }, 0, out),
            None => iso::write_date(out, days),
        }
    }

    /// Appends a time of day, in nanoseconds since midnight.
    pub fn write_time(&self, out: &mut String, nanos: i128) {
        match &self.time {
            Some(pattern) => pattern.format_clock_into(Clock { days: 0, ..Clock::of_nanos(nanos) }, 0, out),
            None => iso::write_time(out, nanos),
        }
    }

    /// Appends a moment, in nanoseconds since 1970-01-01: a local time or an instant.
    pub fn write_moment(&self, out: &mut String, nanos: i128, instant: bool) {
        if instant {
            self.write_instant(out, nanos, self.zone.as_ref().unwrap_or(&Zone::UTC));
        } else {
            self.write_clock(out, Clock::of_nanos(nanos), 0);
        }
    }

    /// Appends an instant, in nanoseconds since 1970-01-01 UTC, as the clocks of a zone show it:
    /// [that of its column](ColumnFormats::zone_of). Their offset follows where the job file says neither zone nor format.
    pub fn write_instant(&self, out: &mut String, nanos: i128, zone: &Zone) {
        let offset = zone.offset_at((nanos / 1_000) as i64);
        self.write_clock(out, Clock::of_nanos(nanos + offset as i128 * NANOS_PER_SECOND), offset);
        self.write_offset(out, offset);
    }

    /// As [`ColumnFormats::write_moment`] of a local time in microseconds, which is what nearly all columns have, and faster.
    pub(crate) fn write_local_micros(&self, out: &mut String, micros: i64) {
        self.write_clock(out, Clock::of_micros(micros), 0);
    }

    /// As [`ColumnFormats::write_instant`] of microseconds.
    pub(crate) fn write_instant_micros(&self, out: &mut String, micros: i64, zone: &Zone) {
        let offset = zone.offset_at(micros);
        match micros.checked_add(offset as i64 * MICROS_PER_SECOND) {
            Some(local) => {
                self.write_clock(out, Clock::of_micros(local), offset);
                self.write_offset(out, offset);
            }
            None => self.write_instant(out, micros as i128 * 1_000, zone),
        }
    }

    /// Appends what a clock shows that is so many seconds ahead of UTC.
    #[inline]
    fn write_clock(&self, out: &mut String, clock: Clock, offset: i32) {
        match &self.datetime {
            Some(pattern) => pattern.format_clock_into(clock, offset, out),
            None => clock.write(out, ' '),
        }
    }

    fn write_offset(&self, out: &mut String, offset: i32) {
        if self.zone.is_none() && self.datetime.is_none() {
            push_offset(out, offset, true, true);
        }
    }

    /// The zone whose clocks show the instants of a column: that of the job file; where it says none, that of the column, if it
    /// is a known one, or else UTC.
    pub fn zone_of(&self, column_zone: &str) -> Zone {
        self.zone.clone().unwrap_or_else(|| Zone::parse(column_zone).unwrap_or(Zone::UTC))
    }

    /// The local time that a text is, in microseconds since 1970-01-01 00:00:00.
    ///
    /// # Errors
    /// Why it is none.
    #[inline]
    pub fn parse_moment(&self, text: &[u8]) -> Result<i64, Cause> {
        if !self.reading.is_empty()
            && let Some(moment) = self.parse_by_written(text)
        {
            return moment;
        }
        parse_date_but(text, self.compact)
    }

    fn parse_by_written(&self, text: &[u8]) -> Option<Result<i64, Cause>> {
        let text = std::str::from_utf8(text).ok()?;
        self.reading.iter().find_map(|pattern| {
            let micros = pattern.parse_micros(text)?;
            let local = if pattern.has_zone() { self.local_micros(micros) } else { Some(micros) };
            Some(local.ok_or(TOO_FAR.into()))
        })
    }

    /// The milliseconds since 1970-01-01 UTC at which a clock shows a local time: what DataX calls a date as a Long.
    /// Parts of a millisecond are cut off. `None` beyond the end of time.
    pub fn millis_since_epoch(&self, local_micros: i64) -> Option<i64> {
        Some(self.zone.as_ref().unwrap_or(&DATAX_ZONE).instant(local_micros)?.div_euclid(1_000))
    }

    /// What a clock shows so many milliseconds after 1970-01-01 UTC: what DataX calls a Long as a date.
    pub fn local_of_millis(&self, millis: i64) -> Option<i64> {
        self.zone.as_ref().unwrap_or(&DATAX_ZONE).local(millis.checked_mul(1_000)?)
    }

    /// The local time of an instant, both in microseconds. `None` beyond the end of time.
    pub fn local_micros(&self, instant_micros: i64) -> Option<i64> {
        self.zone.as_ref().unwrap_or(&Zone::UTC).local(instant_micros)
    }

    /// The instant of a local time, both in microseconds. `None` beyond the end of time.
    pub fn instant_micros(&self, local_micros: i64) -> Option<i64> {
        self.zone.as_ref().unwrap_or(&Zone::UTC).instant(local_micros)
    }

    /// The zone, where the job file names one.
    pub fn zone(&self) -> Option<&Zone> {
        self.zone.as_ref()
    }

    /// How text becomes bytes and bytes become text.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }
}
