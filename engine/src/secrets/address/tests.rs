//! Which parts of a text are passwords, and which texts hold none.

use super::{decoded, passwords};

#[track_caller]
fn holds(text: &str, expected: &[&str]) {
    assert_eq!(passwords(text), expected, "{text}");
}

#[test]
fn a_password_stands_before_the_last_at_sign() {
    holds("postgres://ann:s3cret@db/x", &["s3cret"]);
    holds("postgres://ann:p@ss/wordX@db/x", &["p@ss/wordX"]);
    holds("postgres://ann:w?rd#1@db:5432/x and more@text", &["w?rd#1"]);
    holds("x://ann@corp.com:s3cret@db", &["s3cret"]);
    holds("x://:s3cret@db, y://bob:hidden@db", &["s3cret", "hidden"]);
    holds("x://ann:pw@db", &["pw"]);
}

#[test]
fn where_nobody_can_tell_the_end_both_are_taken() {
    holds("x://ann:s3cret@db/x?mail=a@b", &["s3cret@db/x?mail=a", "s3cret"]);
    holds("h1?password=a,b;c&x=1", &["a,b;c"]);
    holds("h1?password=abc;ssl=1&x=1", &["abc;ssl=1", "abc"]);
}

#[test]
fn oracle_has_a_slash_before_the_password() {
    holds("jdbc:oracle:thin:scott/Tiger77@//h:1521/x", &["Tiger77"]);
    holds("jdbc:oracle:oci:scott/Ti@ger/77@h", &["Ti@ger/77"]);
    holds("jdbc:oracle:thin:@//h:1521/x?mail=a@b", &[]);
}

#[test]
fn parameters_are_found_however_they_are_separated() {
    holds("jdbc:mysql://h/d?user=a&password=hidden&ssl=1", &["hidden"]);
    holds("jdbc:sqlserver://h;user=a;password=a b&c;x=1", &["a b&c"]);
    holds("jdbc:sqlserver://h;user=a;password={a;b}x;y=1", &["a;b"]);
    holds("host=h password=Keyword1 user=x", &["Keyword1"]);
    holds("host = h password = 'two \\'words' user = x", &["two \\'words"]);
    holds("password=Keyword1 host=h token=a=b", &["Keyword1", "a=b"]);
    holds("Server=h;User Id=a;Password=Keyword1;X=1", &["Keyword1"]);
    holds("h:6379,password=Keyword1,ssl=true", &["Keyword1"]);
    holds("(x=(password=Keyword1))", &["Keyword1))", "Keyword1"]);
    holds("curl --token=Keyword1 x", &["Keyword1"]);
    holds("update t set token='Keyword1' where token = 'Keyword2'", &["Keyword1", "Keyword2"]);
}

#[test]
fn other_texts_hold_no_password() {
    for text in [
        "",
        "a plain text: with colons, mail@example.com and = signs",
        "http://h:8080/x?mail=a@b",
        "jdbc:hive2://h:10000/db;principal=hive/_HOST@REALM",
        "http://h/a:b@c",
        "s3://bucket/x",
        "://:@ =",
        "password",
        "the token = number of words",
        "select a, token from t where token=t.id and pwd = 100",
        "jdbc:mysql://h/d?user=a&ssl=1",
        "x://ann:@h?password=&y=1",
        "/x/dir=1/password/y",
    ] {
        holds(text, &[]);
    }
}

#[test]
fn a_text_full_of_beginnings_is_read_in_no_time() {
    let text = "x://ann:password=@".repeat(5_000);
    let started = std::time::Instant::now();
    assert!(!passwords(&text).is_empty());
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

#[test]
fn what_is_encoded_is_decoded_once() {
    assert_eq!(decoded("p%40ss%2fw%C3%B6rd").as_deref(), Some("p@ss/wörd"));
    assert_eq!(decoded("100%2525").as_deref(), Some("100%25"));
    for text in ["plain", "", "%", "%4", "%zz", "100%", "%ff"] {
        assert_eq!(decoded(text), None, "{text}");
    }
}
