//! The files that a command writes beside its targets: perf records, pages, traces. None of them may be one that it reads, another that
//! it writes, or somebody else's, and what was made for nothing goes again. Not here: what is written to them.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::arguments::{PerfArguments, RunArguments};
use super::folder_of;
use crate::error::{Error, Result};
use crate::perf::trace;
use crate::report;

mod kind;
use kind::Kind;

/// A file that is read, and what a person calls it: `the job file a.json`.
struct Input<'a> {
    name: String,
    path: &'a Path,
}

/// A file that somebody wants to be written.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    kind: Kind,
    path: &'a Path,
}

/// Which file a path leads to: several may lead to the same.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// By device and inode.
    There(u64, u64),
    /// It would be made, in this folder under this name.
    ToCome(PathBuf),
}

/// A file that is there from the beginning of a run: that it cannot be written should not be found out after hours.
#[derive(Debug)]
pub(super) struct Output {
    kind: Kind,
    pub path: PathBuf,
    pub file: File,
    /// Made for this run: it goes again unless it is kept.
    is_new: bool,
    is_kept: bool,
}

/// What a run writes beside its targets.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    /// Where perf records go, if anybody wants them or what is made of them.
    pub records: Option<Output>,
    /// Whether they are to stay: otherwise they lie beside the page that is made of them until it is.
    pub keeps_records: bool,
    pub report: Option<Output>,
    pub trace: Option<Output>,
}

impl Outputs {
    /// Makes those that a run was asked for. What is in files that are there stays until there is something new.
    ///
    /// # Errors
    /// If one of them is something else that the run reads or writes, or somebody else's, or cannot be written.
    pub(super) fn of(arguments: &RunArguments) -> Result<Outputs> {
        let job = |path: &'_ Path| format!("the job file {}", path.display());
        let jobs: Vec<Input<'_>> =
            arguments.jobs.iter().map(|path| Input { name: job(path), path: read_from(path) }).collect();
        let [perf, report, trace, dirty] = [
            (Kind::Records, &arguments.perf),
            (Kind::Page, &arguments.report),
            (Kind::Trace, &arguments.trace),
            (Kind::Dirty, &arguments.dirty),
        ]
        .map(wanted);
        refuse_destruction(&jobs, &[perf, report, trace, dirty])?;
        if let (Some(perf), Some(page)) = (perf, report.or(trace))
            && !can_be_read_again(perf.path)
        {
            return Err(Error::Job(format!(
                "--perf {}: it cannot be read again, and {} is made of it: let --perf name a file, or leave it out",
                perf.path.display(),
                page.kind.option()
            )));
        }
        let open = |wanted: Option<Wanted<'_>>| wanted.map(Output::open).transpose();
        let (report, trace) = (open(report)?, open(trace)?);
        let records = match (open(perf)?, report.as_ref().or(trace.as_ref())) {
            (None, Some(page)) => Some(Output::beside(&page.path)?),
            (records, _) => records,
        };
        let outputs = Outputs { records, keeps_records: arguments.perf.is_some(), report, trace };
        outputs.hold_places()?;
        Ok(outputs)
    }

    /// New pages say until the end of the run how to make them: if it is killed, nobody else does.
    fn hold_places(&self) -> Result<()> {
        let Some(records) = &self.records else { return Ok(()) };
        [&self.report, &self.trace].into_iter().flatten().try_for_each(|page| page.hold_place(&records.path))
    }

    /// The process ends without waiting for the run: no page will be made, and what is empty goes. Answers what to say of the records
    /// that a page was to be made of.
    pub(super) fn abandon(&self, has_lines: bool) -> Option<String> {
        let pages: Vec<&Output> = [&self.report, &self.trace].into_iter().flatten().collect();
        pages.iter().for_each(|page| page.remove_if_new());
        let records = self.records.as_ref()?;
        if !has_lines {
            records.remove_if_new();
        }
        (has_lines && !pages.is_empty()).then(|| records.kept_text())
    }
}

/// Refuses what a recorded run is to be shown in, if that would destroy something.
pub(super) fn refuse_destruction_by_perf(arguments: &PerfArguments) -> Result<()> {
    let records = |path| Input { name: format!("the perf records {}", Path::display(path)), path: read_from(path) };
    let read: Vec<Input<'_>> =
        [Some(&arguments.file), arguments.other.as_ref()].into_iter().flatten().map(|path| records(path)).collect();
    let pages = [(Kind::Page, &arguments.report), (Kind::Trace, &arguments.trace)];
    refuse_destruction(&read, &pages.map(wanted))
}

fn wanted((kind, path): (Kind, &Option<PathBuf>)) -> Option<Wanted<'_>> {
    Some(Wanted { kind, path: path.as_deref()? })
}

/// Where a file of the command line is read from.
fn read_from(path: &Path) -> &Path {
    if is_standard(path) { Path::new("/dev/stdin") } else { path }
}

/// Whether standard input is meant.
pub(super) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses outputs that would destroy an input, another output, or what somebody else has put there.
fn refuse_destruction(inputs: &[Input<'_>], outputs: &[Option<Wanted<'_>>]) -> Result<()> {
    let outputs: Vec<Wanted<'_>> = outputs.iter().copied().flatten().collect();
    outputs.iter().try_for_each(refuse_standard)?;
    refuse_shared(inputs, &outputs)?;
    outputs.iter().try_for_each(|wanted| wanted.kind.refuse_other(wanted.path))
}

/// Whoever writes `-` hardly means a file of that name.
fn refuse_standard(wanted: &Wanted<'_>) -> Result<()> {
    if !is_standard(wanted.path) {
        return Ok(());
    }
    let option = wanted.kind.option();
    Err(Error::Job(format!(
        "{option} -: - stands for standard input, which cannot be written; standard output is /dev/stdout, a file of this name ./-"
    )))
}

fn refuse_shared(inputs: &[Input<'_>], outputs: &[Wanted<'_>]) -> Result<()> {
    let inputs: Vec<_> = inputs.iter().map(|input| (&input.name, identity(input.path))).collect();
    let mut before: Vec<(&str, Identity)> = Vec::new();
    for Wanted { kind, path } in outputs {
        let Some(file) = identity(path) else { continue };
        let (option, path) = (kind.option(), path.display());
        if let Some((input, _)) = inputs.iter().find(|(_, input)| input.as_ref() == Some(&file)) {
            return Err(Error::Job(format!(
                "{option} {path}: this is {input}, which would be destroyed; name another file"
            )));
        }
        if let Some((other, _)) = before.iter().find(|(_, other)| *other == file) {
            return Err(Error::Job(format!(
                "{option} {path}: this is the file of {other} as well; each needs one of its own"
            )));
        }
        before.push((option, file));
    }
    Ok(())
}

/// Which file a path leads to; `None`: none that could be destroyed, such as a pipe or a terminal, or none that can be.
fn identity(path: &Path) -> Option<Identity> {
    if let Ok(found) = std::fs::metadata(path) {
        return found.is_file().then(|| Identity::There(found.dev(), found.ino()));
    }
    let folder = folder_of(path).unwrap_or(Path::new("."));
    // A link that leads nowhere yet leads to the file that will be made.
    let path = std::fs::read_link(path).map_or_else(|_| path.to_path_buf(), |target| folder.join(target));
    let folder = folder_of(&path).unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some(Identity::ToCome(folder.join(path.file_name()?)))
}

/// Whether what is written there can be read afterwards; what is not there yet will be a file.
fn can_be_read_again(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(found) => found.is_file() && File::open(path).is_ok(),
        Err(_) => true,
    }
}

impl Output {
    fn open(Wanted { kind, path }: Wanted<'_>) -> Result<Output> {
        let (opened, is_new) = match OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                (OpenOptions::new().write(true).create(true).truncate(false).open(path), false)
            }
            made => (made, true),
        };
        let file = opened.map_err(|error| cannot_write(path, &error))?;
        Ok(Output { kind, path: path.into(), file, is_new, is_kept: false })
    }

    /// A new file beside this page, under a name that nobody has; beside a pipe or a terminal nothing is put.
    fn beside(page: &Path) -> Result<Output> {
        let mut place = page.to_path_buf();
        if let (false, Some(name)) = (page.is_file(), page.file_name()) {
            place = std::env::temp_dir().join(name);
        }
        loop {
            let unique = uuid::Uuid::new_v4().simple().to_string();
            let mut path = place.clone().into_os_string();
            path.push(format!(".{}.perf.jsonl", &unique[..8]));
            let path = PathBuf::from(path);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Output { kind: Kind::Records, path, file, is_new: true, is_kept: false }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_write(&path, &error)),
            }
        }
    }

    /// There is something in it: it stays.
    pub(super) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Puts into it what it was made for, unless the run itself has put something there by now.
    pub(super) fn fill(&mut self, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        self.kind.refuse_other(&self.path)?;
        write(&self.path)?;
        self.keep();
        Ok(())
    }

    /// A new page says which command makes it of these records.
    fn hold_place(&self, records: &Path) -> Result<()> {
        let command = format!("transship perf {} {} {}", in_shell(records), self.kind.option(), in_shell(&self.path));
        let held = match self.kind {
            Kind::Page if self.is_new => report::write_placeholder(&mut &self.file, &command),
            Kind::Trace if self.is_new => trace::write_placeholder(&mut &self.file, &command),
            _ => Ok(()),
        };
        held.map_err(|error| cannot_write(&self.path, &error))
    }

    /// What to say of records where no page could be made of them.
    pub(super) fn kept_text(&self) -> String {
        format!(
            "the perf records are kept in {}: `transship perf` makes a page or a trace of them",
            self.path.display()
        )
    }

    /// What the run itself has put in its place is not ours to remove.
    fn remove_if_new(&self) {
        if self.is_new && self.kind.refuse_other(&self.path).is_ok() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.is_kept {
            self.remove_if_new();
        }
    }
}

/// A path as it is written on a command line, wherever that is typed.
fn in_shell(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+,:@%".contains(letter);
    if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

fn cannot_write(path: &Path, error: &io::Error) -> Error {
    Error::Job(format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_whatever_leads_to_it_also_before_it_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let same = |one: &str, other: &str| identity(&path(one)) == identity(&path(other));
        std::fs::create_dir(path("sub")).unwrap();
        std::fs::write(path("there"), "").unwrap();
        std::fs::hard_link(path("there"), path("hard")).unwrap();
        for (target, link) in [("there", "soft"), ("to come", "dangling"), ("sub", "folder")] {
            std::os::unix::fs::symlink(target, path(link)).unwrap();
        }
        for (one, other) in [
            ("there", "sub/../there"),
            ("there", "hard"),
            ("there", "soft"),
            ("to come", "sub/../to come"),
            ("to come", "dangling"),
            ("sub/a", "folder/a"),
        ] {
            assert!(same(one, other), "{one} and {other}");
        }
        assert!(!same("there", "to come") && !same("sub/a", "a") && !same("a", "b"));
    }

    #[test]
    fn a_path_can_be_typed_into_a_shell_whatever_its_letters() {
        let typed = ["/a/b-1.html", "/a b", "/it's"].map(|path| in_shell(Path::new(path)));
        assert_eq!(typed, ["/a/b-1.html", "'/a b'", r"'/it'\''s'"]);
    }

    #[test]
    fn pipes_and_devices_are_nothing_to_destroy() {
        assert_eq!(identity(Path::new("/dev/null")), None);
        assert!(!can_be_read_again(Path::new("/dev/null")));
    }

    #[test]
    fn what_was_made_for_nothing_goes_and_what_was_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new, kept) = (folder.path().join("old"), folder.path().join("new"), folder.path().join("kept"));
        std::fs::write(&old, "").unwrap();
        for path in [&old, &new, &kept] {
            let mut output = Output::open(Wanted { kind: Kind::Page, path }).unwrap();
            if *path == kept {
                output.keep();
            }
        }
        assert_eq!([&old, &new, &kept].map(|path| path.exists()), [true, false, true]);
    }
}
