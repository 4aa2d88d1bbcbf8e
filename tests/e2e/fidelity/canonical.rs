//! One text for each value, whatever the system that shows it: `1E+2`, `100` and `100.0` are one number, `0044-03-15 BC` and
//! `-0043-03-15` one day.

use super::table::Means;

/// The one text of a value that a system shows as this.
pub(super) fn canonical(means: Means, shown: &str) -> String {
    let found = match means {
        Means::Number => number(shown),
        Means::Float => shown.parse::<f64>().ok().map(|float| format!("{float:?}")),
        Means::Boolean => boolean(shown).map(String::from),
        Means::Moment => Some(moment(shown)),
        Means::Length => length(shown).map(|(months, days, micros)| format!("{months} {days} {micros}")),
        Means::Text | Means::Bytes => None,
    };
    found.unwrap_or_else(|| shown.into())
}

/// Sign, digits without zeros around them, and the power of ten of the last.
fn number(shown: &str) -> Option<String> {
    let (sign, unsigned) = match shown.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", shown.strip_prefix('+').unwrap_or(shown)),
    };
    match unsigned.to_lowercase().as_str() {
        "nan" => return Some("NaN".into()),
        "inf" | "infinity" => return Some(format!("{sign}Infinity")),
        _ => {}
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{before}{behind}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent = exponent.trim_start_matches('+').parse::<i64>().ok()? - behind.len() as i64;
    let digits = digits.trim_start_matches('0');
    let short = digits.trim_end_matches('0');
    let zeros = (digits.len() - short.len()) as i64;
    Some(if short.is_empty() { format!("{sign}0") } else { format!("{sign}{short}e{}", exponent + zeros) })
}

fn boolean(shown: &str) -> Option<&'static str> {
    match shown {
        "1" | "t" | "true" => Some("true"),
        "0" | "f" | "false" => Some("false"),
        _ => None,
    }
}

/// Without a zone, which is UTC's wherever one is shown, and without a fraction of zeros.
fn moment(shown: &str) -> String {
    let (text, is_before_christ) = match shown.strip_suffix(" BC") {
        Some(text) => (text, true),
        None => (shown, false),
    };
    let mut text = text.replacen('T', " ", 1);
    for zone in ["+00:00", "+00", "Z"] {
        if let Some(rest) = text.strip_suffix(zone) {
            text.truncate(rest.len());
            break;
        }
    }
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    match text.split_once('-') {
        Some((year, rest)) if is_before_christ => {
            let year = 1 - year.parse::<i64>().unwrap();
            if year == 0 { format!("0000-{rest}") } else { format!("-{:04}-{rest}", -year) }
        }
        _ => text,
    }
}

/// Months, days and microseconds, of `P1M-2DT3.5S`, `-838:59:59` or `1 mon -2 days +25:00:00`.
fn length(shown: &str) -> Option<(i64, i64, i64)> {
    if let Some(parts) = shown.strip_prefix('P') {
        let (calendar, time) = parts.split_once('T').unwrap_or((parts, ""));
        let (months, rest) = calendar.split_once('M').unwrap_or(("0", calendar));
        let days = if rest.is_empty() { "0" } else { rest.strip_suffix('D')? };
        let seconds = if time.is_empty() { "0" } else { time.strip_suffix('S')? };
        return Some((months.parse().ok()?, days.parse().ok()?, micros(seconds)?));
    }
    let (mut months, mut days, mut clock) = (0, 0, 0);
    let mut words = shown.split(' ');
    while let Some(word) = words.next() {
        if word.contains(':') {
            let (sign, unsigned) = match word.strip_prefix('-') {
                Some(unsigned) => (-1, unsigned),
                None => (1, word.trim_start_matches('+')),
            };
            let mut parts = unsigned.splitn(3, ':');
            let hours: i64 = parts.next()?.parse().ok()?;
            let minutes: i64 = parts.next()?.parse().ok()?;
            clock = sign * ((hours * 60 + minutes) * 60_000_000 + micros(parts.next()?)?);
            continue;
        }
        let number: i64 = word.parse().ok()?;
        match words.next()?.trim_end_matches('s') {
            "year" => months += number * 12,
            "mon" => months += number,
            "day" => days += number,
            _ => return None,
        }
    }
    Some((months, days, clock))
}

fn micros(seconds: &str) -> Option<i64> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    let fraction: i64 = format!("{fraction:0<6}").parse().ok()?;
    Some(whole.parse::<i64>().ok()? * 1_000_000 + sign * fraction)
}

#[test]
fn one_value_has_one_text() {
    let same = |means, texts: &[&str]| {
        let found: Vec<String> = texts.iter().map(|text| canonical(means, text)).collect();
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{found:?}");
    };
    same(Means::Number, &["100", "1e2", "100.00", "0100", "1E+2"]);
    same(Means::Number, &["0", "0.00", "0e5"]);
    same(Means::Float, &["1e23", "9.999999999999999161e+22"]);
    same(Means::Float, &["-Infinity", "-inf"]);
    same(Means::Number, &["-Infinity", "-inf"]);
    same(Means::Moment, &["0044-03-15 12:00:00 BC", "-0043-03-15 12:00:00.000000"]);
    same(Means::Moment, &["0000-02-29", "0001-02-29 BC"]);
    same(Means::Moment, &["2024-06-15 08:30:45.5+00", "2024-06-15T08:30:45.500Z", "2024-06-15 08:30:45.5+00:00"]);
    same(Means::Length, &["P1M-2DT90000.000001S", "1 mon -2 days +25:00:00.000001"]);
    same(Means::Length, &["-00:00:00.5", "PT-0.5S", "-00:00:00.500000"]);
    assert_ne!(canonical(Means::Number, "-0.0"), canonical(Means::Number, "0"));
    assert_ne!(canonical(Means::Text, "1.0"), canonical(Means::Text, "1"));
}
