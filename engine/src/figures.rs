//! How figures look to a person: counts with commas, bytes and times in the unit that suits them.

/// A count with commas: `6,001,215`.
pub fn count_text(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of something: `1 lane`, `2 lanes`.
pub fn several(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", count_text(count as u64), if count == 1 { one } else { many })
}

/// A number of bytes in the unit that suits it, in powers of 1024, as DataX prints it.
pub fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    let mut amount = bytes as f64;
    let mut unit = 0;
    // What is rounded up to 1024 is one of the next unit.
    while amount >= 1023.995 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{amount:.2} {}", UNITS[unit]) }
}

/// A number of seconds in the unit that suits it: `17.3 µs`, `250 ms`, `12.35 s`.
pub fn time_text(seconds: f64) -> String {
    // What is rounded up to a thousand is one of the next unit.
    let below_a_thousand = |amount: f64| (amount < 999.5).then(|| three_digits(amount));
    if let Some(micros) = below_a_thousand(seconds * 1e6) {
        return if micros == "0.00" { "0 s".into() } else { format!("{micros} µs") };
    }
    if let Some(millis) = below_a_thousand(seconds * 1e3) {
        return format!("{millis} ms");
    }
    let decimals = if seconds < 99.995 { 2 } else { 1 };
    format!("{seconds:.decimals$} s")
}

fn three_digits(amount: f64) -> String {
    let decimals = match amount {
        amount if amount < 9.995 => 2,
        amount if amount < 99.95 => 1,
        _ => 0,
    };
    format!("{amount:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas() {
        assert_eq!([0, 999, 1000, 6_001_215].map(count_text), ["0", "999", "1,000", "6,001,215"]);
    }

    #[test]
    fn bytes_have_units() {
        assert_eq!(
            [0, 1023, 1024, 5 << 20, 3 << 40].map(bytes_text),
            ["0 B", "1023 B", "1.00 KB", "5.00 MB", "3.00 TB"]
        );
    }

    #[test]
    fn times_have_the_unit_that_suits_them_also_where_they_are_rounded_up_to_it() {
        let times = [0.0, 0.000_001_5, 0.000_017_34, 0.000_999_4, 0.000_999_6, 0.01, 0.9994, 0.9996, 12.345, 3723.04];
        let texts =
            ["0 s", "1.50 µs", "17.3 µs", "999 µs", "1.00 ms", "10.0 ms", "999 ms", "1.00 s", "12.35 s", "3723.0 s"];
        assert_eq!(times.map(time_text), texts);
    }
}
