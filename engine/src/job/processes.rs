//! The three steps of a run, plan, tasks and commit, each in a process of its own.

use std::sync::Arc;

use transship_plugin_api::Kind;

use super::{Job, Summary, dirty};
use crate::error::{Error, Failure, Result};
use crate::plan::{Prepared, TaskSpec};
use crate::task::{self, TaskReport};

impl Job<'_> {
    /// Prepares reader and writer and finds all splits: the run as a value, for tasks in other processes.
    ///
    /// # Errors
    /// When either fails; the writer is told to abort.
    pub fn prepare_for_others(mut self) -> Result<Prepared, Failure> {
        if let Some(maker) = self.line.transformers.iter().find(|maker| maker.needs_one_process()) {
            let problem = "its tasks share the memory of one process: \"transship run\" runs such a job";
            return Err(Failure::new(Kind::Unsupported, format!("{}: {}: {problem}", maker.place(), maker.name())));
        }
        let prepared = self.prepare().and_then(|(reader_state, writer_state)| {
            let (tasks, _) = self.tasks(usize::MAX)?;
            let (run, plan) = (self.line.run.clone(), self.line.plan.clone());
            Ok(Prepared { run, content: self.content, reader_state, writer_state, plan, tasks })
        });
        if prepared.is_err() {
            self.abort(&[]);
        }
        prepared
    }

    /// Runs one task of a run that another process has prepared.
    ///
    /// # Errors
    /// When reader or writer cannot take up what was prepared. What the task itself met is in its report.
    pub fn run_task(mut self, prepared: &Prepared, task: &TaskSpec) -> Result<TaskReport, Failure> {
        self.line.plan = prepared.plan.clone();
        self.attach(prepared)?;
        let reader = &self.line.reader_name;
        self.calls
            .call("attach", || self.line.reader().attach(&prepared.reader_state))
            .map_err(|error| Failure::of(&error, reader))?;
        Ok(task::run(&self.line, task, &self.line.channel_limit(), None))
    }

    /// Commits, or aborts, a run whose tasks have run in other processes.
    ///
    /// # Errors
    /// When the reports are not one for each task of this run, or the writer cannot take up what was prepared. All else is in
    /// the summary.
    pub fn finish_for_others(mut self, prepared: &Prepared, reports: Vec<TaskReport>) -> Result<Summary> {
        one_report_each(prepared, &reports)?;
        self.attach(prepared)?;
        let failure = reports.iter().find_map(|report| report.failure.clone());
        let outcome = self.complete(failure, &reports);
        Ok(self.summary(reports, outcome))
    }

    fn attach(&mut self, prepared: &Prepared) -> Result<(), Failure> {
        self.line.run = prepared.run.clone();
        self.line.dirty = Arc::new(dirty(self.file, self.surroundings, &prepared.run, &prepared.plan));
        self.calls
            .call("attach", || self.line.writer().attach(&prepared.writer_state))
            .map_err(|error| Failure::of(&error, &self.line.writer_name))?;
        self.target_touched = true;
        Ok(())
    }
}

fn one_report_each(prepared: &Prepared, reports: &[TaskReport]) -> Result<()> {
    let refuse = |message: String| Err(Error::Job(message));
    for report in reports {
        if !prepared.tasks.iter().any(|task| task.id == report.task) {
            return refuse(format!("the report of task {} ({}) is not of this run", report.number, report.split));
        }
    }
    for task in &prepared.tasks {
        match reports.iter().filter(|report| report.task == task.id).count() {
            1 => {}
            0 => return refuse(format!("there is no report of task {} ({})", task.number, task.split.label)),
            several => {
                return refuse(format!("there are {several} reports of task {} ({})", task.number, task.split.label));
            }
        }
    }
    Ok(())
}
