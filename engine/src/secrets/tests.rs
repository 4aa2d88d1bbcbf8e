//! What is learned from a job file, and what is masked.

use serde_json::{Value, json};

use super::Secrets;

fn mask(parameter: Value, text: &str) -> String {
    let mut secrets = Secrets::default();
    secrets.learn(&parameter);
    secrets.mask(text)
}

#[track_caller]
fn fetched(secret: &str, text: &str, expected: &str) {
    let mut secrets = Secrets::default();
    secrets.add_all(&[secret.to_string()]);
    assert_eq!(secrets.mask(text), expected, "{secret}");
}

#[test]
fn values_under_secret_names_are_masked_at_any_depth() {
    let parameter = json!({"user": "ann", "connection": [{"Password": "p@ss:w/rd"}], "access_key": {"id": "AKIA9"}});
    assert_eq!(mask(parameter, "ann cannot log in with p@ss:w/rd or AKIA9"), "ann cannot log in with *** or ***");
}

#[test]
fn a_header_that_is_one_text_is_masked_whole_and_without_its_scheme() {
    let parameter =
        json!({"headers": ["Authorization: Bearer t0ken", "Accept: text/csv", "X-Api-Key:k3y"], "pass": "p4ss"});
    let text = "Authorization: Bearer t0ken, t0ken, k3y, p4ss, text/csv";
    assert_eq!(mask(parameter, text), "Authorization: ***, ***, ***, ***, text/csv");
}

#[test]
fn a_secret_is_masked_in_its_escaped_form_too() {
    assert_eq!(mask(json!({"pwd": "a\"b\\c"}), r#"{"pwd":"a\"b\\c"}"#), r#"{"pwd":"***"}"#);
}

#[test]
fn passwords_inside_urls_are_masked() {
    let parameter =
        json!({"url": "postgres://ann:s3cret@db/x", "jdbcUrl": "jdbc:mysql://h/d?user=a&password=hidden&ssl=1"});
    assert_eq!(mask(parameter, "s3cret hidden ssl"), "*** *** ssl");
}

#[test]
fn an_encoded_password_is_masked_as_it_is_written_and_as_it_is_meant() {
    let parameter = json!({"url": "postgres://ann:p%40ss%2Fw%C3%B6rd@db/x"});
    assert_eq!(mask(parameter, "ann:p%40ss%2Fw%C3%B6rd@db is p@ss/wörd"), "ann:***@db is ***");
}

#[test]
fn the_password_of_an_address_that_is_a_secret_itself_is_masked_alone_too() {
    assert_eq!(mask(json!({"credentials": "x://ann:s3cret@db"}), "x://ann:s3cret@db: s3cret"), "***: ***");
}

#[test]
fn inside_a_tree_only_strings_are_masked() {
    let mut secrets = Secrets::default();
    secrets.learn(&json!({"password": "123"}));
    let mut tree = json!({"rows123": 123, "message": "no user 123", "list": ["123"]});
    secrets.mask_tree(&mut tree);
    assert_eq!(tree, json!({"rows123": 123, "message": "no user ***", "list": ["***"]}));
}

#[test]
fn of_a_setting_whatever_stands_under_a_secret_name_is_gone() {
    let tree =
        json!({"password": 12, "token": {"id": 4711, "on": true}, "port": 4711, "url": "x://a:4711@b", "rows": 12});
    let mut secrets = Secrets::default();
    secrets.learn(&tree);
    let mut shown = tree;
    secrets.mask_setting(&mut shown);
    let expected =
        json!({"password": "***", "token": {"id": "***", "on": true}, "port": "***", "url": "x://a:***@b", "rows": 12});
    assert_eq!(shown, expected);
}

#[test]
fn a_secret_that_holds_another_is_masked_whole() {
    assert_eq!(mask(json!({"token": "abc", "secret": "abcdef"}), "abcdef abc"), "*** ***");
}

#[test]
fn a_long_secret_is_masked_inside_of_words_too() {
    fetched("s3cret", "dirs3cret9", "dir***9");
    fetched("abc", "dirabc9", "dir***9");
    fetched("739173", "id=1739173", "id=1***");
}

#[test]
fn a_short_secret_is_masked_where_it_is_no_part_of_a_word() {
    fetched("pw", "u:pw@h (pw) 'pw' pw1 dir_pw/x spwn pwd", "u:***@h (***) '***' ***1 dir_***/x spwn pwd");
    fetched("s", "is s=s", "is ***=***");
    fetched("a1", "a1 xa1 a12 a1x", "*** xa1 a12 ***x");
    fetched("密", "我的密码", "我的***码");
    fetched("-", "a - b \"-\" 2026-11-30 --", "a *** b \"***\" 2026-11-30 --");
}

#[test]
fn a_short_number_is_masked_where_it_is_no_part_of_another() {
    fetched("300", "300 of 1300, 3000 or 30; x300y 300.5", "*** of 1300, 3000 or 30; x***y ***.5");
    fetched(
        "5",
        "pin 5. 5 15 0.5 s, 5,000 on 2026-11-5 at 7:5, h:5/x",
        "pin ***. *** 15 0.5 s, 5,000 on 2026-11-5 at 7:5, h:***/x",
    );
}

#[test]
fn what_nobody_keeps_secret_is_shown() {
    for word in ["true", "false", "null", "", " ", "\n"] {
        fetched(word, "this is true\nor false or null", "this is true\nor false or null");
    }
    assert_eq!(mask(json!({"maxTokens": 10, "useToken": "true"}), "10 is true"), "10 is true");
}
