//! What may be shown of a broken text, and what never.

use proptest::prelude::*;

use super::mask_broken;

#[track_caller]
fn masked(text: &str, expected: &str) {
    assert_eq!(mask_broken(text), expected);
}

#[test]
fn what_follows_a_secret_key_is_masked_in_place() {
    masked(r#"{"user": "ann", "password": "a\"b", "x": 1"#, r#"{"user": "ann", "password": "****", "x": 1"#);
    masked(r#""token": "never closed"#, r#""token": "************"#);
    masked("{\"password\":\n\"open\" \"token\"}, \"x\"", "{\"password\":\n\"****\" \"*****\"}, \"x\"");
    masked(r#"{"password": s3cret, "x": y}"#, r#"{"password": ******, "x": y}"#);
    masked(
        r#"{"accessKey": {"id": "a", "b": [1, "c"]}, "x": "y"}"#,
        r#"{"accessKey": {"**": "*", "*": [*, "*"]}, "x": "y"}"#,
    );
}

#[test]
fn keys_and_values_need_no_double_quotes() {
    masked("{'password': 'it\\'s', 'x': 1}", "{'password': '*****', 'x': 1}");
    masked("{password: \"abc\", x: 1}", "{password: \"***\", x: 1}");
    masked("{db.password: abc}", "{db.password: ***}");
    masked("{pwd = abc, x: 1}", "{pwd = ***, x: 1}");
    masked("{“password”：“abc”，x: 1}", "{“password”：“***”，x: 1}");
}

#[test]
fn a_member_in_a_comment_is_masked_and_the_next_line_is_not() {
    masked("// \"password\": \"abc\"\n\"x\": 1", "// \"password\": \"***\"\n\"x\": 1");
    masked("# password: abc def\nx: 1", "# password: *** ***\nx: 1");
    masked("/* 'token': 'abc' */ {x: 1}", "/* 'token': '***' ** {*: *}");
    masked("{\"password\" /* old */ : \"abc\"}", "{\"password\" /* old */ : \"***\"}");
    masked("{\"password\" // old\n : \"abc\"}", "{\"password\" // old\n : \"***\"}");
}

#[test]
fn a_missing_comma_does_not_hide_the_next_lines() {
    masked("{\"password\": \"abc\"\n  \"x\": 1\n}", "{\"password\": \"***\"\n  \"x\": 1\n}");
    masked("{password: abc\n}", "{password: ***\n}");
}

#[test]
fn quotes_and_commas_inside_a_secret_do_not_show_the_rest_of_it() {
    masked("{\"password\": \"ab\"cd,ef\",\n \"x\": 1}", "{\"password\": \"**\"*****\"*\n \"x\": 1}");
    masked("{\"password\": \"ab\"cd,ef\", \"x\": 1}", "{\"password\": \"**\"*****\"**\"*\"****");
    masked(r#"{"password": ab,cd}ef, "x": 1}"#, r#"{"password": ********, "x": 1}"#);
}

#[test]
fn passwords_inside_urls_are_masked() {
    masked("{\"a\": \"jdbc:x://ann:s3cret@db/x\", ", "{\"a\": \"jdbc:x://ann:******@db/x\", ");
    masked("[\"x://安:密码@db\", '密码'", "[\"x://安:**@db\", '密码'");
    masked("{'a': 'x://ann:s3cret@db', 'b': 'c://d@e'}", "{'a': 'x://ann:******@db', 'b': 'c://d@e'}");
    masked("{\"a\": \"x://ann:p@ss/wordX@db/x\", 1 2", "{\"a\": \"x://ann:**********@db/x\", 1 2");
    masked("[\"x://ann:p\\\"ss@db\", \"b@c\" 1", "[\"x://ann:*****@db\", \"b@c\" 1");
    masked("[\"jdbc:oracle:thin:scott/Tiger77@//h\" 1", "[\"jdbc:oracle:thin:scott/*******@//h\" 1");
    masked(
        "[\"jdbc:x://h/d?user=a&password=hidden&ssl=1\", 1\n \"b\"",
        "[\"jdbc:x://h/d?user=a&password=************\", 1\n \"b\"",
    );
}

#[test]
fn words_that_only_mention_secrets_hide_nothing() {
    for text in [
        "// the password is in the vault\n{\"a\": 1",
        "{\"sql\": \"select token, id from t where a = 1\" \"",
        "password",
    ] {
        masked(text, text);
    }
}

/// Every form in which a secret (`S3CRET`) may stand, after everything that may lead a reader of the text astray.
#[test]
fn no_form_shows_a_secret() {
    let forms = [
        "\"password\": \"S3CRET\"",
        "'password' : 'S3CRET'",
        "password: 'S3CRET'",
        "password: S3CRET",
        "\"password\": S3CRET",
        "\"password\"=\"S3CRET\"",
        "password=S3CRET",
        "// \"password\": \"S3CRET\"",
        "# my_password = S3CRET",
        "/* 'password': 'S3CRET' */",
        "\"db.password\" /* it's */ : \"S3CRET\"",
        "\"password\"\n:\n\"S3CRET\"",
        "\"password\": [\"S3CRET\", {\"a\": \"S3CRET\"}]",
        "\"password (prod)\": \"S3CRET\"",
        "“password”：“S3CRET”",
        "\"PASSWORD\": \"x S3CRET",
        "\"password\": \"a\\\"S3CRET\\\"\"",
        "\\\"password\\\": \\\"S3CRET\\\"",
        "\"url\": \"x://ann:S3CRET@host/db\"",
        "'url': 'x://ann:S3CRET@host/db'",
        "\"url\": \"x://ann:p@ss/S3CRET@host/db\"",
        "'url': 'x://ann:p@ss/?S3CRET@host/db'",
        "\"url\": \"jdbc:oracle:thin:scott/S3CRET@//h\"",
        "\"url\": \"jdbc:sqlserver://h;user=a;password=S3CRET;x=1\"",
        "\"dsn\": \"host=h password=S3CRET user=x\"",
        "\"dsn\": \"host=h password='two S3CRET' user=x\"",
    ];
    let before = [
        "",
        "// don't\n",
        "{\"name\": \"abc,\n",
        "\"sql\": \"where a = \"x\" and b\",\n",
        "/* ",
        "[[[{",
        "\"token\": \"",
        "'",
    ];
    let after = ["", ",", "\n", "}", " \"x\": 1}", ", 'x': \"y\"", " // it's"];
    for form in forms {
        for before in before {
            for after in after {
                let text = format!("{before}{form}{after}");
                let masked = mask_broken(&text);
                assert!(!masked.contains("S3CRET"), "{text}\n{masked}");
                assert_eq!(masked.chars().count(), text.chars().count(), "{text}\n{masked}");
                assert_eq!(masked.lines().count(), text.lines().count(), "{text}\n{masked}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_text_is_lines_and_columns_stay(
        text in r#"(password|"token"|x://a:b@|[ \[\]{}:,="'\\\n\r/*#x“”，密]|\PC){0,40}"#
    ) {
        let masked = mask_broken(&text);
        let lengths = |text: &str| text.split('\n').map(|line| line.chars().count()).collect::<Vec<_>>();
        prop_assert_eq!(lengths(&masked), lengths(&text));
        for (shown, written) in masked.chars().zip(text.chars()) {
            prop_assert!(shown == written || shown == '*');
        }
    }
}
