//! Floats as text without an exponent, the way DataX writes them.

/// A float of one of the two sizes.
pub trait Float: Copy + ryu::Float + Into<f64> {}

impl Float for f32 {}
impl Float for f64 {}

/// Appends a float: the shortest digits that give the same float again, without an exponent and, where Java writes one, with a
/// digit behind the point (`1.0`, `0.00010`).
pub fn write_plain_float(out: &mut String, float: impl Float) {
    let value: f64 = float.into();
    if value.is_nan() {
        return out.push_str("NaN");
    } else if value.is_infinite() {
        return out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    let size = value.abs();
    let start = out.len();
    push_without_exponent(out, float);
    let written = &out[start..];
    if (size == 0.0 || (1e-3..1e7).contains(&size)) && !written.contains('.') {
        out.push_str(".0");
    } else if size > 0.0 && size < 1e-3 && written.trim_start_matches(['-', '0', '.']).len() == 1 {
        // Java has such a number as 1.0E-7, of which DataX makes 0.00000010.
        out.push('0');
    }
}

/// Appends the shortest digits that give the same float again, which is neither infinite nor NaN.
pub(super) fn push_without_exponent(out: &mut String, float: impl Float) {
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(float);
    match text.split_once('e') {
        None => out.push_str(text.strip_suffix(".0").unwrap_or(text)),
        Some((mantissa, exponent)) => push_shifted(out, mantissa, exponent.parse().unwrap_or_default()),
    }
}

/// Appends a number like `-1.5`, its point so many places further right, which is beyond all its digits.
fn push_shifted(out: &mut String, mantissa: &str, places: i32) {
    let zeros = |out: &mut String, count: usize| out.extend(std::iter::repeat_n('0', count));
    let unsigned = match mantissa.strip_prefix('-') {
        Some(unsigned) => {
            out.push('-');
            unsigned
        }
        None => mantissa,
    };
    let (first, others) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let count = places.unsigned_abs() as usize;
    if places < 0 {
        out.push_str("0.");
        zeros(out, count - 1);
    }
    out.push_str(first);
    out.push_str(others);
    if places > 0 {
        zeros(out, count - others.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_a_point_where_java_writes_one_and_never_an_exponent() {
        let text = |value: f64| {
            let mut out = String::new();
            write_plain_float(&mut out, value);
            out
        };
        assert_eq!([0.0, -0.0, 1.0, 1.5, 0.001].map(text), ["0.0", "-0.0", "1.0", "1.5", "0.001"]);
        assert_eq!([1e-4, 1.5e-4, 1e-7].map(text), ["0.00010", "0.00015", "0.00000010"]);
        assert_eq!([1e7, 1e20, -1e16].map(text), ["10000000", "100000000000000000000", "-10000000000000000"]);
        assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(text), ["NaN", "Infinity", "-Infinity"]);
    }

    #[test]
    fn digits_are_as_few_as_give_the_same_float_again() {
        let mut bits = 1u64;
        for _ in 0..3_000 {
            // Numbers of all sizes in no order: Knuth's generator.
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let near = [(bits >> 32) as f64 / 1e4, (bits >> 20) as f64, f64::from_bits(bits)];
            for value in near.into_iter().filter(|value| value.is_finite()) {
                let text = plain(value);
                assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(value.to_bits()), "{text}");
                assert_eq!(digits(&text), digits(&value.to_string()), "{text} and {value}");
            }
            let single = f32::from_bits((bits >> 32) as u32);
            if single.is_finite() {
                let text = plain(single);
                assert_eq!(text.parse::<f32>().map(f32::to_bits), Ok(single.to_bits()), "{text}");
                assert_eq!(digits(&text), digits(&single.to_string()), "{text} and {single}");
            }
        }
    }

    fn plain(float: impl Float) -> String {
        let mut out = String::new();
        push_without_exponent(&mut out, float);
        out
    }

    /// Digits without the zeros that say nothing. Of two that are equally near there is a choice, but not of how many they are.
    fn digits(text: &str) -> usize {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        digits.trim_matches('0').len()
    }
}
