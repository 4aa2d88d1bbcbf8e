//! The line of those who wait, under every schedule: nobody is forgotten when the one before leaves.

use super::*;
use crate::clock::HandClock;
use crate::sync::thread;

/// A clock on which waiting takes no time.
#[derive(Default)]
struct Jumping(HandClock);

impl Clock for Jumping {
    fn now(&self) -> Duration {
        self.0.now()
    }
}

impl Pastime for Jumping {
    fn wait(&self, _turn: &Turn, time: Duration) {
        self.0.turn(time);
    }
}

fn exhausted() -> Arc<Throttle<Jumping>> {
    let throttle = Throttle::with_clock(Jumping::default(), Some(1), None);
    throttle.take(Size { records: 1, bytes: 1 }, &Cancel::new()).unwrap();
    Arc::new(throttle)
}

#[test]
fn whoever_is_served_calls_the_next() {
    ::loom::model(|| {
        let throttle = exhausted();
        let others = [1, 1].map(|bytes| {
            let throttle = throttle.clone();
            thread::spawn(move || throttle.take(Size { records: 1, bytes }, &Cancel::new()).unwrap())
        });
        for other in others {
            other.join().unwrap();
        }
        assert!(lock(&throttle.line).waiting.is_empty());
    });
}

#[test]
fn whoever_is_cancelled_calls_the_next() {
    ::loom::model(|| {
        let throttle = exhausted();
        let cancel = Cancel::new();
        let cancelled = {
            let (throttle, cancel) = (throttle.clone(), cancel.clone());
            thread::spawn(move || throttle.take(Size { records: 1, bytes: 1 }, &cancel))
        };
        let other = {
            let throttle = throttle.clone();
            thread::spawn(move || throttle.take(Size { records: 1, bytes: 1 }, &Cancel::new()).unwrap())
        };
        cancel.cancel();
        let _either = cancelled.join().unwrap();
        other.join().unwrap();
        assert!(lock(&throttle.line).waiting.is_empty());
    });
}
