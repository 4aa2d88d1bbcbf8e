//! When a run will have ended, as far as what it has done lately tells.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::progress::{OpenTask, Work};

/// What was done in so much time tells how fast things go.
const LATELY: Duration = Duration::from_secs(30);
/// What was done in less time tells nothing.
const TOO_SHORT: Duration = Duration::from_secs(2);
/// How often what is done is noted.
const STEP: Duration = Duration::from_millis(500);
/// The largest share that is shown of what has not ended: commits take their time, too.
const NEARLY_ALL: f64 = 0.99;

/// Remembers how much was done when.
#[derive(Default)]
pub(super) struct Forecast {
    looks: VecDeque<(Instant, f64)>,
    /// What was to be done at all these times.
    known: f64,
}

impl Forecast {
    /// Notes how much is done now.
    pub(super) fn look(&mut self, work: &Work, now: Instant) {
        // More work was found, or work that was done is done again: what was before tells nothing.
        if work.known != self.known || self.looks.back().is_some_and(|(_, done)| *done > work.done) {
            self.looks.clear();
            self.known = work.known;
        }
        if self.looks.back().is_some_and(|(at, _)| now.duration_since(*at) < STEP) {
            return;
        }
        self.looks.push_back((now, work.done));
        while self.looks.len() > 2 && now.duration_since(self.looks[1].0) >= LATELY {
            self.looks.pop_front();
        }
    }

    /// How much time what is known so far will take. `None` where that would be a guess: too little was done.
    ///
    /// A run ends with its slowest task: however fast the others are, it takes no less than that task alone.
    pub(super) fn left(&self, work: &Work) -> Option<Duration> {
        let left = work.known - work.done;
        if left <= 0.0 {
            return None;
        }
        let (begun, first) = self.looks.front()?;
        let (now, last) = self.looks.back()?;
        let time = now.duration_since(*begun);
        if time < TOO_SHORT || last <= first {
            return None;
        }
        let per_second = (last - first) / time.as_secs_f64();
        let at_once = work.open.len().max(1) as f64;
        let of_all = left / per_second;
        let of_largest = work.largest_waiting / (per_second / at_once);
        let of_open = work.open.iter().filter(|task| task.lasts >= TOO_SHORT).filter_map(left_of);
        let seconds = of_open.fold(of_all.max(of_largest), f64::max);
        Duration::try_from_secs_f64(seconds).ok()
    }
}

/// How many seconds an open task will take, if it goes on as it did.
fn left_of(task: &OpenTask) -> Option<f64> {
    let share = task.share?;
    let moved = share - task.began_at;
    (moved >= 0.01).then(|| task.lasts.as_secs_f64() * (1.0 - share) / moved)
}

/// The open task that will end last, as far as one can tell.
pub(super) fn slowest(work: &Work) -> Option<&OpenTask> {
    let expected = |task: &OpenTask| left_of(task).unwrap_or(task.lasts.as_secs_f64());
    work.open.iter().max_by(|one, other| expected(one).total_cmp(&expected(other)))
}

/// How much is shown to be done of something that has not ended.
pub(super) fn shown_share(share: f64) -> f64 {
    share.min(NEARLY_ALL)
}

/// The same in percent, never rounded up: whole ones, but of what has just begun tenths.
pub(super) fn percent(share: f64) -> String {
    let percent = shown_share(share) * 100.0;
    match percent {
        ..10.0 => format!("{:.1}", (percent * 10.0).floor() / 10.0),
        _ => format!("{percent:.0}", percent = percent.floor()),
    }
}

/// A time that is left, as exactly as one can know it.
pub(super) fn left_text(left: Duration) -> String {
    let seconds = left.as_secs_f64();
    let steps_of = |step: f64| ((seconds / step).ceil() * step) as u64;
    match seconds {
        ..3.0 => "a few seconds left".into(),
        ..20.0 => format!("about {} s left", steps_of(1.0)),
        ..55.0 => format!("about {} s left", steps_of(5.0)),
        ..5_400.0 => format!("about {} min left", steps_of(60.0) / 60),
        ..172_800.0 => format!("about {} h {} min left", steps_of(60.0) / 3_600, steps_of(60.0) / 60 % 60),
        _ => format!("about {} days {} h left", steps_of(3_600.0) / 86_400, steps_of(3_600.0) / 3_600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job whose work is done at one unit a second up to `seconds`.
    fn steady(known: f64, seconds: u64, open: Vec<OpenTask>) -> (Forecast, Work) {
        let start = Instant::now();
        let mut forecast = Forecast::default();
        let mut work = Work { known, open, ..Work::default() };
        for second in 0..=seconds {
            work.done = second as f64;
            forecast.look(&work, start + Duration::from_secs(second));
        }
        (forecast, work)
    }

    fn task(size: f64, share: f64, lasts: u64) -> OpenTask {
        OpenTask {
            number: 0,
            label: "a".into(),
            size,
            share: Some(share),
            lasts: Duration::from_secs(lasts),
            began_at: 0.0,
        }
    }

    fn seconds((forecast, work): (Forecast, Work)) -> Option<f64> {
        forecast.left(&work).map(|left| left.as_secs_f64().round())
    }

    #[test]
    fn what_is_left_takes_as_long_as_what_was_done_lately() {
        assert_eq!(seconds(steady(100.0, 10, Vec::new())), Some(90.0));
        assert_eq!(seconds(steady(100.0, 99, Vec::new())), Some(1.0));
    }

    #[test]
    fn a_run_ends_with_its_slowest_task() {
        assert_eq!(seconds(steady(100.0, 80, vec![task(50.0, 0.25, 40)])), Some(120.0), "three times as long again");
    }

    #[test]
    fn the_largest_split_that_nobody_has_begun_takes_one_task_all_its_time() {
        let (forecast, mut work) = steady(100.0, 40, vec![task(10.0, 0.5, 5), task(10.0, 0.5, 5)]);
        work.largest_waiting = 50.0;
        assert_eq!(seconds((forecast, work)), Some(100.0), "each of two tasks does half a unit a second");
    }

    #[test]
    fn nothing_is_said_where_it_would_be_a_guess() {
        assert_eq!(seconds(steady(100.0, 1, Vec::new())), None, "too early");
        let (forecast, work) = steady(100.0, 10, Vec::new());
        assert_eq!(forecast.left(&Work { done: 100.0, ..work }), None, "all is done but the commit");
    }

    #[test]
    fn work_that_was_found_later_or_is_done_again_begins_a_new_forecast() {
        for (known, done) in [(200.0, 10.0), (100.0, 5.0)] {
            let (mut forecast, work) = steady(100.0, 10, Vec::new());
            let work = Work { known, done, ..work };
            forecast.look(&work, Instant::now() + Duration::from_secs(11));
            assert_eq!(forecast.left(&work), None);
        }
    }

    #[test]
    fn only_the_last_half_minute_counts() {
        let start = Instant::now();
        let mut forecast = Forecast::default();
        let mut work = Work { known: 10_000.0, ..Work::default() };
        for second in 0..=60 {
            work.done += if second < 30 { 100.0 } else { 1.0 };
            forecast.look(&work, start + Duration::from_secs(second));
        }
        let left = forecast.left(&work).map(|left| left.as_secs_f64());
        assert!(left.is_some_and(|left| left > 6_000.0), "{left:?}");
    }

    #[test]
    fn the_slowest_task_is_the_one_that_will_end_last() {
        let tasks = vec![task(1.0, 0.9, 50), task(1.0, 0.1, 10), task(1.0, 0.0, 1)];
        let work = Work { open: tasks.clone(), ..Work::default() };
        assert_eq!(slowest(&work), Some(&tasks[1]));
        assert_eq!(slowest(&Work::default()), None);
    }

    #[test]
    fn nothing_that_goes_on_is_shown_to_be_all_done() {
        let shares = [0.0, 0.0019, 0.0999, 0.125, 0.5, 0.985, 0.999, 1.0];
        assert_eq!(shares.map(percent), ["0.0", "0.1", "9.9", "12", "50", "98", "99", "99"]);
        assert_eq!([0.0, 0.5, 0.995, 1.0].map(shown_share), [0.0, 0.5, 0.99, 0.99]);
    }

    #[test]
    fn a_time_that_is_left_is_told_as_exactly_as_one_can_know_it() {
        let text = |seconds| left_text(Duration::from_secs_f64(seconds));
        let told = [0.5, 11.2, 32.0, 54.0, 61.0, 5_000.0, 7_200.0, 200_000.0].map(text);
        let expected = [
            "a few seconds left",
            "about 12 s left",
            "about 35 s left",
            "about 55 s left",
            "about 2 min left",
            "about 84 min left",
            "about 2 h 0 min left",
            "about 2 days 8 h left",
        ];
        assert_eq!(told, expected);
    }
}
