//! The perf records of a job itself: how it begins and how it ends. Those of its tasks are written where tasks end.

use serde_json::{Map, Value};

use super::{Job, Outcome, Summary};
use crate::dirty::Dirty;
use crate::perf::recorder::{Owner, Recorder, host};
use crate::perf::recording::{DirtyLine, EndLine, RunLine};
use crate::perf::{Perf, VERSION, now_micros};

/// The job begins: what it is, how it is set and what it runs on, and how long it took to make it.
pub(super) fn begin(job: &Job<'_>) {
    let Some(recorder) = job.line.recorder else { return };
    let mut setting = of_entry(&job.file.tree, job.content);
    job.file.secrets().mask_setting(&mut setting);
    let plan = match serde_json::to_value(&job.line.plan) {
        Ok(Value::Object(plan)) => plan,
        _ => Map::new(),
    };
    recorder.begin(&RunLine {
        version: VERSION,
        run: job.line.run.id.clone(),
        job: job.line.run.job.clone(),
        content: job.content,
        contents: job.file.running().len(),
        start_micros: now_micros(),
        transship: env!("CARGO_PKG_VERSION").into(),
        reader: job.line.reader_name.clone(),
        writer: job.line.writer_name.clone(),
        transformers: job.line.transformers.iter().map(|maker| maker.name().to_string()).collect(),
        plugins: job.facts.plugins.iter().map(|(name, version)| (name.clone(), version.clone().into())).collect(),
        host: host(),
        plan,
        tuning: Some(job.facts.tuning.clone()),
        target_tasks: Some(job.line.writer_info.max_open_tasks).filter(|most| *most > 0),
        setting,
    });
    phase(recorder, job.line.owner(), &job.perf);
}

/// The job file with this entry alone: each has a header of its own.
fn of_entry(tree: &Value, content: usize) -> Value {
    let mut tree = tree.clone();
    if let Some(entries) = tree.pointer_mut("/job/content").and_then(Value::as_array_mut)
        && content < entries.len()
    {
        *entries = vec![entries.swap_remove(content)];
    }
    tree
}

/// The phase of a job that ended last.
pub(super) fn phase(recorder: &Recorder, owner: Owner<'_>, perf: &Perf) {
    recorder.job(owner, perf.records.last().map(std::slice::from_ref).unwrap_or_default());
}

/// The job has ended: what its transformers measured, its dirty records by cause, what it came to.
pub(super) fn end(recorder: &Recorder, summary: &Summary, dirty: &Dirty) {
    let owner = Owner { run: &summary.run, job: &summary.job };
    recorder.stages(owner, &summary.stages, None);
    let causes = dirty.causes().into_iter().map(|(side, plugin, cause, count)| {
        let side = format!("{side:?}").to_ascii_lowercase();
        DirtyLine { side, plugin, cause, count }
    });
    recorder.dirty(owner, &causes.collect::<Vec<_>>());
    let (result, message) = match &summary.outcome {
        Outcome::Done => ("done", None),
        Outcome::Failed(failure) => ("failed", Some(failure.to_string())),
        Outcome::DirtyLimit { message } => ("dirty_limit", Some(message.clone())),
        Outcome::Cancelled => ("cancelled", None),
    };
    let counts = &summary.counts;
    recorder.end(
        owner,
        &EndLine {
            micros: now_micros(),
            result: result.into(),
            message,
            read: counts.read,
            read_bytes: counts.read_bytes,
            written: counts.written,
            filtered: counts.filtered,
            duplicates: counts.duplicates,
            dirty: counts.dirty(),
            aborted_read: summary.aborted.read,
            aborted_dirty: summary.aborted.dirty(),
            dirty_file: summary.dirty_file.as_ref().map(|file| file.display().to_string()),
        },
    );
}
