//! `dedup` against a naive model that keeps every key in a list and looks through all of it.

use proptest::prelude::*;
use serde_json::json;

use super::super::ids::BYTES_OF_A_KEY;
use super::*;

/// What happens to a job.
#[derive(Debug, Clone)]
enum Event {
    /// A task reads these ids.
    Batch(u32, Vec<u8>),
    /// So many milliseconds pass.
    Time(u64),
    /// The attempt of a task comes to nothing, and it begins another.
    Abandon(u32),
    /// Of a task, a record so many before its last fails.
    Failure(u32, u64),
}

/// A key that is remembered.
#[derive(Debug, Clone)]
struct Seen {
    id: u8,
    millis: u64,
    task: u32,
    attempt: u32,
    position: u64,
}

const WINDOW: u64 = 10;

fn events(with_failures: bool) -> impl Strategy<Value = Vec<Event>> {
    let batch =
        (0..3_u32, proptest::collection::vec(any::<u8>(), 0..40)).prop_map(|(task, ids)| Event::Batch(task, ids));
    let time = (0..=WINDOW).prop_map(Event::Time);
    let failures = u32::from(with_failures);
    let event = prop_oneof![
        8 => batch,
        4 => time,
        failures => (0..3_u32).prop_map(Event::Abandon),
        3 * failures => (0..3_u32, 0..60_u64).prop_map(|(task, back)| Event::Failure(task, back)),
    ];
    proptest::collection::vec(event, 1..60)
}

/// Some ids are short and some long.
fn text(id: u8) -> String {
    let length = if id.is_multiple_of(3) { 40 } else { 5 };
    format!("{id:0length$}")
}

/// Runs the events through a job and through the model, of which both remember at most so many keys.
fn compare(job: &Job, events: &[Event], most: usize) -> std::result::Result<(), TestCaseError> {
    let mut number = [1_u32; 3];
    let mut tasks: Vec<Attempt> = (0..3).map(|task| job.attempt(task, 1)).collect();
    let (mut seen, mut millis, mut evicted): (Vec<Seen>, u64, u64) = (Vec::new(), 0, 0);
    for event in events {
        match event {
            Event::Batch(task, ids) => {
                let attempt = number[*task as usize];
                let first = tasks[*task as usize].next;
                let mut expected = Vec::new();
                for (row, id) in ids.iter().enumerate() {
                    if seen.iter().any(|known| known.id == *id) {
                        continue;
                    }
                    expected.push(text(*id));
                    if seen.len() == most {
                        seen.remove(0);
                        evicted += 1;
                    }
                    seen.push(Seen { id: *id, millis, task: *task, attempt, position: first + row as u64 });
                }
                let texts: Vec<String> = ids.iter().map(|id| text(*id)).collect();
                prop_assert_eq!(tasks[*task as usize].passing(&borrowed(&texts)), expected);
            }
            Event::Time(passed) => {
                millis += passed;
                job.clock.turn(Duration::from_millis(*passed));
                seen.retain(|known| millis - known.millis < WINDOW);
            }
            Event::Abandon(task) => {
                let attempt = &mut number[*task as usize];
                seen.retain(|known| (known.task, known.attempt) != (*task, *attempt));
                tasks[*task as usize].step.abandon();
                *attempt += 1;
                tasks[*task as usize] = job.attempt(*task, *attempt);
            }
            Event::Failure(task, back) => {
                let attempt = number[*task as usize];
                let Some(position) = tasks[*task as usize].next.checked_sub(*back) else { continue };
                seen.retain(|known| (known.task, known.attempt, known.position) != (*task, attempt, position));
                job.dirty.keep(
                    &crate::dirty::Place {
                        run: "",
                        task: "",
                        number: *task,
                        attempt,
                        split: "",
                        side: crate::dirty::Side::Writer,
                        plugin: "",
                        unit: "",
                    },
                    &DirtyRecord { position: Some(position), ..DirtyRecord::default() },
                )?;
            }
        }
        prop_assert_eq!(job.remembered() as usize, seen.len());
        prop_assert_eq!(job.figure("evicted"), evicted);
    }
    Ok(())
}

proptest! {
    #[test]
    fn exactly_the_first_within_a_window_pass_whatever_fails(events in events(true)) {
        let job = Job::new(json!({ "window": "10 ms", "forgetOnFailure": true }));
        compare(&job, &events, usize::MAX)?;
    }

    #[test]
    fn with_little_room_the_oldest_are_forgotten_first(events in events(false), most in 20..100_usize) {
        let job = Job::new(json!({ "window": "10 ms", "capacity": most * BYTES_OF_A_KEY }));
        // Of equal size.
        let events: Vec<Event> = events
            .into_iter()
            .map(|event| match event {
                Event::Batch(task, ids) => Event::Batch(task, ids.into_iter().filter(|id| !id.is_multiple_of(3)).collect()),
                other => other,
            })
            .collect();
        compare(&job, &events, most)?;
    }

    /// Whatever leaves or is forgotten: what is dropped has come before, and the room is kept to.
    #[test]
    fn nothing_is_dropped_that_has_not_come_before(events in events(true), capacity in 1_100..6_000_u64) {
        let job = Job::new(json!({ "window": "10 ms", "forgetOnFailure": true, "capacity": capacity }));
        let mut attempt = job.attempt(0, 1);
        let mut let_through = std::collections::HashMap::new();
        let mut millis = 0;
        for event in &events {
            match event {
                Event::Batch(_, ids) => {
                    for id in ids {
                        if attempt.passes(&text(*id)) {
                            let_through.insert(*id, millis);
                        } else {
                            prop_assert!(let_through.get(id).is_some_and(|before| millis - before < WINDOW), "{id}");
                        }
                    }
                }
                Event::Time(passed) => {
                    millis += passed;
                    job.clock.turn(Duration::from_millis(*passed));
                }
                Event::Abandon(_) | Event::Failure(..) => {
                    job.window.abandon(attempt.step.attempt);
                    attempt = job.attempt(0, 1);
                }
            }
            prop_assert!(job.figure("remembered bytes") <= capacity);
        }
    }
}
