//! Tests of what is PostgreSQL's own in a job's parameters.

use super::*;

#[test]
fn java_and_posix_count_offsets_the_other_way_round() {
    assert_eq!(server_zone("GMT+8"), "<GMT+8>-8:00");
    assert_eq!(server_zone("GMT-03:30"), "<GMT-03:30>+03:30");
    assert_eq!(server_zone("Asia/Shanghai"), "Asia/Shanghai");
    assert_eq!(server_zone("UTC"), "UTC");
}
