//! Records of one key that come in several tasks at once, under every schedule:
//! `RUSTFLAGS="--cfg transship_loom" cargo test -p transship-engine --lib --release loom`

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use serde_json::json;
use transship_plugin_api::{Origin, Params};

use super::keys::{KeyReader, Keys};
use super::settings::Settings;
use super::window::Window;
use crate::clock::HandClock;
use crate::sync::thread;
use crate::transform::step::AttemptId;

fn window(clock: &Arc<HandClock>) -> (Arc<Window>, Arc<Keys>) {
    let parameter = json!({ "key": "id" });
    let settings = Settings::read(&Params::new(&parameter, "parameter").unwrap()).unwrap();
    let window = Arc::new(Window::new(&settings, clock.clone()));
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![7]));
    let records = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let mut keys = Keys::default();
    KeyReader::new(&settings, &records.schema(), window.hasher()).unwrap().read(&records, &mut keys).unwrap();
    (window, Arc::new(keys))
}

/// How many of the records of one batch pass.
fn check(window: &Window, attempt: u32, keys: &Keys) -> usize {
    window.check(attempt, keys, &Origin::from(0)).0.count_set_bits()
}

/// MC-19, KA-14: of several tasks that meet a key at once, exactly one lets it through.
#[test]
fn one_of_several_tasks_has_the_first() {
    for tasks in [2, 3] {
        ::loom::model(move || {
            let (window, keys) = window(&Arc::default());
            let others: Vec<_> = (1..tasks)
                .map(|task| {
                    let (window, keys) = (window.clone(), keys.clone());
                    thread::spawn(move || {
                        let attempt = window.begin(AttemptId { task, attempt: 1 });
                        check(&window, attempt, &keys)
                    })
                })
                .collect();
            let mut passed = check(&window, 0, &keys);
            for other in others {
                passed += other.join().unwrap();
            }
            assert_eq!(passed, 1);
        });
    }
}

/// While an attempt is abandoned, another may meet its key: it passes once there, or not at all.
#[test]
fn a_key_that_is_forgotten_meanwhile_is_let_through_at_most_once_more() {
    ::loom::model(|| {
        let (window, keys) = window(&Arc::default());
        let first = window.begin(AttemptId { task: 0, attempt: 1 });
        assert_eq!(check(&window, first, &keys), 1);
        let other = {
            let (window, keys) = (window.clone(), keys.clone());
            thread::spawn(move || {
                let attempt = window.begin(AttemptId { task: 1, attempt: 1 });
                check(&window, attempt, &keys)
            })
        };
        window.abandon(first);
        let retried = check(&window, first, &keys);
        assert_eq!(other.join().unwrap() + retried, 1);
    });
}
