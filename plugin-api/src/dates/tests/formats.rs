//! Tests of `common.column`.

use serde_json::{Value, json};

use crate::dates::*;
use crate::{Kind, Params, Result};

fn read(column: Value) -> Result<ColumnFormats> {
    let parameter = json!({ "common": { "column": column } });
    ColumnFormats::read(&Params::new(&parameter, "parameter").unwrap())
}

fn formats(column: Value) -> ColumnFormats {
    read(column).unwrap()
}

fn at(year: i64, month: u32, day: u32, hour: i64) -> i64 {
    days_from_civil(year, month, day).unwrap() * MICROS_PER_DAY + hour * 3_600 * MICROS_PER_SECOND
}

fn written(write: impl Fn(&mut String)) -> String {
    let mut out = String::new();
    write(&mut out);
    out
}

fn moment(formats: &ColumnFormats, micros: i64, instant: bool) -> String {
    written(|out| formats.write_moment(out, micros as i128 * 1_000, instant))
}

/// 2024-02-29 13:00:00.5.
fn leap_day() -> i64 {
    at(2024, 2, 29, 13) + MICROS_PER_SECOND / 2
}

/// Trap 26.
#[test]
fn a_fraction_is_shown_where_no_format_is_written_and_cut_where_one_without_it_is() {
    let formats_of = |format: &str| formats(json!({ "datetimeFormat": format }));
    assert_eq!(moment(&ColumnFormats::default(), leap_day(), false), "2024-02-29 13:00:00.5");
    assert_eq!(moment(&ColumnFormats::default(), at(2024, 2, 29, 13), false), "2024-02-29 13:00:00");
    assert_eq!(moment(&formats_of("yyyy-MM-dd HH:mm:ss"), leap_day(), false), "2024-02-29 13:00:00");
    assert_eq!(moment(&formats_of("yyyy-MM-dd HH:mm:ss.SSS"), leap_day(), false), "2024-02-29 13:00:00.500");
    let nanos = formats_of("HH:mm:ss.SSSSSSSSS");
    assert_eq!(written(|out| nanos.write_moment(out, 1_000_000_001, false)), "00:00:01.000000001");
}

#[test]
fn each_kind_of_date_has_its_format() {
    let formats = formats(json!({
        "datetimeFormat": "yyyy/MM/dd HH:mm", "dateFormat": "dd.MM.yyyy", "timeFormat": "HH'h'mm"
    }));
    assert_eq!(moment(&formats, leap_day(), false), "2024/02/29 13:00");
    assert_eq!(written(|out| formats.write_date(out, 19_782)), "29.02.2024");
    assert_eq!(written(|out| formats.write_time(out, 3_660_000_000_000)), "01h01");
    let defaults = ColumnFormats::default();
    assert_eq!(written(|out| defaults.write_date(out, 19_782)), "2024-02-29");
    assert_eq!(written(|out| defaults.write_time(out, 3_660_250_000_000)), "01:01:00.25");
}

/// Trap 25.
#[test]
fn a_local_time_is_never_shifted() {
    for zone in ["GMT+8", "America/New_York", "UTC"] {
        let formats = formats(json!({ "timeZone": zone }));
        for text in ["2024-03-10 02:30:00", "1969-12-31 23:59:59", "2024-02-29 13:00:00.5"] {
            let micros = formats.parse_moment(text.as_bytes()).unwrap();
            assert_eq!(moment(&formats, micros, false), text, "{zone}");
        }
    }
}

/// Trap 25.
#[test]
fn an_instant_is_written_by_the_clock_that_the_job_names_or_with_its_offset() {
    let instant = at(2024, 2, 29, 20);
    let text = |column| moment(&formats(column), instant, true);
    assert_eq!(text(json!({})), "2024-02-29 20:00:00+00:00");
    assert_eq!(text(json!({ "timeZone": "GMT+8" })), "2024-03-01 04:00:00");
    assert_eq!(text(json!({ "timeZone": "Asia/Shanghai", "datetimeFormat": "yyyyMMdd HHmm" })), "20240301 0400");
    assert_eq!(text(json!({ "datetimeFormat": "yyyyMMdd HHmm" })), "20240229 2000");
    let zoned = "yyyy-MM-dd HH:mm XXX XX X Z z";
    assert_eq!(
        text(json!({ "timeZone": "-03:30", "datetimeFormat": zoned })),
        "2024-02-29 16:30 -03:30 -0330 -0330 -0330 GMT-03:30"
    );
    assert_eq!(text(json!({ "datetimeFormat": zoned })), "2024-02-29 20:00 Z Z Z +0000 UTC");
}

#[test]
fn a_column_with_a_zone_of_its_own_keeps_it_unless_the_job_names_one() {
    let text = |column: Value, zone: &str| {
        let formats = formats(column);
        written(|out| formats.write_instant(out, 0, &formats.zone_of(zone)))
    };
    assert_eq!(text(json!({}), "+08:00"), "1970-01-01 08:00:00+08:00");
    assert_eq!(text(json!({}), "Asia/Kolkata"), "1970-01-01 05:30:00+05:30");
    assert_eq!(text(json!({}), "Nowhere/Land"), "1970-01-01 00:00:00+00:00");
    assert_eq!(text(json!({ "timeZone": "UTC" }), "+08:00"), "1970-01-01 00:00:00");
}

/// Trap 25.
#[test]
fn numbers_and_dates_meet_where_they_do_in_datax() {
    let datax = ColumnFormats::default();
    assert_eq!(datax.millis_since_epoch(at(1970, 1, 1, 8)), Some(0));
    assert_eq!(datax.local_of_millis(0), Some(at(1970, 1, 1, 8)));
    assert_eq!(datax.millis_since_epoch(at(1970, 1, 1, 8) - 1), Some(-1));
    let utc = formats(json!({ "timeZone": "UTC" }));
    assert_eq!(utc.millis_since_epoch(at(1970, 1, 1, 8)), Some(8 * 3_600_000));
    assert_eq!((datax.local_of_millis(i64::MAX), utc.millis_since_epoch(i64::MAX)), (None, Some(i64::MAX / 1_000)));
    assert_eq!(datax.local_micros(0), Some(0), "an instant is UTC's unless the job says otherwise");
    let shanghai = formats(json!({ "timeZone": "Asia/Shanghai" }));
    assert_eq!(shanghai.local_micros(0), Some(at(1970, 1, 1, 8)));
    assert_eq!(shanghai.instant_micros(at(1970, 1, 1, 8)), Some(0));
}

#[test]
fn written_formats_are_read_before_the_usual_forms_and_beside_them() {
    let formats = formats(json!({ "dateFormat": "dd/MM/yyyy", "extraFormats": ["yyyyddMM", "yyyy年MM月dd日"] }));
    for text in ["03/02/2024", "20240302", "2024年02月03日", "2024-02-03", "2024-02-03T00:00:00"] {
        assert_eq!(formats.parse_moment(text.as_bytes()), Ok(at(2024, 2, 3, 0)), "{text}");
    }
    for text in ["31/02/2024", "03/02/2024 10:00:00", "03/02/2024x", "2024年02月", ""] {
        assert!(formats.parse_moment(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn a_written_format_with_a_zone_reads_instants_into_local_times() {
    let column = json!({ "datetimeFormat": "yyyy-MM-dd HH:mmXXX", "timeZone": "GMT+8" });
    assert_eq!(formats(column).parse_moment(b"2024-02-29 20:00+00:00"), Ok(at(2024, 3, 1, 4)));
}

/// Trap 9.
#[test]
fn extra_formats_replace_the_default_ones_by_their_place() {
    let takes = |column: Value, text: &str| formats(column).parse_moment(text.as_bytes()).is_ok();
    assert!(takes(json!({}), "20240203"));
    assert!(takes(json!({ "extraFormats": [] }), "20240203"));
    assert!(!takes(json!({ "extraFormats": ["yyyy.MM.dd"] }), "20240203"));
    assert!(takes(json!({ "extraFormats": ["yyyy.MM.dd", "yyyyMMdd"] }), "20240203"));
}

#[test]
fn what_is_absent_or_blank_is_as_by_default() {
    for parameter in
        [json!({}), json!({ "common": {} }), json!({ "common": { "column": {} } }), json!({ "common": null })]
    {
        let formats = ColumnFormats::read(&Params::new(&parameter, "parameter").unwrap()).unwrap();
        assert_eq!(moment(&formats, leap_day(), true), "2024-02-29 13:00:00.5+00:00");
    }
    assert!(formats(json!({ "extraFormats": ["", " "] })).parse_moment(b" ").is_err());
    let blank = formats(json!({ "datetimeFormat": "", "timeZone": " ", "encoding": "" }));
    assert_eq!(moment(&blank, leap_day(), true), "2024-02-29 13:00:00.5+00:00");
}

#[test]
fn what_means_nothing_is_an_error_with_its_place() {
    for (column, said) in [
        (json!({ "timeZone": "Asia/Shangai" }), "common.column.timeZone is \"Asia/Shangai\""),
        (json!({ "dateFormat": "YYYY-MM-dd" }), "common.column.dateFormat: date pattern"),
        (json!({ "extraFormats": ["yyyyMMdd", "qq"] }), "common.column.extraFormats[1]: date pattern"),
        (json!({ "encoding": "utf-9" }), "common.column.encoding is \"utf-9\""),
        (json!([]), "common.column must be an object"),
    ] {
        let error = read(column).unwrap_err();
        assert_eq!(error.kind(), Kind::Config);
        assert!(error.message().starts_with(said), "{error}");
    }
}
