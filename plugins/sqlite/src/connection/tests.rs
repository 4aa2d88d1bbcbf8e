//! Tests of how statements are shown.

use super::*;

#[test]
fn a_short_statement_is_shown_whole_and_of_a_long_one_the_part_that_matters() {
    assert_eq!(excerpt("select 1", 7), "select 1");
    let long = format!("begin{}here{}end", "é".repeat(500), "-".repeat(500));
    let shown = |around| excerpt(&long, around);
    assert_eq!(shown(0), format!("begin{}…", "é".repeat(195)));
    assert_eq!(shown(long.find("here").unwrap()), format!("…{}here{}…", "é".repeat(100), "-".repeat(96)));
    assert_eq!(shown(long.len()), format!("…{}end", "-".repeat(197)));
    assert_eq!(shown(usize::MAX), shown(long.len()));
}
