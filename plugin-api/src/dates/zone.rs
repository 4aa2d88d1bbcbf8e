//! Time zones: what Java and the IANA database call them, and how far each is ahead of UTC at a moment.

use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, civil};

use super::MICROS_PER_SECOND;
use crate::params::nearest;

/// A time zone: a fixed distance from UTC, or a place whose distance changes with the seasons and with history.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    rules: Rules,
}

#[derive(Debug, Clone, PartialEq)]
enum Rules {
    /// So many seconds ahead of UTC.
    Fixed(i32),
    Place(TimeZone),
}

/// Abbreviations that Java knows and the IANA database doesn't, and the zones that Java takes them for.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

impl Zone {
    /// Universal time.
    pub const UTC: Zone = Zone::fixed(0);

    /// The zone that is always so many seconds ahead of UTC.
    pub const fn fixed(seconds: i32) -> Zone {
        Zone { rules: Rules::Fixed(seconds) }
    }

    /// The zone with this name: `UTC`, `GMT+8`, `GMT+08:00`, `+0800`, `Asia/Shanghai`, and Java's abbreviations, which are
    /// taken as there (`CST` is Chicago's).
    ///
    /// # Errors
    /// What is wrong with the name and what was probably meant, to continue "… is ".
    pub fn parse(name: &str) -> Result<Zone, String> {
        let name = name.trim();
        if let Some(seconds) = fixed_offset(name) {
            return Ok(Zone::fixed(seconds));
        }
        let places = TimeZoneDatabase::bundled();
        let place = abbreviated(name).unwrap_or(name);
        if let Ok(zone) = places.get(place) {
            return Ok(Zone { rules: Rules::Place(zone) });
        }
        let known: Vec<String> = places.available().map(|known| known.to_string()).collect();
        let hint = nearest(name, known.iter().map(String::as_str)).unwrap_or("Asia/Shanghai or GMT+08:00");
        let verb = if hint.contains(" or ") { "write one like" } else { "did you mean" };
        let end = if verb == "did you mean" { "?" } else { "" };
        Err(format!("\"{name}\", which is no time zone; {verb} {hint}{end}"))
    }

    /// How many seconds its clocks are ahead of UTC at an instant, given in microseconds since 1970-01-01 UTC.
    pub fn offset_at(&self, instant: i64) -> i32 {
        match &self.rules {
            Rules::Fixed(seconds) => *seconds,
            Rules::Place(place) => {
                let far = if instant < 0 { Timestamp::MIN } else { Timestamp::MAX };
                place.to_offset(Timestamp::from_microsecond(instant).unwrap_or(far)).seconds()
            }
        }
    }

    /// What its clocks show at an instant, in microseconds since 1970-01-01 00:00:00. `None` beyond the end of time.
    pub fn local(&self, instant: i64) -> Option<i64> {
        instant.checked_add(self.offset_at(instant) as i64 * MICROS_PER_SECOND)
    }

    /// The instant at which its clocks show this. Where they show it twice, the later one, as Java's calendar takes it; where
    /// they skip it, as long after the skip as it is after its beginning. `None` beyond the end of time.
    pub fn instant(&self, local: i64) -> Option<i64> {
        let offset = match &self.rules {
            Rules::Fixed(seconds) => *seconds,
            Rules::Place(place) => {
                let shown = Timestamp::from_microsecond(local).map(|shown| TimeZone::UTC.to_datetime(shown));
                let far = if local < 0 { civil::DateTime::MIN } else { civil::DateTime::MAX };
                match place.to_ambiguous_timestamp(shown.unwrap_or(far)).offset() {
                    AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
                    AmbiguousOffset::Gap { before, .. } => before.seconds(),
                    AmbiguousOffset::Fold { after, .. } => after.seconds(),
                }
            }
        };
        local.checked_sub(offset as i64 * MICROS_PER_SECOND)
    }
}

/// The place that Java takes an abbreviation for.
pub(super) fn abbreviated(name: &str) -> Option<&'static str> {
    ABBREVIATIONS.iter().find(|(short, _)| *short == name.trim()).map(|(_, place)| *place)
}

/// The seconds of `Z`, `UTC`, `GMT+8`, `GMT+08:00`, `+0800`, `UTC-3`; `None` if the name is none of these.
fn fixed_offset(name: &str) -> Option<i32> {
    let rest = ["UTC", "GMT", "UT", "Z"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let (sign, digits) = match rest.as_bytes() {
        [] if !name.is_empty() => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let number = |digits: &[u8]| digits.iter().fold(0, |number, digit| number * 10 + i32::from(digit - b'0'));
    let (hours, minutes) = match digits {
        [hours @ .., b':', _, _] => (hours, &digits[hours.len() + 1..]),
        [hours @ .., _, _] if !hours.is_empty() => (hours, &digits[hours.len()..]),
        hours => (hours, &[][..]),
    };
    let plain = !hours.is_empty() && hours.len() <= 2 && hours.iter().chain(minutes).all(u8::is_ascii_digit);
    (plain && number(hours) <= 18 && number(minutes) <= 59).then(|| sign * (number(hours) * 60 + number(minutes)) * 60)
}
