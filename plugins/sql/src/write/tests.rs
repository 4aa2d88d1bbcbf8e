//! Tests of what is written: statements, values, and the bad rows of a batch.

use std::collections::BTreeSet;
use std::ops::Range;

use proptest::prelude::*;
use transship_plugin_api::Error;

use super::*;
use crate::{Dialect, MySql, Postgres, Sqlite};

const TARGET: Target<'_> =
    Target { table: "s.t", columns: &["id", "shop", "a \"b\"", "c"], others: &["d"], primary_key: &["id", "Shop"] };

fn statement(dialect: &dyn Dialect, mode: WriteMode) -> String {
    Statement::new(dialect, &mode, &TARGET).unwrap().with_values("(1)")
}

#[test]
fn each_mode_has_its_statement() {
    let mysql = "INTO s.t (`id`, `shop`, `a \"b\"`, `c`) VALUES (1)";
    assert_eq!(statement(&MySql, WriteMode::Insert), format!("INSERT {mysql}"));
    assert_eq!(statement(&MySql, WriteMode::Ignore), format!("INSERT {mysql} ON DUPLICATE KEY UPDATE `id` = `id`"));
    assert_eq!(statement(&MySql, WriteMode::Replace), format!("REPLACE {mysql}"));
    let postgres = "INSERT INTO s.t (\"id\", \"shop\", \"a \"\"b\"\"\", \"c\") VALUES (1)";
    assert_eq!(statement(&Postgres, WriteMode::Insert), postgres);
    assert_eq!(statement(&Postgres, WriteMode::Ignore), format!("{postgres} ON CONFLICT DO NOTHING"));
    let update = "ON CONFLICT (\"id\", \"shop\") DO UPDATE SET \"a \"\"b\"\"\" = excluded.\"a \"\"b\"\"\", \"c\" = excluded.\"c\"";
    assert_eq!(statement(&Postgres, WriteMode::Update(None)), format!("{postgres} {update}"));
    assert_eq!(statement(&Postgres, WriteMode::Replace), format!("{postgres} {update}, \"d\" = DEFAULT"));
    assert!(statement(&Sqlite, WriteMode::Replace).starts_with("INSERT OR REPLACE INTO s.t"));
}

/// Trap 66.
#[test]
fn mysql_updates_every_column_unless_the_keys_are_named() {
    let all = statement(&MySql, WriteMode::Update(None));
    let set = "`id` = VALUES(`id`), `shop` = VALUES(`shop`), `a \"b\"` = VALUES(`a \"b\"`), `c` = VALUES(`c`)";
    assert!(all.ends_with(&format!("ON DUPLICATE KEY UPDATE {set}")), "{all}");
    let named = statement(&MySql, WriteMode::Update(Some(vec!["ID".into(), "shop".into()])));
    let set = "`a \"b\"` = VALUES(`a \"b\"`), `c` = VALUES(`c`)";
    assert!(named.ends_with(&format!("ON DUPLICATE KEY UPDATE {set}")), "{named}");
}

#[test]
fn a_record_of_nothing_but_key_is_still_written() {
    let target = Target { columns: &["id"], primary_key: &["id"], ..TARGET };
    let statement = Statement::new(&Postgres, &WriteMode::Update(None), &target).unwrap();
    assert_eq!(statement.tail, " ON CONFLICT (\"id\") DO UPDATE SET \"id\" = excluded.\"id\"");
}

#[test]
fn rows_cannot_be_found_without_a_key() {
    let problem = |mode: &WriteMode, target: Target<'_>| Statement::new(&Postgres, mode, &target).unwrap_err();
    let without = problem(&WriteMode::Update(None), Target { primary_key: &[], ..TARGET });
    assert!(without.message().starts_with("table s.t has no primary key to update by: name"), "{without}");
    let elsewhere = problem(&WriteMode::Update(Some(vec!["id".into(), "d".into()])), TARGET);
    assert!(elsewhere.message().starts_with("the key column \"d\" of table s.t is not among"), "{elsewhere}");
    let no_columns = Target { columns: &["c"], ..TARGET };
    assert!(problem(&WriteMode::Replace, no_columns).message().starts_with("the key column \"id\""));
}

#[test]
fn places_are_numbered_where_the_database_wants_it() {
    let target = Target { columns: &["a", "b"], ..TARGET };
    let statement = Statement::new(&Postgres, &WriteMode::Ignore, &target).unwrap();
    let sql = statement.with_placeholders(&Postgres, 2);
    assert_eq!(sql, "INSERT INTO s.t (\"a\", \"b\") VALUES ($1, $2), ($3, $4) ON CONFLICT DO NOTHING");
    assert!(statement.with_placeholders(&MySql, 1).contains("VALUES (?, ?)"));
    let staged = statement.with_query("SELECT * FROM staged");
    assert_eq!(staged, "INSERT INTO s.t (\"a\", \"b\") SELECT * FROM staged ON CONFLICT DO NOTHING");
}

#[test]
fn modes_are_read_in_every_spelling() {
    let mode = WriteMode::parse;
    for insert in ["insert", "INSERT", "insert into", " Insert ", "insert or fail"] {
        assert_eq!(mode(insert), Some(WriteMode::Insert), "{insert}");
    }
    assert_eq!(mode("Insert Ignore"), Some(WriteMode::Ignore));
    assert_eq!(mode("insert or ignore into"), Some(WriteMode::Ignore));
    assert_eq!(mode("replace"), Some(WriteMode::Replace));
    assert_eq!(mode("insert or replace"), Some(WriteMode::Replace));
    assert_eq!(mode("UPDATE"), Some(WriteMode::Update(None)));
    assert_eq!(mode("update(a, \"b c\")"), Some(WriteMode::Update(Some(vec!["a".into(), "b c".into()]))));
    for unknown in ["", "upsert", "insert or rollback", "update()", "update(a", "update(a,)", "delete from t"] {
        assert_eq!(mode(unknown), None, "{unknown}");
    }
    assert!(WriteMode::Replace.is_idempotent() && !WriteMode::Ignore.is_idempotent());
}

#[test]
fn tables_are_made_with_quoted_names() {
    let column =
        |name: &str, declared: &str, nullable| NewColumn { name: name.into(), declared: declared.into(), nullable };
    let columns = [column("order", "bigint", false), column("a`b", "text", true)];
    let sql = create_table(&MySql, "`s`.`t`", &columns);
    assert_eq!(sql, "CREATE TABLE IF NOT EXISTS `s`.`t` (`order` bigint NOT NULL, `a``b` text)");
}

/// A table whose keys are unique: what was stored, in order, and how many statements it took.
struct Store<'a> {
    keys: &'a [Option<u8>],
    stored: Vec<usize>,
    statements: usize,
    /// Whether it says which row is bad.
    names_rows: bool,
}

impl Store<'_> {
    /// All rows or none. A row without a key is bad, and so is one whose key is there.
    fn try_store(&mut self, rows: Range<usize>) -> Result<(), RowsError> {
        self.statements += 1;
        let mut there: BTreeSet<_> = self.stored.iter().map(|row| self.keys[*row]).collect();
        let bad = rows.clone().find(|row| self.keys[*row].is_none() || !there.insert(self.keys[*row]));
        match bad {
            None => {
                self.stored.extend(rows);
                Ok(())
            }
            Some(row) if self.names_rows => {
                Err(RowsError::Row(BadRow { row, column: Some(0), cause: format!("row {row}") }))
            }
            Some(row) => Err(RowsError::Some(format!("row {row}"))),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn exactly_the_bad_rows_are_left_out(
        keys in proptest::collection::vec(proptest::option::weighted(0.95, any::<u8>()), 0..300), names_rows in any::<bool>(),
    ) {
        let mut store = Store { keys: &keys, stored: Vec::new(), statements: 0, names_rows };
        let bad = super::store(0..keys.len(), &mut |rows| store.try_store(rows)).unwrap();
        // As if they had come one by one.
        let mut one_by_one = Store { keys: &keys, stored: Vec::new(), statements: 0, names_rows };
        let expected: Vec<_> = (0..keys.len()).filter(|row| one_by_one.try_store(*row..*row + 1).is_err()).collect();
        prop_assert_eq!(bad.iter().map(|bad| bad.row).collect::<Vec<_>>(), expected);
        prop_assert_eq!(&store.stored, &one_by_one.stored);
        for bad in &bad {
            prop_assert_eq!(&bad.cause, &format!("row {}", bad.row));
        }
        let (rows, bad) = (keys.len().max(1) as f64, bad.len() as f64);
        let most = if names_rows { 1.0 + 2.0 * bad } else { 1.0 + bad * (2.0 * (rows / bad.max(1.0)).log2().ceil() + 3.0) };
        prop_assert!(store.statements as f64 <= most, "{} statements for {bad} of {rows} rows", store.statements);
    }
}

#[test]
fn one_bad_row_is_found_with_few_statements() {
    for bad in 0..2_048usize {
        let mut statements = 0;
        let found = store(0..2_048, &mut |rows| {
            statements += 1;
            if rows.contains(&bad) { Err(RowsError::Some("bad".into())) } else { Ok(()) }
        });
        assert_eq!(found.unwrap().iter().map(|bad| bad.row).collect::<Vec<_>>(), [bad]);
        assert!(statements <= 2 * 11 + 1, "{statements} statements for row {bad}");
    }
}

#[test]
fn an_error_that_is_of_no_row_ends_it() {
    let mut tried = Vec::new();
    let error = store(0..8, &mut |rows| {
        tried.push(rows.clone());
        match rows.len() {
            8 => Err(RowsError::Some("bad".into())),
            _ => Err(Error::connect("gone").into()),
        }
    });
    assert_eq!((error.unwrap_err().message(), tried), ("gone", vec![0..8, 0..4]));
}

#[test]
fn a_row_that_was_never_in_question_does_not_mislead() {
    let bad = BadRow { row: 99, column: None, cause: "bad".into() };
    let found = store(0..4, &mut |rows| if rows.contains(&2) { Err(RowsError::Row(bad.clone())) } else { Ok(()) });
    assert_eq!(found.unwrap(), [BadRow { row: 2, ..bad }]);
}

fn by_name(columns: &[&'static str], are_named: bool, records: &[&str]) -> Result<Vec<&'static str>, String> {
    let ordered = Mapping::Name.in_order(columns.to_vec(), |name| name, are_named, Some(records), "t");
    ordered.map_err(|error| error.message().to_string())
}

#[test]
fn columns_find_each_other_by_name() {
    assert_eq!(by_name(&["a", "b", "c"], true, &["c", "a", "b"]).unwrap(), ["c", "a", "b"]);
    // Spelt alike goes before alike but for the case.
    assert_eq!(by_name(&["A", "a"], true, &["a", "A"]).unwrap(), ["a", "A"]);
    assert_eq!(by_name(&["Straße", "ID"], true, &["id", "STRAßE"]).unwrap(), ["ID", "Straße"]);
    // Of all columns of a table those that the records lack keep their defaults.
    assert_eq!(by_name(&["id", "made_at", "name"], false, &["name", "id"]).unwrap(), ["name", "id"]);
}

#[test]
fn a_column_without_a_partner_of_its_name_is_told() {
    let said = by_name(&["id", "name"], true, &["id", "nmae"]).unwrap_err();
    assert_eq!(
        said,
        "no column of table t takes the records' column \"nmae\": did you mean \"name\"? Name it so in the reader"
    );
    let said = by_name(&["id", "name"], false, &["id", "town"]).unwrap_err();
    assert_eq!(said, "no column of table t takes the records' column \"town\": left to fill are name");
    let said = by_name(&["id", "name", "town"], true, &["town", "id"]).unwrap_err();
    let expected =
        "\"column\" names \"name\" of table t, but the records have no column of this name: they have town, id";
    assert_eq!(said, expected);
    let said = by_name(&["id"], true, &["id", "id"]).unwrap_err();
    assert!(said.starts_with("the records have two columns of the name \"id\""), "{said}");
    let unknown = Mapping::Name.in_order(vec!["id"], |name| name, true, None, "t").unwrap_err();
    assert!(unknown.message().contains("does not tell its columns before it reads"), "{unknown}");
}

#[test]
fn by_position_nothing_is_moved() {
    let kept = Mapping::Position.in_order(vec!["b", "a"], |name| name, true, None, "t").unwrap();
    assert_eq!(kept, ["b", "a"]);
}
