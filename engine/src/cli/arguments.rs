//! The arguments of each command.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use encoding_rs::Encoding;

use crate::config::{Variables, amounts};
use crate::exposition::Address;

mod definitions;
use definitions::{Given, java_options, name_and_value};

/// Moves data between systems, as job files say.
#[derive(Debug, Parser)]
#[command(name = "transship", version, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done, 1 the job failed, 2 bad command line or job file, 3 plugin missing or incompatible, \
                        6 too many dirty records, 129, 130 and 143 stopped by SIGHUP, SIGINT and SIGTERM.\n\
                        TRANSSHIP_PLUGIN_PATH names more folders with plugins, TRANSSHIP_LOG what is logged (debug, info, warn…)."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run job files, beside each other.
    Run(RunArguments),
    /// Tell everything that is wrong with job files, without connecting to anything.
    Check {
        /// The job files; - is standard input.
        #[arg(required = true, value_name = "JOB.json")]
        jobs: Vec<PathBuf>,
        #[command(flatten)]
        options: JobOptions,
        #[command(flatten)]
        plugin_path: PluginPath,
    },
    /// Show the tasks of a job and what it will do to its target, without changing anything.
    Plan {
        #[arg(value_name = "JOB.json")]
        job: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        options: JobOptions,
        #[command(flatten)]
        plugin_path: PluginPath,
    },
    /// Show what was recorded of a run with --perf: where its time went and what limited it; or compare two runs.
    Perf(PerfArguments),
    /// List the plugins, or show the parameters of one.
    Plugins {
        /// A reader, writer, transformer or plugin.
        name: Option<String>,
        #[command(flatten)]
        plugin_path: PluginPath,
    },
    /// Print the JSON Schema of job files, with the parameters of the plugins that are installed: editors complete and check by it.
    Schema {
        #[command(flatten)]
        plugin_path: PluginPath,
    },
    /// Prepare a run whose tasks run in other processes; prints it as JSON.
    #[command(hide = true)]
    Prepare {
        job: PathBuf,
        /// Which entry of job.content, from 0.
        #[arg(long, default_value_t = 0)]
        content: usize,
        #[command(flatten)]
        options: JobOptions,
        #[command(flatten)]
        plugin_path: PluginPath,
    },
    /// Run one task of a prepared run; prints its report as JSON.
    #[command(hide = true)]
    Task {
        job: PathBuf,
        /// What `transship prepare` printed.
        #[arg(long)]
        prepared: PathBuf,
        /// The number of the task.
        #[arg(long)]
        task: u32,
        #[command(flatten)]
        options: JobOptions,
        #[command(flatten)]
        plugin_path: PluginPath,
    },
    /// Commit a prepared run, or abort it, given the reports of all its tasks.
    #[command(hide = true)]
    Commit {
        job: PathBuf,
        /// What `transship prepare` printed.
        #[arg(long)]
        prepared: PathBuf,
        /// What `transship task` printed for each task.
        reports: Vec<PathBuf>,
        #[command(flatten)]
        options: JobOptions,
        #[command(flatten)]
        plugin_path: PluginPath,
    },
}

impl Command {
    pub(super) fn is_quiet(&self) -> bool {
        matches!(self, Command::Run(run) if run.quiet)
    }
}

#[derive(Debug, Args)]
pub(super) struct RunArguments {
    /// The job files; - is standard input.
    #[arg(required = true, value_name = "JOB.json")]
    pub jobs: Vec<PathBuf>,
    #[command(flatten)]
    pub options: JobOptions,
    #[command(flatten)]
    pub plugin_path: PluginPath,
    /// How many tasks work at once, over all jobs; by default as many as the jobs have channels together.
    #[arg(long, value_name = "NUMBER")]
    pub slots: Option<NonZeroU32>,
    /// Run the jobs, and the entries of job.content, one after another.
    #[arg(long)]
    pub in_order: bool,
    /// Write the perf records of every task here, as JSON lines, while the run goes on; `transship perf` shows them.
    #[arg(long, value_name = "FILE")]
    pub perf: Option<PathBuf>,
    /// Write a page of HTML that shows the run, when it has ended.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Write a trace that Perfetto opens, when the run has ended.
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// Show the run to a Prometheus server here while it lasts: HOST:PORT, or PORT for this machine alone; 0 is any port that is free.
    #[arg(long, value_name = "ADDR")]
    pub metrics: Option<Address>,
    /// Let the first signal end the reading alone: what was read is written and committed. The second stops the run.
    #[arg(long)]
    pub drain: bool,
    /// Print each second what transformers measure: waits, queues, duplicates, lookups.
    #[arg(long)]
    pub stats: bool,
    /// Write dirty records here, as JSON lines; by default to JOB.RUN.dirty.jsonl in the current folder.
    #[arg(long, value_name = "FILE")]
    pub dirty: Option<PathBuf>,
    /// What all channels of a job may hold together, such as 64M.
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = memory)]
    pub memory: usize,
    /// Print the summary as JSON to stdout; or, a line each, whatever happens: progress each second, warnings, the summary.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "summary")]
    pub json: Option<Json>,
    /// Print nothing but errors and what must not be missed.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What `transship run` prints to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Json {
    Summary,
    Events,
}

#[derive(Debug, Args)]
pub(super) struct PerfArguments {
    /// The perf records of a run; - is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Those of a later run, to compare.
    #[arg(value_name = "LATER")]
    pub other: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Write a trace that Perfetto opens.
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// Write a page of HTML that shows the run.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// How job files are read.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct JobOptions {
    /// Set a variable: it replaces ${NAME} and $NAME in the text of the job files.
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", value_parser = name_and_value)]
    define: Vec<(String, String)>,
    /// Set variables the way DataX does.
    #[arg(short = 'p', long = "params", value_name = "\"-DNAME=VALUE -D…\"", allow_hyphen_values = true, value_parser = java_options)]
    params: Vec<Given>,
    /// The encoding of the job files, such as GBK.
    #[arg(long, value_name = "NAME", value_parser = parse_encoding)]
    pub job_encoding: Option<&'static Encoding>,
    /// Run all entries of job.content; by default, as in DataX, only the first runs.
    #[arg(long)]
    pub all_contents: bool,
    /// A number to find the run by: it is repeated in the JSON summary.
    #[arg(long = "jobid", visible_alias = "job-id", value_name = "NUMBER", allow_hyphen_values = true)]
    pub job_id: Option<i64>,
    // What scripts written for DataX's launcher pass as well.
    #[arg(short = 'j', long = "jvm", hide = true, allow_hyphen_values = true)]
    jvm: Option<String>,
    #[arg(short = 'm', long = "mode", hide = true)]
    mode: Option<String>,
    #[arg(long = "loglevel", hide = true)]
    loglevel: Option<String>,
    #[arg(short = 'd', long = "debug", hide = true)]
    debug: bool,
}

impl JobOptions {
    /// The variables, those of `-D` after those of `-p`: the last one set counts.
    pub(super) fn variables(&self) -> Variables {
        let mut variables = Variables::default();
        for (name, value) in self.params.iter().flat_map(|given| &given.variables).chain(&self.define) {
            variables.set(name, value);
        }
        variables
    }

    /// What was given and has no meaning here.
    pub(super) fn notes(&self) -> Vec<String> {
        let launcher = [
            ("--jvm", self.jvm.is_some()),
            ("--mode", self.mode.is_some()),
            ("--loglevel", self.loglevel.is_some()),
            ("--debug", self.debug),
        ];
        let launcher = launcher.into_iter().filter(|(_, given)| *given);
        let launcher = launcher.map(|(name, _)| format!("{name} is an option of DataX's launcher and is ignored"));
        let others = self.params.iter().flat_map(|given| &given.others);
        launcher.chain(others.map(|option| format!("-p: {option} is an option of Java and is ignored"))).collect()
    }
}

#[derive(Debug, Args)]
pub(super) struct PluginPath {
    /// Look for plugins here first; may be given several times.
    #[arg(long = "plugin-path", value_name = "DIR")]
    pub folders: Vec<PathBuf>,
}

fn parse_encoding(name: &str) -> Result<&'static Encoding, String> {
    Encoding::for_label(name.as_bytes()).ok_or_else(|| "is no encoding that is known; try UTF-8 or GBK".into())
}

/// A number of bytes above 0.
fn memory(text: &str) -> Result<usize, String> {
    let bytes = amounts::parse_bytes(text)?;
    usize::try_from(bytes)
        .ok()
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "must be more than 0 and fit this machine".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
