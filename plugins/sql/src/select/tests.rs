//! Tests of the text of queries.

use super::*;

#[test]
fn columns_stand_as_they_are() {
    let columns = ["id", "'x' as kind", "upper(\"Name\")"];
    assert_eq!(from_table(&columns, "s.t", None, None), "SELECT id, 'x' as kind, upper(\"Name\") FROM s.t");
}

/// Trap 55.
/// Case 16.
#[test]
fn a_condition_with_or_keeps_to_itself() {
    let sql = from_table(&["*"], "t", Some("a > 50 or b = 'AUK'"), Some("id >= 3 AND id < 9"));
    assert_eq!(sql, "SELECT * FROM t WHERE (a > 50 or b = 'AUK') AND id >= 3 AND id < 9");
    assert_eq!(from_table(&["*"], "t", None, Some("id < 9")), "SELECT * FROM t WHERE id < 9");
}

#[test]
fn a_comment_at_the_end_of_a_condition_swallows_nothing() {
    assert_eq!(conditions(Some("a = 1 -- only these"), Some("id < 9")), " WHERE (a = 1 -- only these\n) AND id < 9");
}
