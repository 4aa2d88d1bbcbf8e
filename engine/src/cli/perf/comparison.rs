//! Two recorded runs beside each other, figure by figure: each entry of a job with the same one of the other run.

use std::fmt::Write;

use super::text::per_second;
use crate::figures::{count_text, time_text};
use crate::perf::diagnosis::{self, Diagnosis};
use crate::perf::recording::Recording;

/// The entries of the later run, each beside its counterpart; then what only one of the runs has.
pub(super) fn text(earlier: &[Recording], later: &[Recording]) -> String {
    let mut text = String::new();
    let pairs: Vec<_> = later.iter().map(|after| (after.counterpart(later, earlier), after)).collect();
    for (before, after) in pairs.iter().filter_map(|(before, after)| Some(((*before)?, *after))) {
        let (first, second) = (&before.run.run, &after.run.run);
        let (one, other) = (before.run.title(), after.run.title());
        let _ = match one == other {
            true => writeln!(text, "job {one}: run {first} beside run {second}"),
            false => writeln!(text, "job {one}, run {first}, beside job {other}, run {second}"),
        };
        figures(&mut text, before, after);
    }
    let has_partner =
        |of: &Recording| pairs.iter().any(|(before, _)| before.is_some_and(|before| std::ptr::eq(before, of)));
    for alone in earlier.iter().filter(|before| !has_partner(before)) {
        let _ = writeln!(text, "job {}: only in the first", alone.run.title());
    }
    for (_, alone) in pairs.iter().filter(|(before, _)| before.is_none()) {
        let _ = writeln!(text, "job {}: only in the second", alone.run.title());
    }
    text
}

fn figures(text: &mut String, before: &Recording, after: &Recording) {
    let told = [diagnosis::of(before), diagnosis::of(after)];
    let counts = [before.counts(), after.counts()];
    let _ = writeln!(text, "  {:<34} {:>14} {:>14} {:>8}", "", "first", "second", "ratio");
    let mut row = |name: &str, figures: [f64; 2], shown: fn(f64) -> String| {
        let ratio = if figures[0] > 0.0 { format!("{:.2}", figures[1] / figures[0]) } else { "-".into() };
        let [first, second] = figures.map(shown);
        let _ = writeln!(text, "  {name:<34} {first:>14} {second:>14} {ratio:>8}");
    };
    let count: fn(f64) -> String = |figure| count_text(figure as u64);
    row("elapsed", [0, 1].map(|of| told[of].wall_seconds), time_text);
    row("records/s", [0, 1].map(|of| per_second(counts[of].read, &told[of])), count);
    row("records read", counts.map(|counts| counts.read as f64), count);
    row("records written", counts.map(|counts| counts.written as f64), count);
    row("dirty records", counts.map(|counts| counts.dirty as f64), count);
    row("records of aborted attempts", counts.map(|counts| counts.aborted_read as f64), count);
    row("attempts at tasks", [0, 1].map(|of| told[of].tasks.len() as f64), count);
    let mut parts: Vec<_> = told.iter().flat_map(|told| &told.parts).map(|part| part.part).collect();
    parts.sort_unstable();
    parts.dedup();
    for part in parts {
        let of =
            |told: &Diagnosis| told.parts.iter().find(|other| other.part == part).map_or(0.0, |share| share.seconds);
        row(part.words(), [0, 1].map(|side| of(&told[side])), time_text);
    }
    for (recording, (which, told)) in [before, after].into_iter().zip(["first: ", "second:"].into_iter().zip(&told)) {
        let result = match &recording.end {
            Some(end) if end.words() == "done" => String::new(),
            Some(end) => format!("{}; ", end.words()),
            None => "not ended; ".into(),
        };
        let _ = writeln!(text, "  {which} {result}{}", told.limit.sentence);
    }
}
