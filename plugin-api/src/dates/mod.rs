//! Calendar dates and times of day: between counts since 1970-01-01 and years, months, days; as ISO 8601 text; and by
//! patterns like `yyyy-MM-dd HH:mm:ss` ([`DatePattern`]). The calendar is the Gregorian one, extended to all years.
//! and as a job file's `common.column` says ([`ColumnFormats`]). A count is a local time or a UTC instant, as its column says.

mod formats;
mod iso;
mod moment;
mod pattern;
#[cfg(test)]
mod tests;
mod usual;
mod zone;

pub use formats::ColumnFormats;
pub use iso::{write_date, write_duration, write_interval, write_time, write_timestamp};
pub use pattern::DatePattern;
pub use usual::{Cause, parse_date, parse_date_by, split_offset};
pub use zone::Zone;

/// Microseconds in a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds in a day.
pub const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

const DAYS_PER_ERA: i64 = 146_097;
const YEARS_PER_ERA: i64 = 400;
/// Days from 0000-03-01, where the first era begins, to 1970-01-01.
const EPOCH: i64 = 719_468;

/// The day's number, 1970-01-01 being 0; `None` where the calendar has no such day.
pub fn days_from_civil(year: i64, month: u32, day: u32) -> Option<i64> {
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    // Years are taken to begin in March, so that the leap day is the last of its year. An era is 400 such years.
    let year = year.checked_sub((month <= 2) as i64)?;
    let era = year.div_euclid(YEARS_PER_ERA);
    let year_of_era = year.rem_euclid(YEARS_PER_ERA);
    let months_since_march = (month as i64 + 9) % 12;
    let day_of_year = (153 * months_since_march + 2) / 5 + day as i64 - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era.checked_mul(DAYS_PER_ERA)?.checked_add(day_of_era - EPOCH)
}

/// Year, month and day of a day's number. Days further than 2^40 from 1970 (three billion years) are taken as that far.
pub fn civil_from_days(days: i64) -> (i64, u32, u32) {
    const FAR: i64 = 1 << 40;
    let days = days.clamp(-FAR, FAR) + EPOCH;
    let era = days.div_euclid(DAYS_PER_ERA);
    let day_of_era = days.rem_euclid(DAYS_PER_ERA) as u32;
    // Take off the leap days before it, and what is left is years of 365 days.
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months_since_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let month = (months_since_march + 2) % 12 + 1;
    (era * YEARS_PER_ERA + year_of_era as i64 + (month <= 2) as i64, month, day)
}

/// How many days a month (1 to 12) has.
pub fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The day of the week, Monday being 0.
fn weekday(days: i64) -> usize {
    (days + 3).rem_euclid(7) as usize
}
