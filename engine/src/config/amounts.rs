//! Lengths of time and numbers of bytes as people write them: `"10 s"`, `"500 ms"`, `"64 MiB"`.

use std::time::Duration;

use serde_json::Value;
use transship_plugin_api::params::describe;
use transship_plugin_api::{Params, Result};

/// The length of time that a key of a job file gives: a number of seconds, or a text with units. `None`: it is absent or blank.
///
/// # Errors
/// When it is no length of time.
pub fn duration(params: &Params<'_>, key: &str) -> Result<Option<Duration>> {
    let Some(written) = present(params, key) else { return Ok(None) };
    let text = params.text(key)?.unwrap_or_default();
    match parse_duration(&text) {
        Some(duration) => Ok(Some(duration)),
        None => Err(params.error(
            key,
            format_args!(
                "must be a length of time like \"10 s\", \"500 ms\" or \"1 h\", or a number of seconds, not {}",
                describe(written)
            ),
        )),
    }
}

/// The number of bytes that a key of a job file gives: a whole number, or a text with a unit. `None`: it is absent or blank.
///
/// # Errors
/// When it is no number of bytes.
pub fn bytes(params: &Params<'_>, key: &str) -> Result<Option<u64>> {
    let Some(written) = present(params, key) else { return Ok(None) };
    let text = params.text(key)?.unwrap_or_default();
    parse_bytes(&text).map(Some).map_err(|_| {
        let allowed = "must be a number of bytes, a whole one, with or without a unit like \"64 MiB\"";
        params.error(key, format_args!("{allowed}, not {}", describe(written)))
    })
}

/// A number of bytes; `K`, `M` and `G`, alone or before `B` or `iB`, are powers of 1024.
///
/// # Errors
/// What is wrong with it.
pub fn parse_bytes(text: &str) -> std::result::Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => Some(0),
        "K" | "KB" | "KIB" => Some(10),
        "M" | "MB" | "MIB" => Some(20),
        "G" | "GB" | "GIB" => Some(30),
        _ => None,
    };
    let (Some(shift), Ok(number)) = (shift, number.parse::<u64>()) else {
        return Err("use a whole number and K, M or G, such as 64M".into());
    };
    number.checked_mul(1 << shift).ok_or_else(|| "is too large".into())
}

fn present<'a>(params: &Params<'a>, key: &str) -> Option<&'a Value> {
    params.value(key).filter(|_| !params.is_blank(key))
}

fn parse_duration(text: &str) -> Option<Duration> {
    match text.trim().parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => humantime::parse_duration(text.trim()).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read<T>(value: &Value, read: impl Fn(&Params<'_>, &str) -> Result<T>) -> std::result::Result<T, String> {
        let object = json!({ "it": value });
        read(&Params::new(&object, "parameter").unwrap(), "it").map_err(|error| error.message().to_string())
    }

    #[test]
    fn a_length_of_time_is_a_number_of_seconds_or_has_units() {
        let millis = |value: Value| read(&value, duration).unwrap().map(|duration| duration.as_millis());
        for (written, meant) in [
            (json!(10), 10_000),
            (json!(0), 0),
            (json!(0.25), 250),
            (json!("10"), 10_000),
            (json!(" 10 s "), 10_000),
            (json!("10s"), 10_000),
            (json!("500 ms"), 500),
            (json!("1 h"), 3_600_000),
            (json!("1h 30min"), 5_400_000),
            (json!("2 days"), 172_800_000),
        ] {
            assert_eq!(millis(written.clone()), Some(meant), "{written}");
        }
        assert_eq!(millis(json!("")), None);
        for wrong in
            [json!(-1), json!("ten"), json!("10 parsecs"), json!(true), json!("NaN"), json!("1e400"), json!([])]
        {
            let error = read(&wrong, duration).unwrap_err();
            assert!(error.starts_with("parameter.it must be"), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_number_of_bytes_may_have_a_unit() {
        for (written, meant) in [
            (json!(4096), 4096),
            (json!("4096"), 4096),
            (json!("4096 B"), 4096),
            (json!("64M"), 64 << 20),
            (json!("64 MiB"), 64 << 20),
            (json!("1GiB"), 1 << 30),
            (json!("3 kb"), 3 << 10),
        ] {
            assert_eq!(read(&written, bytes).unwrap(), Some(meant), "{written}");
        }
        for wrong in [json!("-1"), json!("1.5G"), json!("64X"), json!("M"), json!("99999999999999999999"), json!({})] {
            assert!(read(&wrong, bytes).unwrap_err().starts_with("parameter.it must be"), "{wrong}");
        }
        assert!(parse_bytes("17179869184G").is_err(), "it has 2^64 bytes");
    }
}
