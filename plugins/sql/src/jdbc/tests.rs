//! Tests of URLs: what is found in them, what is refused, and that no password is shown.

use super::*;

fn mysql(text: &str) -> Url {
    Url::parse(text, &MYSQL).unwrap()
}

fn postgres(text: &str) -> Url {
    Url::parse(text, &POSTGRESQL).unwrap()
}

fn hosts(url: &Url) -> Vec<String> {
    url.hosts.iter().map(Host::to_string).collect()
}

#[test]
fn hosts_and_database_are_found() {
    let url = mysql("jdbc:mysql://127.0.0.1:3307/ts_cases?useUnicode=true&characterEncoding=utf8");
    assert_eq!((hosts(&url), url.database.as_deref()), (vec!["127.0.0.1:3307".into()], Some("ts_cases")));
    assert_eq!((url.property("CHARACTERENCODING"), url.truth("useUnicode")), (Some("utf8"), Ok(Some(true))));
    assert_eq!(hosts(&mysql("JDBC:MariaDB://db")), ["db:3306"]);
    assert_eq!(hosts(&mysql("mysql://a:1,b:2,c/x")), ["a:1", "b:2", "c:3306"]);
    assert_eq!(hosts(&postgres("jdbc:postgresql://[::1]:5433,[fe80::1]/x")), ["[::1]:5433", "[fe80::1]:5432"]);
    assert_eq!(hosts(&postgres("postgres://::1/x")), ["[::1]:5432"]);
    let database = |text: &str| postgres(text).database;
    assert_eq!(database("jdbc:postgresql://host/a%2Fb"), Some("a/b".into()));
    assert_eq!(database("jdbc:postgresql://host/"), None);
    assert_eq!(database("jdbc:postgresql:shop"), Some("shop".into()));
    assert_eq!(database("jdbc:postgresql:/"), None);
    assert_eq!(hosts(&postgres("jdbc:postgresql:shop?ssl=true")), ["localhost:5432"]);
}

#[test]
fn the_forms_of_other_drivers_are_understood() {
    let url = mysql("jdbc:mysql:replication://primary:3306,replica:3307/x");
    assert_eq!(
        (url.mode.as_deref(), hosts(&url)),
        (Some("replication"), vec!["primary:3306".into(), "replica:3307".into()])
    );
    assert_eq!(hosts(&mysql("jdbc:mysql://address=(host=a)(port=3307)/x")), ["a:3307"]);
    assert_eq!(hosts(&mysql("jdbc:mysql://(host=a,port=1),(host=[::1])/x")), ["a:1", "[::1]:3306"]);
}

#[test]
fn user_and_password_may_have_any_character() {
    let login = |url: Url| (url.user.unwrap(), url.password.map(|password| password.reveal().to_string()));
    let expected = ("me@here".to_string(), Some("p@ss:w/rd#%$".to_string()));
    assert_eq!(login(mysql("jdbc:mysql://me%40here:p%40ss%3Aw%2Frd%23%25%24@host/x")), expected);
    // Not escaped as far as it can be understood nevertheless.
    assert_eq!(login(mysql("mysql://me%40here:p@ss:w%2Frd#%$@host/x")), expected);
    assert_eq!(login(postgres("jdbc:postgresql://host/x?user=me%40here&password=p%40ss%3Aw%2Frd%23%25%24")), expected);
    assert_eq!(login(mysql("mysql://me@host/x")), ("me".to_string(), None));
    let url = postgres("jdbc:postgresql://host/x?user=me&password=secret&ssl=true");
    assert_eq!(url.properties().collect::<Vec<_>>(), [("ssl", "true")]);
}

#[test]
fn properties_are_decoded() {
    let url =
        mysql("jdbc:mysql://h/x?serverTimezone=GMT%2B8&sessionVariables=sql_mode='ANSI'&empty=&a=1&a=2&flag&x=a+b");
    assert_eq!(url.property("serverTimezone"), Some("GMT+8"));
    assert_eq!(url.property("sessionVariables"), Some("sql_mode='ANSI'"));
    assert_eq!((url.property("empty"), url.property("flag"), url.property("x")), (Some(""), Some(""), Some("a b")));
    assert_eq!(url.property("a"), Some("2"));
    assert_eq!(url.whole("a"), Ok(Some(2)));
    assert_eq!(url.whole("missing"), Ok(None));
    assert_eq!(url.whole("x").unwrap_err(), "has x=a b, but it must be a whole number from 0 on");
    assert_eq!(url.truth("x").unwrap_err(), "has x=a b, but it must be true or false");
    let beside: Vec<_> = url.properties_beside(&["SERVERTIMEZONE", "a", "empty", "flag"]).collect();
    assert_eq!(beside, ["sessionVariables", "x"]);
}

/// Case 32.
#[test]
fn urls_of_other_systems_are_named() {
    let problem = |text: &str| Url::parse(text, &MYSQL).unwrap_err();
    assert!(problem("jdbc:xyz://host/x").starts_with("names jdbc:xyz: there is no plugin for it here"));
    assert!(problem("jdbc:postgresql://host/x").contains("postgresqlreader and postgresqlwriter"));
    assert!(problem("jdbc:sqlite:/x.db").contains("sqlitereader"));
    assert!(problem("just words").starts_with("is no URL: write \"jdbc:mysql://"));
}

#[test]
fn what_is_no_host_is_refused() {
    let problem = |text: &str| Url::parse(text, &MYSQL).unwrap_err();
    assert!(problem("mysql://a:99999/x").contains("from 1 to 65535"));
    assert!(problem("mysql://a:0/x").contains("from 1 to 65535"));
    assert!(problem("mysql://a,,b/x").contains("without a name"));
    assert!(problem("mysql://[::1/x").contains("without a \"]\""));
    assert!(problem("mysql://(port=1)/x").contains("\"host=\""));
    assert!(problem("mysql://me:12?34@host/x").contains("write ? as %3F"));
}

#[test]
fn no_password_is_ever_shown() {
    let url = postgres("jdbc:postgresql://me:hush@host:1/x?password=hush&sslpassword=hush");
    assert_eq!(format!("{url}"), "postgresql://host:1/x");
    assert_eq!(format!("{url:?}"), "postgresql://host:1/x as \"me\" with [\"sslpassword\"]");
    // A password that has a slash or a question mark in it ends elsewhere than its owner meant.
    for text in ["mysql://me:hu/sh@host/x", "mysql://me:hu?sh@host/x", "me:hush@host", "mysql://me:hush", "hush"] {
        let said = match Url::parse(text, &MYSQL) {
            Ok(url) => format!("{url} {url:?}"),
            Err(problem) => problem,
        };
        assert!(!said.contains("hush") && !said.contains("sh@"), "{text}: {said}");
    }
}
