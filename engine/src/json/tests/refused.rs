//! What is wrong, where, and what a person is told about it.

use super::broken;

/// The text is refused at the place of the `¦` in it, with a message that says all this.
#[track_caller]
fn refused(marked: &str, says: &[&str]) {
    let at = marked.find('¦').expect("a mark");
    let broken = broken(&marked.replacen('¦', "", 1));
    assert_eq!(
        (broken.at, says.iter().find(|words| !broken.message.contains(**words))),
        (at, None),
        "{}",
        broken.message
    );
    assert!(!broken.message.ends_with('.'), "{}", broken.message);
}

#[test]
fn a_text_of_nothing() {
    refused("¦", &["the file is empty: a job file has the form {\"job\""]);
    refused(" // only a comment\n¦", &["nothing stands in the file but blanks and comments: a job file has the form"]);
}

#[test]
fn a_text_that_is_no_json() {
    refused("¦job:\n  content: 1\n", &["a job file is JSON and begins with `{`, but this one with `j`"]);
    refused("\n¦1,abc\n", &["begins with `{`, but this one with `1`"]);
    refused("¦<job/>", &["but this one with `<`"]);
    refused("{¦\0\"\0", &["the control character \\u0000", "UTF-16", "--job-encoding"]);
}

#[test]
fn text_after_the_end() {
    let advice = "a file holds one job; remove what follows its last bracket";
    refused("{} ¦x", &["expected the end of the text, found `x`", advice]);
    refused("{} ¦{}", &["found `{`", advice]);
    refused("{}¦, {}", &["found `,`", advice]);
    refused("{}¦}", &["one closing bracket too many"]);
    refused("\"a\"¦: 1", &["a key and its value must stand in { }"]);
}

#[test]
fn two_commas_in_a_row() {
    refused("[1,¦,2]", &["two commas in a row"]);
    refused("{a: 1, /* x */ ¦, b: 2}", &["two commas in a row"]);
    refused("[¦,1]", &["expected a value, found `,`"]);
    refused("{¦, a: 1}", &["expected a key", "found `,`"]);
    refused("{a: ¦, b: 1}", &["expected a value, found `,`"]);
}

#[test]
fn a_quote_inside_a_string() {
    let advice = "write the comma, or `\\\"` for a quote inside the string before it";
    refused(r#"["select "¦x" from t"]"#, &["expected a comma or `]`, found `x`", advice]);
    refused(r#"["where a = "¦" and b"]"#, &["expected a comma or `]`", "found `\"`", advice]);
    refused(r#"{"sql": "select "¦x" from t"}"#, &["expected a comma or `}`, found `x`", advice]);
    refused(r#"{"a": "b" ¦"c": "d"}"#, &["expected a comma", advice]);
}

#[test]
fn a_string_whose_closing_quote_is_missing() {
    refused("{\"name\": \"abc,\n  \"¦other\": 1}", &["found `o`", "its closing quote is missing"]);
    refused("{\"name\": ¦\"abc}", &["the string that opens here is never closed", "write `\"` at its end"]);
    refused("{¦'name: 1}", &["the string that opens here is never closed", "write `'` at its end"]);
    refused("[¦\"abc\\", &["the string that opens here is never closed"]);
}

#[test]
fn a_comma_is_missing_and_no_key_follows() {
    refused("{a: 1 ¦b}", &["expected a comma or `}`, found `b`"]);
    refused("{a: 1\n ¦\"b\" 2}", &["expected a comma or `}`, found `\"`"]);
    refused("{a: 'x'\n ¦'b'}", &["write the comma, or `\\'` for a quote inside the string before it"]);
    refused("[1 ¦: 2]", &["expected a comma or `]`", "must stand in { }"]);
    refused("[\"a\"¦: 2]", &["a key and its value must stand in { } inside a list"]);
}

#[test]
fn brackets_that_are_not_closed() {
    refused(
        "¦{\"a\": [1, 2], \"b\": 1",
        &["the `{` that opens here is never closed", "the text ends where a comma or `}` was expected"],
    );
    refused("{\"a\": ¦[1, 2", &["the `[` that opens here is never closed"]);
    refused("¦{\"a\":", &["never closed", "the text ends where a value was expected"]);
    refused("¦{\"a\"", &["never closed", "a colon after the key"]);
    refused("{\"a\": {\"b\": [1, 2¦}}", &["expected a comma or `]`", "found `}`", "the `[` of a.b is not closed yet"]);
    refused("{\"a\": [{\"b\": 1¦]}", &["found `]`", "the `{` of a[0] is not closed yet"]);
    refused("[1¦}", &["the first `[` of the text is not closed yet"]);
}

#[test]
fn the_indentation_tells_which_bracket_is_not_closed() {
    refused(
        "{\n  \"job\": {\n    \"reader\": ¦{\n      \"name\": \"x\"\n    ,\n    \"writer\": {\n      \"name\": \"y\"\n    }\n  }\n}\n",
        &["the `{` that opens here is never closed, to judge by the indentation: the text ends"],
    );
    refused(
        "{\n  \"content\": [\n    {\n      \"reader\": {\n        \"a\": 1,\n      \"writer\": {\n        \"a\": 1\n      }\n    }\n  ¦]\n}\n",
        &["found `]`", "the `{` of content[0].reader is not closed yet, to judge by the indentation"],
    );
}

#[test]
fn words_without_quotes() {
    refused("{a: ¦True}", &["True is no value: write true, in lower case"]);
    refused("[¦FALSE]", &["write false"]);
    refused("[¦Null]", &["write null, in lower case"]);
    refused("[¦None]", &["None is no value: write null, or leave the key out"]);
    refused("[¦undefined]", &["write null"]);
    refused("[¦NaN]", &["JSON has no such number"]);
    refused("[¦-Infinity]", &["JSON has no such number"]);
    refused("[¦yes]", &["write true, or put it in double quotes"]);
    refused("[¦off]", &["write false"]);
    refused("{a: ¦mysqlreader}", &["expected a value", "begins with `m`", "double quotes"]);
    refused("[¦trueish]", &["begins with `t`"]);
    refused("[¦列]", &["begins with `列`"]);
}

#[test]
fn numbers_that_are_none() {
    refused("[¦0x1F]", &["hexadecimal", "decimal digits"]);
    refused("[¦-0XAB]", &["hexadecimal"]);
    refused("[12¦abc]", &["expected the end of the number, found `a`", "double quotes"]);
    refused("[127.0¦.0.1]", &["found `.`", "double quotes"]);
    refused("[2026¦-11-30]", &["found `-`", "double quotes"]);
    refused("[10¦%]", &["found `%`"]);
    refused("[1¦e]", &["found `e`"]);
    refused("[1.5¦L]", &["found `L`"]);
    refused("[1¦Days]", &["found `D`"]);
    refused("[¦-]", &["expected a value, found `-`: a number needs digits"]);
    refused("[¦.]", &["found `.`: a number needs digits"]);
    refused("[¦+ 1]", &["found `+`: a number needs digits"]);
    refused("{a: 1,¦000, b: 2}", &["found a number: a number has no commas between its digits"]);
    refused("{a: 1,¦000}", &["found a number"]);
}

#[test]
fn escapes_that_are_none() {
    refused(r#"["a¦\d+"]"#, &[r"\d is no escape: write \\d"]);
    refused(r#"["¦\N"]"#, &[r"\N is no escape: write \\N"]);
    refused(r#"["¦\8"]"#, &[r"\8 is no escape"]);
    refused(r#"["¦\u12"]"#, &[r"\u needs four hexadecimal digits"]);
    refused(r#"["¦\xg1"]"#, &[r"\x needs two hexadecimal digits"]);
    refused("[\"¦\\\n\"]", &["a backslash at the end of a line"]);
    refused("[\"¦\\\u{1}\"]", &["a backslash here is no escape"]);
    refused(r#"{"¦\d": 1}"#, &[r"\d is no escape"]);
}

#[test]
fn keys_and_colons() {
    refused("{\"a\" ¦= 1}", &["expected a colon after the key, found `=`: write `:`"]);
    refused("{\"a\" ¦1}", &["expected a colon after the key, found `1`"]);
    refused("{\"a\"¦, \"b\"}", &["expected a colon after the key, found `,`"]);
    refused("{\"a\"¦}", &["expected a colon after the key"]);
    refused("{¦[1]: 2}", &["expected a key in double quotes or `}`, found `[`"]);
    refused("{¦: 2}", &["expected a key", "found `:`"]);
    refused("{\"a\" ¦\"b\"}", &["found `\"`: write `:` between a key and its value"]);
    refused("{1¦, 2}", &["every key has a value; values without keys stand in [ ]"]);
    refused("{a ¦b: 2}", &["expected a colon after the key, found `b`"]);
    refused("{a: ¦(1)}", &["found `(`: lists stand in [ ], objects in { }"]);
    refused("{a: ¦}", &["expected a value, found `}`"]);
    refused("{a:¦: 1}", &["expected a value, found `:`"]);
}

#[test]
fn full_width_punctuation() {
    refused("{\"a\"¦：1}", &["the full-width colon `：`: write `:`"]);
    refused("{\"a\":1¦，\"b\":2}", &["the full-width comma `，`: write `,`"]);
    refused("[¦“a”]", &["the full-width quote `“`: write `\"`"]);
    refused("{¦‘a’: 1}", &["the full-width quote `‘`: write `'`"]);
    refused("¦｛｝", &["the full-width bracket `｛`: write `{`"]);
    refused("[\"a\"¦；]", &["the full-width semicolon", "write `,`"]);
    refused("[1¦】", &["write `]`"]);
}

#[test]
fn characters_that_nobody_sees_are_spelt() {
    refused("[¦\u{1}]", &["the control character \\u0001"]);
    refused("[1¦\u{0}]", &["the control character \\u0000"]);
    refused("[¦\u{ad}]", &["`\\u{ad}`"]);
}

#[test]
fn comments_that_are_none() {
    refused("{ ¦/* \"a\": 1 }", &["the comment that opens here with /* is never closed"]);
    refused("[1, ¦/ 2]", &["a comment begins with // or /*"]);
    refused("[1¦*/]", &["expected a comma", "found `*`"]);
}

#[test]
fn variables_that_are_not_set() {
    for marked in [
        "{a: ¦${x}}",
        "{a: ¦$x}",
        "{a: 5¦$x}",
        "[1, ¦${cols}, 2]",
        "[1 ¦${cols}]",
        "{a: 1 ¦${more}}",
        "{¦${more}}",
        "{¦$more, a: 1}",
        "{¦$more}",
        "{a: true¦$x}",
        "¦$x",
        "[\"a\"¦$x]",
        "{} ¦$x",
        "{a¦${x}: 1}",
    ] {
        let at = marked.find('¦').unwrap();
        let broken = broken(&marked.replacen('¦', "", 1));
        assert_eq!((broken.at, broken.message.as_str()), (at, "a variable that is not set stands here"), "{marked}");
    }
}

#[test]
fn more_than_100_deep() {
    let deep = format!("{}¦[1", "[".repeat(100));
    refused(&deep, &["more than 100 deep"]);
    refused(&format!("{}¦{{a: 1", "{a: ".repeat(100)), &["more than 100 deep"]);
    let mixed = "[{a:".repeat(1_000_000);
    assert_eq!(broken(&mixed).at, 50 * 4);
}

#[test]
fn no_message_shows_the_content_of_a_string() {
    for text in [
        r#"{"password": "hunter2" "x"}"#,
        r#"{"password": "hunter2"#,
        r#"{"password": hunter2}"#,
        r#"{"password": 12hunter2}"#,
        r#"{"password": "hunter2\q"}"#,
        "{\"password\": \"hunter2\n\"x",
        r#"{"password": 'hunter2' = "x"}"#,
        r#"["hunter2": 1]"#,
    ] {
        let message = broken(text).message;
        assert!(!message.contains("hunter") && !message.contains("unter2"), "{message}");
    }
}
