//! Tests of names: ranges of tables, quotes, and names told from expressions.

use super::*;
use crate::{MySql, Postgres, Sqlite};

fn tables_of(entry: &str) -> Vec<String> {
    let mut tables = Vec::new();
    expand(entry, &mut tables).unwrap();
    tables
}

fn words_of(text: &str, dialect: &dyn Dialect) -> Option<Vec<String>> {
    Some(qualified(text, dialect)?.into_iter().map(|word| word.name).collect())
}

#[test]
fn ranges_of_tables_are_expanded_as_datax_does() {
    assert_eq!(tables_of("t[0-2]"), ["t0", "t1", "t2"]);
    assert_eq!(tables_of("db.t[00-02]_x"), ["db.t00_x", "db.t01_x", "db.t02_x"]);
    assert_eq!(tables_of("t[08-11]"), ["t08", "t09", "t10", "t11"]);
    assert_eq!(tables_of("t[10-08]"), ["t08", "t09", "t10"]);
    assert_eq!(tables_of("t[8-10]"), ["t8", "t9", "t10"]);
    assert_eq!(tables_of("a, b,"), ["a", "b"]);
    // Not a range: a name in SQL Server's quotes, a name with a blank before the bracket.
    assert_eq!(tables_of("[order]"), ["[order]"]);
    assert_eq!(tables_of("my t[0-1]"), ["my t[0-1]"]);
    let problem = expand("t[0-18446744073709551615]", &mut Vec::new()).unwrap_err();
    assert!(problem.contains("more than 100000 tables"), "{problem}");
}

#[test]
fn commas_in_quotes_separate_no_tables() {
    assert_eq!(tables_of("\"a, b\".\"c\", d"), ["\"a, b\".\"c\"", "d"]);
    assert_eq!(tables_of("`a,b`,c[0-1]"), ["`a,b`", "c0", "c1"]);
    assert_eq!(tables_of("\"a\"\",b\""), ["\"a\"\",b\""]);
    // A quote that nothing closes.
    assert_eq!(tables_of("a\", b"), ["a\"", "b"]);
}

#[test]
fn names_survive_quoting() {
    for name in ["plain", "with \"quotes\"", "`", "order", "a.b", "ü ' ;"] {
        for dialect in [&MySql as &dyn Dialect, &Postgres, &Sqlite] {
            assert_eq!(unquote(&dialect.quote(name)), name);
            let word = Identifier { name: name.into(), quoted: true };
            assert_eq!(column(&dialect.quote(name), dialect), Some(word));
        }
    }
    assert_eq!(unquote("`a``b`"), "a`b");
    assert_eq!(unquote("[a b]"), "a b");
    assert_eq!(unquote("\""), "\"");
}

#[test]
fn qualified_names_are_taken_apart() {
    let words = |words: &[&str]| Some(words.iter().map(|word| word.to_string()).collect::<Vec<_>>());
    assert_eq!(words_of("harbour.\"Cargo Lot\"", &Postgres), words(&["harbour", "Cargo Lot"]));
    assert_eq!(words_of(" a . `b.c` ", &MySql), words(&["a", "b.c"]));
    assert_eq!(words_of("größe", &Postgres), words(&["größe"]));
    assert_eq!(words_of("2020_sales", &MySql), words(&["2020_sales"]));
    for text in ["", "a.", ".a", "a b", "\"a", "\"a\"b", "count(*)", "a-b", "2020_sales", "`a`"] {
        assert_eq!(words_of(text, &Postgres), None, "{text}");
    }
}

#[test]
fn columns_are_told_from_expressions_and_constants() {
    let is_name = |text: &str, dialect: &dyn Dialect| column(text, dialect).is_some();
    for name in ["id", " id ", "\"Id\"", "\"null\"", "order", "_x", "a$b"] {
        assert!(is_name(name, &Postgres), "{name}");
    }
    let others = ["1", "-1", "2e3", "'x'", "null", "TRUE", "t.id", "upper(a)", "a + b", "a::text", "*", "current_date"];
    for other in others {
        assert!(!is_name(other, &Postgres), "{other}");
        assert!(!is_name(other, &MySql), "{other}");
    }
    // A text in MySQL, and a number, which could be the name of a column only in quotes.
    assert!(!is_name("\"x\"", &MySql));
    assert!(!is_name("2e3", &MySql) && is_name("`2e3`", &MySql));
}

#[test]
fn constants_are_texts_numbers_and_null() {
    for constant in ["'it''s'", "''", "1", "-0.5", "+1e-7", ".5", "5.", "NULL"] {
        assert!(is_constant(constant), "{constant}");
    }
    for other in ["'a' || 'b'", "'", "a", "1a", "1e", ".", "-", "0x10", "inf"] {
        assert!(!is_constant(other), "{other}");
    }
}
