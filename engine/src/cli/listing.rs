//! What `plan` and `plugins` print.

use std::fmt::Write;

use serde_json::json;
use transship_plugin_api::ffi::import::LoadedPlugin;
use transship_plugin_api::params::nearest;
use transship_plugin_api::plugin::{Component, Description, Parameter};

use super::figures::{bytes_text, count_text};
use crate::config::JobFile;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::plan::TaskSpec;
use crate::schema::{self, Components};
use crate::transform;

/// How many tasks are shown to a person.
const SHOWN: usize = 20;
/// How many are counted.
const COUNTED: usize = 10_000;

/// The plan of a job as JSON.
pub(super) fn plan_json(job: &Job<'_>, file: &JobFile) -> Result<serde_json::Value> {
    let (tasks, _) = job.tasks(usize::MAX)?;
    let content = &file.content[job.content()];
    Ok(json!({
        "job": file.name, "reader": content.reader.name, "writer": content.writer.name, "plan": job.plan(),
        "target": job.writer_info(), "statements": job.statements(), "tasks": tasks,
    }))
}

/// The plan of a job for a person.
pub(super) fn plan(job: &Job<'_>, file: &JobFile) -> Result<String> {
    let (tasks, more) = job.tasks(COUNTED)?;
    let plan = job.plan();
    let content = &file.content[job.content()];
    let mut text = format!("job {}: {} to {}\n", job.title(), content.reader.name, content.writer.name);
    let mut row = |label: &str, value: String| {
        let _ = writeln!(text, "  {label:<16}: {value}");
    };
    row("channels", plan.channels.to_string());
    let contents = file.running().len();
    if contents > 1 {
        let weight = if content.weight > 1 { format!(", weight {}", content.weight) } else { String::new() };
        let how = match file.setting.schedule.in_order {
            true => "one after another",
            false => "beside each other, those that have used little first",
        };
        row("entry", format!("{} of {contents}: they run {how}{weight}", job.content() + 1));
    }
    row("channel holds", format!("{} records, {}", plan.capacity.records, bytes_text(plan.capacity.bytes as u64)));
    row("batches", format!("{} records, {}", plan.batch.records, bytes_text(plan.batch.bytes as u64)));
    if let Some(bytes) = plan.bytes_per_second {
        row("limit", format!("{}/s", bytes_text(bytes)));
    }
    if let Some(records) = plan.records_per_second {
        row("limit", format!("{records} records/s"));
    }
    if let Some(bytes) = plan.channel_bytes_per_second {
        row("each channel", format!("{}/s", bytes_text(bytes)));
    }
    if let Some(records) = plan.channel_records_per_second {
        row("each channel", format!("{records} records/s"));
    }
    let info = job.writer_info();
    row("target", info.target.clone());
    if info.max_open_tasks > 0 {
        row("open at once", format!("{} writer tasks", info.max_open_tasks));
    }
    row("attempts", plan.max_attempts.to_string());
    for note in &plan.notes {
        row("note", note.clone());
    }
    section(&mut text, "at the target", job.statements());
    let shown = tasks.iter().take(SHOWN).map(|task| {
        let size = task.split.bytes.map(|bytes| format!(" ({})", bytes_text(bytes))).unwrap_or_default();
        format!("{} {}{size}", task.number, task.split.label)
    });
    let is_cut = tasks.len() > SHOWN;
    section(&mut text, &title(&tasks, more), shown.chain(is_cut.then(|| "…".to_string())));
    Ok(text)
}

/// How many tasks there are, and what they have to read as far as that is known.
fn title(tasks: &[TaskSpec], more: bool) -> String {
    let sum = |of: fn(&TaskSpec) -> Option<u64>| tasks.iter().map(of).sum::<Option<u64>>();
    let records = sum(|task| task.split.records).filter(|records| *records > 0);
    let bytes = sum(|task| task.split.bytes).filter(|bytes| *bytes > 0);
    let sizes = [
        records.map(|records| format!(", about {} records", count_text(records))),
        bytes.map(|bytes| format!(", {}", bytes_text(bytes))),
    ];
    let sizes: String = sizes.into_iter().flatten().collect();
    let at_least = if more { " or more" } else { "" };
    format!("tasks, in this order ({}{at_least}{sizes})", count_text(tasks.len() as u64))
}

fn section(text: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    for (index, line) in lines.into_iter().enumerate() {
        if index == 0 {
            let _ = writeln!(text, "  {title}:");
        }
        let _ = writeln!(text, "    {line}");
    }
}

/// The JSON Schema of job files for these plugins.
pub(super) fn schema(plugins: &[LoadedPlugin]) -> serde_json::Value {
    let built_in = transform::components();
    let mut components = Components::default();
    for plugin in plugins {
        let description = plugin.description();
        components.readers.extend(&description.readers);
        components.writers.extend(&description.writers);
        components.transformers.extend(&description.transformers);
    }
    components.transformers.extend(&built_in);
    schema::of_job_files(&components)
}

/// The plugins, or one of them with its parameters.
pub(super) fn plugins(plugins: &[LoadedPlugin], problems: &[String], name: Option<&str>) -> Result<String> {
    let mut text = String::new();
    match name {
        None => {
            for plugin in plugins {
                overview(&mut text, plugin);
            }
            let _ = writeln!(text, "built in");
            for component in transform::components() {
                overview_line(&mut text, "transformer", &component);
            }
            if plugins.is_empty() {
                text +=
                    "no plugins found: `cargo build --workspace` builds them, `--plugin-path` says where they are\n";
            }
            for problem in problems {
                let _ = writeln!(text, "left out: {problem}");
            }
        }
        Some(name) => {
            let mut known = Vec::new();
            for plugin in plugins {
                let whole = plugin.description().name == name;
                for (role, component) in components(plugin) {
                    if whole || component.names.iter().any(|known| known == name) {
                        let Description { name, version, .. } = plugin.description();
                        details(&mut text, role, component, &format!("{name} {version}"));
                    }
                    known.extend(component.names.iter().cloned());
                }
                known.push(plugin.description().name.clone());
            }
            for component in transform::components() {
                if component.names.iter().any(|known| known == name) {
                    details(&mut text, "transformer", &component, "built in");
                }
                known.extend(component.names);
            }
            if text.is_empty() {
                let near = nearest(name, known.iter().map(String::as_str));
                let advice = near.map_or_else(
                    || "`transship plugins` lists those that there are".to_string(),
                    |near| format!("did you mean \"{near}\"?"),
                );
                let left_out: String = problems.iter().map(|problem| format!("\n  left out: {problem}")).collect();
                return Err(Error::Plugin(format!("there is no plugin named \"{name}\"; {advice}{left_out}")));
            }
        }
    }
    Ok(text)
}

fn components(plugin: &LoadedPlugin) -> impl Iterator<Item = (&'static str, &Component)> {
    let description = plugin.description();
    let readers = description.readers.iter().map(|component| ("reader", component));
    let writers = description.writers.iter().map(|component| ("writer", component));
    let transformers = description.transformers.iter().map(|component| ("transformer", component));
    let lookups = description.lookups.iter().map(|component| ("lookup", component));
    readers.chain(writers).chain(transformers).chain(lookups)
}

fn overview(text: &mut String, plugin: &LoadedPlugin) {
    let description = plugin.description();
    let _ = writeln!(text, "{} {}  {}", description.name, description.version, plugin.path().display());
    for (role, component) in components(plugin) {
        overview_line(text, role, component);
    }
}

fn overview_line(text: &mut String, role: &str, component: &Component) {
    let _ = writeln!(text, "  {role:<11} {:<30} {}", component.names.join(", "), component.about);
}

fn details(text: &mut String, role: &str, component: &Component, origin: &str) {
    let _ = writeln!(text, "{role} {} ({origin})", component.names.join(", "));
    let _ = writeln!(text, "  {}", component.about);
    let widest = component.parameters.iter().map(|parameter| parameter.name.chars().count()).max().unwrap_or(0);
    for parameter in &component.parameters {
        let Parameter { name, takes, about, .. } = parameter;
        let _ = writeln!(text, "  {name:<widest$}  {takes}{}. {about}", presence(parameter));
    }
    text.push('\n');
}

fn presence(parameter: &Parameter) -> String {
    match (parameter.required, parameter.default.is_empty()) {
        (true, _) => ", required".into(),
        (false, true) => String::new(),
        (false, false) => format!(", default {}", parameter.default),
    }
}
