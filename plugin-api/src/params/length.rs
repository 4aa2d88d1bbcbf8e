//! Lengths of time, as a job file writes them: a number and its unit.

use std::time::Duration;

/// The units, and how many nanoseconds each has.
const UNITS: [(&str, f64); 8] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 6e10), ("h", 3.6e12), ("d", 8.64e13)];

/// The length of time that a text says: `10 ms`, `1.5s`, `2 min`, `1 h`; `0` needs no unit. `None` if it says none.
pub fn length_of_time(text: &str) -> Option<Duration> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = (text[..end].parse::<f64>().ok()?, text[end..].trim());
    let nanos = match UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) {
        Some((_, nanos)) => number * nanos,
        None if unit.is_empty() && number == 0.0 => 0.0,
        None => return None,
    };
    (nanos < u64::MAX as f64).then(|| Duration::from_nanos(nanos.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_a_number_and_its_unit() {
        let nanos = |text| length_of_time(text).map(|length| length.as_nanos());
        assert_eq!(nanos("10 ms"), Some(10_000_000));
        assert_eq!(nanos(" 1.5s "), Some(1_500_000_000));
        assert_eq!(nanos("2 MIN"), Some(120_000_000_000));
        assert_eq!(nanos("7 µs"), nanos("7us"));
        assert_eq!(nanos("1 h"), Some(3_600_000_000_000));
        assert_eq!((nanos("0"), nanos("0 s")), (Some(0), Some(0)));
        for text in ["", "10", "ms", "-1 s", "1 week", "1.2.3 s", "1 s 5 ms", "NaN s", "1e3 s", "99999999999999 d"] {
            assert_eq!(nanos(text), None, "{text}");
        }
    }
}
