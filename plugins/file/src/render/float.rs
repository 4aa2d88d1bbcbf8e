//! Floats as DataX writes them: the shortest text that gives the same float again, without an exponent.

use std::fmt::{Display, Write};

/// Appends a float; `value` is the same number, to look at its size.
pub(crate) fn write(number: impl Display, value: f64, into: &mut String) {
    let start = into.len();
    // Writing to a string cannot fail.
    let _ = match value {
        value if value.is_nan() => into.write_str("NaN"),
        value if value.is_infinite() => into.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" }),
        _ => write!(into, "{number}"),
    };
    if !value.is_finite() {
        return;
    }
    let size = value.abs();
    let written = &into[start..];
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        // Java writes a digit behind the point, always.
        if !written.contains('.') {
            into.push_str(".0");
        }
    } else if size < 1e-3 {
        // Java has such a number as 1.0E-7, of which DataX makes 0.00000010.
        let digits = written.trim_start_matches(['-', '0', '.']);
        if digits.len() == 1 {
            into.push('0');
        }
    }
}
