//! Turns on a simulated machine, by the scenarios for multilevel queues, fair schedulers and permits.

use std::time::Duration;

use proptest::prelude::*;

use super::super::Rules;
use super::super::levels::FROM;
use super::machine::{Machine, SECOND};

const QUANTUM: Duration = Duration::from_millis(100);
const ENDLESS: Duration = Duration::from_secs(1 << 30);

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// PX-03.
#[test]
fn of_two_contents_with_slices_of_ten_and_twenty_milliseconds_one_gets_twice_as_many() {
    let mut machine = Machine::new(1, Machine::without_gaps(QUANTUM));
    for slice in [10, 20] {
        let content = machine.content();
        machine.work(content, millis(slice), ENDLESS);
    }
    machine.run_until(millis(150));
    assert_eq!(&machine.letters()[..11], "ABAABAABAAB");
}

/// PX-04.
#[test]
fn all_tasks_of_a_content_sink_together() {
    let mut machine = Machine::new(2, Machine::without_gaps(QUANTUM));
    let content = machine.content();
    for _ in 0..2 {
        machine.work(content, millis(500), ENDLESS);
    }
    for (seconds, level) in [(1, 1), (10, 2), (60, 3), (300, 4)] {
        machine.run_until(SECOND * seconds);
        assert_eq!(machine.turns.standing(content).level, level, "after {seconds} s on each slot");
    }
}

/// Contents held in the five levels, with so many tasks each, on so many slots: what each gets of 1000 s.
fn shares_of_five_levels(
    tasks: usize,
    slots: usize,
    mut jitter: impl FnMut() -> Duration + Clone + 'static,
) -> Vec<f64> {
    let mut machine = Machine::new(slots, Machine::without_gaps(SECOND));
    let contents: Vec<usize> = (0..5).map(|_| machine.content()).collect();
    for (level, content) in contents.iter().enumerate() {
        machine.turns.account(*content).used = FROM[level];
        machine.turns.account(*content).level = level;
        machine.pin(*content);
        // All levels have their share to begin with.
        machine.turns.levels().set_used(level, SECOND * 16 / 2u32.pow(level as u32));
        for _ in 0..tasks {
            machine.varied_work(*content, jitter.clone(), ENDLESS);
            let _ = jitter();
        }
    }
    machine.run_until(SECOND * 1000);
    machine.shares(&contents)
}

fn is_within(shares: &[f64], wanted: [f64; 5], points: f64) {
    let all = shares.iter().zip(wanted).all(|(share, wanted)| (share - wanted).abs() <= points);
    assert!(all, "{shares:.1?} instead of {wanted:?}");
}

/// PX-15, PP-13.
#[test]
fn each_level_gets_twice_the_time_of_the_next_also_with_fewer_tasks_than_slots() {
    let slice = || millis(900);
    is_within(&shares_of_five_levels(1, 1, slice), [51.6, 25.8, 12.9, 6.5, 3.2], 2.0);
    is_within(&shares_of_five_levels(8, 1, slice), [51.6, 25.8, 12.9, 6.5, 3.2], 2.0);
    is_within(&shares_of_five_levels(1, 4, slice), [25.0, 25.0, 25.0, 16.7, 8.3], 2.0);
    is_within(&shares_of_five_levels(2, 4, slice), [49.9, 26.7, 13.4, 6.7, 3.4], 2.0);
    is_within(&shares_of_five_levels(3, 4, slice), [51.6, 25.8, 12.9, 6.5, 3.2], 2.0);
    is_within(&shares_of_five_levels(8, 4, slice), [51.5, 25.8, 12.9, 6.5, 3.3], 2.0);
    is_within(&shares_of_five_levels(3, 8, slice), [37.5, 33.3, 16.7, 8.3, 4.2], 2.0);
    is_within(&shares_of_five_levels(8, 8, slice), [51.6, 25.8, 12.9, 6.4, 3.3], 2.0);
}

#[test]
fn uneven_slices_do_not_change_the_shares() {
    // From 700 to 990 ms, as a small generator has it.
    let mut number = 1u64;
    let jitter = move || {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        millis(700 + (number >> 33) % 290)
    };
    is_within(&shares_of_five_levels(2, 4, jitter), [49.9, 26.7, 13.3, 6.7, 3.3], 2.0);
    is_within(&shares_of_five_levels(5, 4, jitter), [51.5, 25.8, 12.9, 6.5, 3.3], 2.0);
    is_within(&shares_of_five_levels(16, 8, jitter), [51.6, 25.8, 12.9, 6.4, 3.3], 2.0);
}

/// PX-05.
#[test]
fn of_neighbouring_levels_the_lower_one_gets_twice_as_many_slices() {
    for level in 0..4 {
        let mut machine = Machine::new(1, Machine::without_gaps(SECOND));
        let mut tasks = [Vec::new(), Vec::new()];
        for (place, of) in [(level + 1, 0), (level, 1), (level, 1)] {
            let content = machine.content();
            machine.turns.account(content).used = FROM[place];
            machine.turns.account(content).level = place;
            machine.pin(content);
            for _ in 0..2 {
                tasks[of].push(machine.work(content, millis(900), ENDLESS));
            }
        }
        machine.run_until(SECOND * 200);
        let slices =
            |of: usize| tasks[of].iter().map(|task| machine.served(*task).as_millis() / 900).sum::<u128>() as i64;
        let (higher, lower) = (slices(0), slices(1));
        assert!(lower > 2 * higher - 10 && higher < 2 * lower + 10, "level {level}: {lower} and {higher}");
        assert!((lower - 2 * higher).abs() < 10, "level {level}: {lower} and {higher}");
    }
}

/// PX-14.
#[test]
fn who_was_away_has_saved_up_no_claim() {
    let mut machine = Machine::new(1, Machine::without_gaps(QUANTUM));
    let (first, second) = (machine.content(), machine.content());
    let away = machine.work(first, QUANTUM, ENDLESS);
    machine.run_until(QUANTUM);
    machine.pin(first);
    machine.turns.go_away(0, machine.now);
    machine.work(second, QUANTUM, ENDLESS);
    machine.run_until(QUANTUM);
    machine.pin(second);
    machine.run_until(QUANTUM * 62);
    machine.turns.want(0, machine.now);
    let before = machine.served.len();
    machine.run_until(QUANTUM * 83);
    let turns = &machine.letters()[before..];
    assert!(!turns.contains("AA") && turns.matches('A').count() >= 9, "{turns} ({away})");
}

/// PP-01.
#[test]
fn two_contents_share_two_slots_evenly_and_so_do_the_tasks_of_each() {
    let mut machine = Machine::new(2, Machine::without_gaps(QUANTUM));
    let contents = [machine.content(), machine.content()];
    let tasks: Vec<usize> = contents
        .iter()
        .flat_map(|content| [content; 4])
        .map(|content| machine.work(*content, QUANTUM, ENDLESS))
        .collect();
    machine.run_until(SECOND * 20);
    for share in machine.shares(&contents) {
        assert!((share - 50.0).abs() <= 1.0, "{share}");
    }
    for task in tasks {
        let off = machine.served(task).abs_diff(SECOND * 5);
        assert!(off <= QUANTUM, "task {task} is {off:?} off its share");
    }
}

#[test]
fn a_content_of_twice_the_weight_gets_twice_the_time() {
    let mut machine = Machine::new(1, Machine::without_gaps(QUANTUM));
    let contents = [machine.turns.add_content(2), machine.turns.add_content(1)];
    for content in contents {
        machine.pin(content);
        machine.work(content, QUANTUM, ENDLESS);
    }
    machine.run_until(SECOND * 60);
    let shares = machine.shares(&contents);
    assert!((shares[0] - 66.7).abs() < 1.0, "{shares:?}");
}

/// How long a content with so much work takes beside one that has run for 500 s and goes on.
fn small_beside_large(seconds: u64, quantum: Duration) -> f64 {
    let mut machine = Machine::new(1, Machine::without_gaps(quantum));
    let large = machine.content();
    machine.work(large, quantum, SECOND * 1000);
    machine.run_until(SECOND * 500);
    let small = machine.content();
    let small = machine.work(small, quantum, SECOND * seconds as u32);
    machine.run_until(SECOND * 1000);
    (machine.finished(small).unwrap() - SECOND * 500).as_secs_f64()
}

/// PP-05.
#[test]
fn a_small_content_is_done_soon_beside_a_large_one() {
    for (work, wanted) in [(1, 1.0), (5, 6.0), (9, 10.0), (20, 25.0), (60, 75.0)] {
        let took = small_beside_large(work, SECOND);
        assert!((took - wanted).abs() <= 1.0, "{work} s of work took {took} s instead of {wanted}");
    }
    assert!(small_beside_large(5, QUANTUM) <= 5.7);
}

/// PP-06, PX-16.
#[test]
fn nobody_waits_longer_than_the_longest_gap() {
    let rules = Rules { quantum: QUANTUM, longest_gap: SECOND * 15 };
    let mut machine = Machine::new(1, rules);
    let old: Vec<usize> = (0..10)
        .map(|_| {
            let content = machine.content();
            machine.turns.account(content).used = FROM[4];
            machine.turns.account(content).level = 4;
            machine.pin(content);
            machine.work(content, QUANTUM, ENDLESS)
        })
        .collect();
    // Without end new contents come: there are always four of them.
    let mut new = Vec::new();
    for step in 0..3000 {
        new.retain(|task| machine.finished(*task).is_none());
        while new.len() < 4 {
            let content = machine.content();
            new.push(machine.work(content, QUANTUM, millis(900)));
        }
        machine.run_until(QUANTUM * (step + 1));
    }
    for task in old {
        assert!(machine.longest_gap(task) <= SECOND * 15 + QUANTUM, "{:?}", machine.longest_gap(task));
    }
}

/// PP-08, PF-12.
#[test]
fn time_away_is_not_charged() {
    let mut machine = Machine::new(1, Machine::without_gaps(QUANTUM));
    let content = machine.content();
    let contender = machine.turns.add_contender(content, machine.now);
    let mut now = Duration::ZERO;
    for _ in 0..100 {
        machine.turns.want(contender, now);
        assert_eq!(machine.turns.next(now), Some(contender));
        now += millis(1);
        machine.turns.go_away(contender, now);
        now += SECOND * 5;
    }
    assert_eq!(machine.turns.standing(content).scheduled, millis(100));
    machine.turns.want(contender, now);
    let times = machine.turns.times(contender);
    assert_eq!((times.scheduled, times.blocked), (millis(100), SECOND * 500));
}

/// PP-09.
#[test]
fn a_read_that_hangs_pushes_its_level_back_by_thirty_seconds_at_most() {
    let mut machine = Machine::new(1, Machine::without_gaps(QUANTUM));
    let content = machine.content();
    machine.work(content, SECOND * 600, SECOND * 600);
    machine.run_until(SECOND * 600);
    let used = machine.turns.levels().used().map(|used| used.as_secs());
    assert_eq!(used[..3], [1, 9, 20]);
}

/// PX-02.
#[test]
fn who_is_silent_for_ten_quanta_keeps_nobody_waiting() {
    let mut machine = Machine::new(1, Machine::without_gaps(QUANTUM));
    let (hanging, other) = (machine.content(), machine.content());
    let first = machine.turns.add_contender(hanging, Duration::ZERO);
    let second = machine.turns.add_contender(other, Duration::ZERO);
    machine.turns.want(first, Duration::ZERO);
    assert_eq!(machine.turns.next(Duration::ZERO), Some(first));
    machine.turns.want(second, QUANTUM);
    assert_eq!(machine.turns.next(QUANTUM), None);
    assert_eq!(machine.turns.until_silent(QUANTUM), Some(QUANTUM * 9));
    assert_eq!(machine.turns.next(QUANTUM * 10), Some(second));
    assert!(!machine.turns.is_crowded(QUANTUM * 10), "nobody hears of the first");
    machine.turns.charge(first, QUANTUM * 11);
    assert!(machine.turns.is_crowded(QUANTUM * 11), "it is back: one of the two has to go");
    // It comes back, and is charged for all that time.
    machine.turns.go_away(first, SECOND * 5);
    assert_eq!(machine.turns.standing(hanging).scheduled, SECOND * 5);
    assert_eq!(machine.turns.running(), 1);
}

/// PF-06, PF-11.
#[test]
fn a_content_knows_what_its_tasks_do() {
    let mut machine = Machine::new(1, Machine::without_gaps(QUANTUM));
    let content = machine.content();
    let states = |machine: &Machine| {
        let standing = machine.turns.standing(content);
        (standing.running, standing.waiting, standing.blocked)
    };
    assert_eq!(states(&machine), (0, 0, 0));
    let tasks = [(); 2].map(|()| machine.turns.add_contender(content, Duration::ZERO));
    assert_eq!(states(&machine), (0, 0, 2));
    machine.turns.want(tasks[0], Duration::ZERO);
    assert_eq!(states(&machine), (0, 1, 1));
    machine.turns.next(Duration::ZERO);
    machine.turns.want(tasks[1], Duration::ZERO);
    assert_eq!(states(&machine), (1, 1, 0));
    machine.turns.pass_on(tasks[0], QUANTUM);
    assert_eq!(states(&machine), (0, 2, 0));
    machine.turns.go_away(tasks[1], QUANTUM);
    machine.turns.next(QUANTUM);
    assert_eq!(states(&machine), (1, 0, 1));
    machine.turns.remove_contender(tasks[0], QUANTUM);
    machine.turns.remove_contender(tasks[1], QUANTUM);
    assert_eq!(states(&machine), (0, 0, 0));
}

proptest! {
    /// PX-18. Whatever contenders do, no more run than there are slots, all of whom nobody hears but runs are counted once, and whoever
    /// waits gets its turn.
    #[test]
    fn slots_are_never_given_twice_nor_lost(slots in 1usize..4, steps in prop::collection::vec((0usize..5, 0usize..6), 1..200)) {
        let mut machine = Machine::new(slots, Rules { quantum: QUANTUM, longest_gap: SECOND });
        let contents: Vec<usize> = (0..3).map(|_| machine.content()).collect();
        let mut tasks: Vec<usize> =
            (0..6).map(|task| machine.turns.add_contender(contents[task % 3], Duration::ZERO)).collect();
        let mut now = Duration::ZERO;
        for (what, task) in steps {
            now += millis(7);
            match what {
                0 => machine.turns.want(tasks[task], now),
                1 => machine.turns.go_away(tasks[task], now),
                2 => machine.turns.pass_on(tasks[task], now),
                3 => machine.turns.charge(tasks[task], now),
                _ => {
                    machine.turns.remove_contender(tasks[task], now);
                    tasks[task] = machine.turns.add_contender(contents[task % 3], now);
                }
            }
            while machine.turns.next(now).is_some() {}
            let silent = tasks.iter().filter(|task| machine.turns.is_running(**task)).count();
            prop_assert_eq!(silent, machine.turns.running());
            prop_assert!(machine.turns.waiting() == 0 || machine.turns.running() >= slots);
        }
        for task in tasks {
            machine.turns.remove_contender(task, now);
        }
        prop_assert_eq!((machine.turns.running(), machine.turns.waiting()), (0, 0));
    }
}
