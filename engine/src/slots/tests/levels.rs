//! The arithmetic of levels.

use std::time::Duration;

use super::super::levels::{Account, Levels, level_of};

fn seconds(levels: &Levels) -> [u64; 5] {
    levels.used().map(|used| used.as_secs())
}

#[test]
fn a_content_sinks_at_one_ten_sixty_and_three_hundred_seconds() {
    let levels = [0, 999, 1000, 9_999, 10_000, 59_999, 60_000, 299_999, 300_000, 9_000_000];
    let levels = levels.map(|millis| level_of(Duration::from_millis(millis)));
    assert_eq!(levels, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
}

/// PX-07.
#[test]
fn a_slice_across_a_border_counts_for_both_levels_up_to_the_cap() {
    let mut levels = Levels::default();
    let mut contents = [Account::new(1), Account::new(1)];
    let expected = [[2, 0, 0, 0, 0], [2, 18, 0, 0, 0], [2, 18, 60, 0, 0], [2, 18, 60, 60, 0]];
    for (step, expected) in [1, 9, 50, 240].into_iter().zip(expected) {
        for content in &mut contents {
            levels.charge(content, Duration::from_secs(step));
        }
        assert_eq!(seconds(&levels), expected);
    }
    assert_eq!(contents.map(|content| content.level), [4, 4]);
}

/// PX-08.
#[test]
fn one_slice_of_ten_minutes_ends_in_the_last_level() {
    let mut levels = Levels::default();
    let mut content = Account::new(1);
    levels.charge(&mut content, Duration::from_secs(600));
    assert_eq!(seconds(&levels), [1, 9, 20, 0, 0]);
    assert_eq!((content.level, content.priority), (4, Duration::from_secs(600 + 570)));
    // The border of 300 s was passed with 300 s of the slice to come, of which 270 had been counted on the way up.
    let rest = Duration::from_secs(600) - Duration::from_secs(1 + 9 + 20);
    assert_eq!(content.priority - content.used, rest);
}

#[test]
fn within_a_level_a_double_weight_halves_what_a_slice_costs() {
    let mut levels = Levels::default();
    let mut content = Account::new(2);
    levels.charge(&mut content, Duration::from_millis(400));
    assert_eq!(content.priority, Duration::from_millis(200));
    assert_eq!(content.used, Duration::from_millis(400), "it sinks by what it used");
}

/// PX-17.
#[test]
fn a_level_that_has_used_nothing_comes_first() {
    let mut levels = Levels::default();
    levels.set_used(0, Duration::from_secs(100));
    assert_eq!(levels.furthest_behind(|level| level == 0 || level == 3), Some(3));
    assert_eq!(levels.furthest_behind(|_| false), None);
}

#[test]
fn an_empty_level_gets_back_no_claim_from_the_time_it_was_empty() {
    let mut levels = Levels::default();
    levels.enter(0);
    levels.set_used(0, Duration::from_secs(32));
    levels.enter(2);
    assert_eq!(levels.used()[2], Duration::from_secs(8), "its share");
    levels.set_used(0, Duration::from_secs(64));
    levels.enter(2);
    assert_eq!(levels.used()[2], Duration::from_secs(8), "somebody was there");
}
