//! What must hold of slots and channels together, under every schedule; how to run it says `channel/loom.rs`.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::cancel::Cancel;
use crate::channel::{self, Capacity, Size};
use crate::clock::HandClock;
use crate::slots::{Rules, Share, Slots};
use crate::sync::{Arc, thread};

/// MC-14: one slot, two senders, two channels for one record each whose receivers need no slot: a sender that waits for room does not
/// have the slot, so that all come to their end.
#[test]
fn who_waits_for_room_in_a_channel_does_not_keep_the_other_from_its_slot() {
    let mut model = ::loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let slots = Slots::new(1, Rules { quantum: Duration::ZERO, longest_gap: Duration::MAX }, HandClock::default());
        let share = Arc::new(slots.share(1));
        let one = NonZeroUsize::MIN;
        let send = |share: Arc<Share>| {
            let (mut sender, mut receiver) = channel::bounded::<usize>(Capacity { records: one, bytes: one });
            let sending = thread::spawn(move || {
                let mut pass = share.pass(&Cancel::new());
                for number in 0..2 {
                    pass.take().unwrap();
                    sender.send_giving_way(number, Size { records: 1, bytes: 1 }, || pass.give_back()).unwrap();
                }
                pass.give_back();
                sender.end();
            });
            (sending, move || {
                let mut received = 0;
                while receiver.recv().unwrap().0.is_some() {
                    received += 1;
                }
                received
            })
        };
        let (first, mut receive_first) = send(share.clone());
        let (second, mut receive_second) = send(share);
        assert_eq!((receive_first(), receive_second()), (2, 2));
        first.join().unwrap();
        second.join().unwrap();
    });
}
