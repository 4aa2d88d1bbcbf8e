//! Floats as text without an exponent, the way DataX writes them.

use std::fmt::{Display, Write};

/// Appends a float: the shortest digits that give the same float again, without an exponent and, where Java writes one, with a
/// digit behind the point (`1.0`, `0.00010`). `value` is the same number, to look at its size.
pub fn write_plain_float(out: &mut String, float: impl Display, value: f64) {
    let start = out.len();
    // Writing to a string cannot fail.
    let _ = match value {
        value if value.is_nan() => out.write_str("NaN"),
        value if value.is_infinite() => out.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" }),
        _ => write!(out, "{float}"),
    };
    if !value.is_finite() {
        return;
    }
    let size = value.abs();
    let written = &out[start..];
    if (size == 0.0 || (1e-3..1e7).contains(&size)) && !written.contains('.') {
        out.push_str(".0");
    } else if size > 0.0 && size < 1e-3 && written.trim_start_matches(['-', '0', '.']).len() == 1 {
        // Java has such a number as 1.0E-7, of which DataX makes 0.00000010.
        out.push('0');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_a_point_where_java_writes_one_and_never_an_exponent() {
        let text = |value: f64| {
            let mut out = String::new();
            write_plain_float(&mut out, value, value);
            out
        };
        assert_eq!([0.0, -0.0, 1.0, 1.5, 0.001].map(text), ["0.0", "-0.0", "1.0", "1.5", "0.001"]);
        assert_eq!([1e-4, 1.5e-4, 1e-7].map(text), ["0.00010", "0.00015", "0.00000010"]);
        assert_eq!([1e7, 1e20, -1e16].map(text), ["10000000", "100000000000000000000", "-10000000000000000"]);
        assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(text), ["NaN", "Infinity", "-Infinity"]);
    }
}
