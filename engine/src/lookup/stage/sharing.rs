//! Entries whose key is under way already: one is called, the others wait for its answer, each no longer than its own time allows.
//! If the time of the one that is called is over, the first of the others takes its place, and so its call.

use std::time::Duration;

use super::{Record, Stage, State, Whose, still};
use crate::lookup::Order;

impl Stage {
    /// As [`Stage::enter`], where records of one key may share an answer. `key` is the hash of this one's, `is_same` tells whether
    /// another record has the very same.
    pub fn enter_or_follow(&mut self, record: Record, key: u64, now: Duration, is_same: impl Fn(Record) -> bool) {
        let leads = |id: &usize| self.entries[*id].leads == Some(key) && is_same(self.entries[*id].record);
        let leader = self.leaders.find(key, leads).copied();
        // In key order another entry of this key, of which the outcome is known, may wait behind it: that one is not overtaken.
        if let Some(leader) = leader.filter(|leader| self.entries[*leader].next.is_none()) {
            return self.follow(record, leader, now);
        }
        let id = self.add(record, Some(key), None, now);
        let entries = &mut self.entries;
        entries[id].leads = Some(key);
        self.leaders.insert_unique(key, id, |id| entries[*id].leads.unwrap_or_default());
    }

    fn follow(&mut self, record: Record, leader: usize, now: Duration) {
        let whose = self.insert(record, None, None);
        self.entries[leader].followers.push(whose);
        self.active += 1;
        self.counters.shared += 1;
        if let Some(timeout) = self.options.timeout.filter(|_| self.options.order != Order::Key) {
            self.timeouts.set(now.saturating_add(timeout), whose);
        }
    }

    /// An entry is done: those that waited for its answer, if they still do. Nobody will follow it any more.
    pub(super) fn dismiss(&mut self, id: usize) -> Vec<Whose> {
        if let Some(key) = self.entries[id].leads.take()
            && let Ok(found) = self.leaders.find_entry(key, |leader| *leader == id)
        {
            found.remove();
        }
        let mut followers = std::mem::take(&mut self.entries[id].followers);
        followers.retain(|whose| still(&self.entries, State::Behind)(*whose));
        followers
    }

    /// Has the first that follows an entry take its place in everything. `false`: nobody does.
    pub(super) fn hand_on(&mut self, id: usize, now: Duration) -> bool {
        let key = self.entries[id].leads;
        let mut followers = self.dismiss(id);
        if followers.is_empty() {
            return false;
        }
        let heir = followers.remove(0);
        let old = &mut self.entries[id];
        let whose = (id, old.number);
        let (state, attempt) = (std::mem::replace(&mut old.state, State::Behind), old.attempt);
        let (order_key, next) = (old.key.take(), old.next.take());
        let entries_of_call = match state {
            State::Called(call) => self.calls.get_mut(call.slot).map(|call| &mut call.entries),
            _ => None,
        };
        if let Some(place) = entries_of_call.and_then(|entries| entries.iter_mut().find(|other| **other == whose)) {
            *place = heir;
        }
        if let Some(place) = self.pending.iter_mut().find(|(other, _)| state == State::Pending && *other == whose) {
            place.0 = heir;
        }
        if state == State::Resting {
            self.retries.hand_on(whose, heir);
        }
        if let Some(last) = order_key.and_then(|key| self.last_of_key.find_mut(key, |last| *last == id)) {
            *last = heir.0;
        }
        if let Some(timeout) = self.options.timeout.filter(|_| self.options.order == Order::Key) {
            self.timeouts.set(now.saturating_add(timeout), heir);
        }
        let new = &mut self.entries[heir.0];
        (new.state, new.attempt, new.key, new.next) = (state, attempt, order_key, next);
        (new.leads, new.followers) = (key, followers);
        if let Some(key) = key {
            let entries = &self.entries;
            self.leaders.insert_unique(key, heir.0, |id| entries[*id].leads.unwrap_or_default());
        }
        true
    }
}
