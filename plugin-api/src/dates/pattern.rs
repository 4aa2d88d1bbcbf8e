//! Dates by a pattern, in the letters of Java's `SimpleDateFormat`, which DataX job files use.

use std::time::{SystemTime, UNIX_EPOCH};

use super::iso::Clock;
use super::moment::{MONTHS, Moment, WEEKDAYS, take_number};
use super::{civil_from_days, days_from_civil, weekday};
use crate::digits::{push_digits, push_signed};
use crate::error::{Error, Result};

const LETTERS: &str = "y M d D E a H k K h m s S z Z X";

/// A pattern like `yyyy-MM-dd HH:mm:ss`, made once and used for many values.
///
/// | letters | stand for |
/// | --- | --- |
/// | `yyyy`, `yy` | year; of two digits, the one within 80 years before and 19 after this year |
/// | `M` `MM`, `MMM`, `MMMM` | month as a number, `Feb`, `February` |
/// | `d`, `D`, `E` `EEEE` | day of the month, day of the year, day of the week (`Thu`, `Thursday`) |
/// | `H`, `k`, `K`, `h`, `a` | hour 0 to 23, 1 to 24, 0 to 11, 1 to 12, `AM` or `PM` |
/// | `m`, `s`, `S` | minute, second, fraction of a second (`SSS`: three digits of it) |
/// | `Z`, `X` `XX` `XXX`, `z` | offset from UTC: `+0800`, `+08` `+0800` `+08:00`, `UTC` |
/// | `'text'`, `''`, other characters | themselves |
///
/// Reading is strict where `SimpleDateFormat` is lenient: no 13th month or 30th of February, no hour 25, nothing before or
/// behind the date. As there, a number may have fewer digits than letters (`2024-2-9`) unless a number follows directly.
#[derive(Debug, Clone)]
pub struct DatePattern {
    text: String,
    pieces: Vec<Piece>,
    has_zone: bool,
    /// The year that two-digit years begin with: `yy` gives this one or one of the 99 after it.
    first_short_year: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(Box<str>),
    /// A field, how many letters it has, and whether a number follows so directly that only the width tells where it ends.
    Field {
        field: Field,
        width: usize,
        abutting: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Year,
    Month,
    MonthName,
    Day,
    DayOfYear,
    Weekday,
    HalfDay,
    Hour,
    HourFrom1,
    HalfHour,
    HalfHourFrom1,
    Minute,
    Second,
    Fraction,
    Offset,
    IsoOffset,
    ZoneName,
}

impl Field {
    fn of(letter: char, width: usize) -> Option<Field> {
        Some(match letter {
            'y' => Field::Year,
            'M' if width < 3 => Field::Month,
            'M' => Field::MonthName,
            'd' => Field::Day,
            'D' => Field::DayOfYear,
            'E' => Field::Weekday,
            'a' => Field::HalfDay,
            'H' => Field::Hour,
            'k' => Field::HourFrom1,
            'K' => Field::HalfHour,
            'h' => Field::HalfHourFrom1,
            'm' => Field::Minute,
            's' => Field::Second,
            'S' => Field::Fraction,
            'Z' => Field::Offset,
            'X' => Field::IsoOffset,
            'z' => Field::ZoneName,
            _ => return None,
        })
    }

    fn is_number(self) -> bool {
        !matches!(
            self,
            Field::MonthName | Field::Weekday | Field::HalfDay | Field::Offset | Field::IsoOffset | Field::ZoneName
        )
    }

    fn is_zone(self) -> bool {
        matches!(self, Field::Offset | Field::IsoOffset | Field::ZoneName)
    }

    /// How many digits it has at most, where nothing else limits them.
    fn most_digits(self, width: usize) -> usize {
        match self {
            Field::Year => width.max(6),
            Field::DayOfYear => width.max(3),
            Field::Fraction => 9,
            _ => width.max(2),
        }
    }
}

impl DatePattern {
    /// Takes a pattern apart.
    ///
    /// # Errors
    /// `Config`, with the pattern and what is wrong with it: an unknown letter, an open quote, a date said twice.
    pub fn parse(pattern: &str) -> Result<DatePattern> {
        let this_year = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(1970, |since| civil_from_days((since.as_secs() / 86_400) as i64).0);
        DatePattern::parse_in_year(pattern, this_year)
    }

    pub(super) fn parse_in_year(pattern: &str, this_year: i64) -> Result<DatePattern> {
        let problem = |what: String| Error::config(format!("date pattern \"{pattern}\" {what}"));
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = pattern.chars().peekable();
        while let Some(first) = rest.next() {
            if first == '\'' {
                if !take_quoted(&mut rest, &mut literal) {
                    return Err(problem("has a quote that is not closed".into()));
                }
            } else if first.is_ascii_alphabetic() {
                let mut width = 1;
                while rest.next_if_eq(&first).is_some() {
                    width += 1;
                }
                let field = Field::of(first, width).ok_or_else(|| problem(unknown_letter(first)))?;
                if field == Field::Fraction && width > 9 {
                    return Err(problem("has more than nine S: a fraction of a second goes to nanoseconds".into()));
                }
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal).into()));
                }
                pieces.push(Piece::Field { field, width, abutting: false });
            } else {
                literal.push(first);
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal.into()));
        }
        let has =
            |wanted: Field| pieces.iter().any(|piece| matches!(piece, Piece::Field { field, .. } if *field == wanted));
        if has(Field::DayOfYear) && (has(Field::Month) || has(Field::MonthName) || has(Field::Day)) {
            return Err(problem(
                "has D, the day of the year, beside a month or day: use d for the day of the month".into(),
            ));
        }
        mark_abutting(&mut pieces);
        let has_zone = pieces.iter().any(|piece| matches!(piece, Piece::Field { field, .. } if field.is_zone()));
        Ok(DatePattern { text: pattern.into(), pieces, has_zone, first_short_year: this_year - 80 })
    }

    /// The pattern as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it tells the offset from UTC, so that what it reads are instants rather than local times.
    pub fn has_zone(&self) -> bool {
        self.has_zone
    }

    /// Reads a text: microseconds since 1970-01-01, local or, where the pattern [has a zone](DatePattern::has_zone), in
    /// UTC. What the pattern doesn't name is that of 1970-01-01 00:00:00. `None` where the text doesn't follow the pattern
    /// in full, names a moment that doesn't exist, or one that microseconds cannot hold.
    pub fn parse_micros(&self, text: &str) -> Option<i64> {
        let mut rest = text.as_bytes();
        let mut moment = Moment::default();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => match (literal.as_bytes(), rest) {
                    ([byte], [first, others @ ..]) if byte == first => rest = others,
                    (bytes, _) => rest = rest.strip_prefix(bytes)?,
                },
                Piece::Field { field, width, abutting } if field.is_number() => {
                    let digits = if *abutting { *width } else { field.most_digits(*width) };
                    let (number, length) = take_number(rest, digits)?;
                    if *abutting && length < *width {
                        return None;
                    }
                    rest = &rest[length..];
                    moment.set_number(*field, number, length, *width, self.first_short_year)?;
                }
                Piece::Field { field, .. } => rest = moment.take_words(*field, rest)?,
            }
        }
        if rest.is_empty() { moment.micros() } else { None }
    }

    /// Appends a moment, given in microseconds since 1970-01-01. A zone is written as UTC. A fraction is cut, not rounded.
    pub fn format_into(&self, micros: i64, out: &mut String) {
        self.format_clock_into(Clock::of_micros(micros), 0, out);
    }

    /// Appends what a clock shows that is so many seconds ahead of UTC.
    pub(super) fn format_clock_into(&self, clock: Clock, offset: i32, out: &mut String) {
        let Clock { days, seconds, nanos } = clock;
        let (year, month, day) = civil_from_days(days);
        let hour = seconds / 3_600;
        for piece in &self.pieces {
            let (field, width) = match piece {
                Piece::Literal(literal) => {
                    out.push_str(literal);
                    continue;
                }
                Piece::Field { field, width, .. } => (*field, *width),
            };
            let number = match field {
                Field::Year if width == 2 => year.rem_euclid(100) as u32,
                Field::Year => {
                    push_signed(out, year, width);
                    continue;
                }
                Field::Month => month,
                Field::Day => day,
                Field::DayOfYear => days_from_civil(year, 1, 1).map_or(0, |first| (days - first + 1) as u32),
                Field::Hour => hour,
                Field::HourFrom1 => (hour + 23) % 24 + 1,
                Field::HalfHour => hour % 12,
                Field::HalfHourFrom1 => (hour + 11) % 12 + 1,
                Field::Minute => seconds / 60 % 60,
                Field::Second => seconds % 60,
                _ => {
                    let words = Words { width, month, days, hour, nanos, offset };
                    words.push(out, field);
                    continue;
                }
            };
            push_digits(out, number as u64, width);
        }
    }
}

/// Takes quoted text up to its closing quote; two quotes stand for one, inside and outside. False if nothing closes it.
fn take_quoted(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, literal: &mut String) -> bool {
    if rest.next_if_eq(&'\'').is_some() {
        literal.push('\'');
        return true;
    }
    while let Some(next) = rest.next() {
        if next != '\'' {
            literal.push(next);
        } else if rest.next_if_eq(&'\'').is_some() {
            literal.push('\'');
        } else {
            return true;
        }
    }
    false
}

fn unknown_letter(letter: char) -> String {
    let hint = match letter {
        'Y' => "; the year is y",
        'n' | 'N' => "; the fraction of a second is S",
        'T' => "; write 'T' in quotes for the letter itself",
        _ => "",
    };
    format!(
        "has the letter {letter}, which stands for nothing here{hint} (known are {LETTERS}; other text goes into quotes)"
    )
}

fn mark_abutting(pieces: &mut [Piece]) {
    let is_number = |piece: &Piece| matches!(piece, Piece::Field { field, .. } if field.is_number());
    for index in 1..pieces.len() {
        let follows = is_number(&pieces[index]);
        if let Piece::Field { abutting, .. } = &mut pieces[index - 1] {
            *abutting = follows;
        }
    }
}

/// What fields that are no plain numbers are written from.
struct Words {
    width: usize,
    month: u32,
    days: i64,
    hour: u32,
    nanos: u32,
    offset: i32,
}

impl Words {
    /// It is kept out of the loop over fields, which is faster without it.
    #[inline(never)]
    fn push(&self, out: &mut String, field: Field) {
        let name = |full: &'static str| if self.width >= 4 { full } else { &full[..3] };
        match field {
            Field::MonthName => out.push_str(name(MONTHS[self.month as usize - 1])),
            Field::Weekday => out.push_str(name(WEEKDAYS[weekday(self.days)])),
            Field::HalfDay => out.push_str(if self.hour < 12 { "AM" } else { "PM" }),
            Field::Fraction => {
                let length = out.len() + self.width;
                push_digits(out, self.nanos as u64, 9);
                out.truncate(length);
            }
            Field::Offset => push_offset(out, self.offset, false, true),
            Field::IsoOffset if self.offset == 0 => out.push('Z'),
            Field::IsoOffset => push_offset(out, self.offset, self.width == 3, self.width > 1),
            _ if self.offset == 0 => out.push_str("UTC"),
            _ => {
                out.push_str("GMT");
                push_offset(out, self.offset, true, true);
            }
        }
    }
}

/// Appends how far a zone is ahead of UTC: `+0800`, `+08:00`, `+08` (where minutes may be left out and there are none).
pub(super) fn push_offset(out: &mut String, seconds: i32, colon: bool, minutes: bool) {
    out.push(if seconds < 0 { '-' } else { '+' });
    let whole = seconds.unsigned_abs() / 60;
    push_digits(out, (whole / 60) as u64, 2);
    if minutes || !whole.is_multiple_of(60) {
        if colon {
            out.push(':');
        }
        push_digits(out, (whole % 60) as u64, 2);
    }
}
