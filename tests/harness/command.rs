//! One run of the program: how it is started, watched, interrupted and judged.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::wait::until;
use crate::{program, records};

/// A run that lasts longer is killed, and its test has failed.
const LIMIT: Duration = Duration::from_secs(60);
/// What is allowed to a run in which something goes wrong, from its start to its end.
const SOON: Duration = Duration::from_secs(10);

/// The program, not started yet.
pub struct Transship {
    command: Command,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// The program while it runs. It is killed if the test ends before it.
pub struct Running {
    child: Child,
    started: Instant,
    folder: PathBuf,
    stdout: PathBuf,
    stderr: PathBuf,
    finished: bool,
}

/// What became of a run.
pub struct Finished {
    pub stdout: String,
    pub stderr: String,
    status: ExitStatus,
    elapsed: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Interrupt,
    Terminate,
    HangUp,
    Kill,
}

impl Signal {
    fn name(self) -> &'static str {
        match self {
            Signal::Interrupt => "INT",
            Signal::Terminate => "TERM",
            Signal::HangUp => "HUP",
            Signal::Kill => "KILL",
        }
    }
}

impl Transship {
    pub(crate) fn new<S: AsRef<str>>(
        arguments: impl IntoIterator<Item = S>,
        folder: &Path,
        stdout: PathBuf,
        stderr: PathBuf,
    ) -> Transship {
        let mut command = Command::new(program::program());
        command.args(arguments.into_iter().map(|argument| argument.as_ref().to_string()));
        Transship::of(command, folder, stdout, stderr)
    }

    fn of(mut command: Command, folder: &Path, stdout: PathBuf, stderr: PathBuf) -> Transship {
        // What the person who runs the tests has set must not change them.
        command.current_dir(folder).env_remove("TRANSSHIP_LOG").env_remove("TRANSSHIP_PLUGIN_PATH").env("TZ", "UTC");
        command.stdin(Stdio::null());
        // A process group of its own: whatever it leaves running can be found by it.
        command.process_group(0);
        Transship { command, stdout, stderr }
    }

    /// The same in a shell script, which finds the program and its arguments in `"$@"`.
    pub fn within(self, script: &str) -> Transship {
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(self.command.get_program()).args(self.command.get_args());
        let folder = self.command.get_current_dir().expect("every run has a folder").to_path_buf();
        let mut script = Transship::of(command, &folder, self.stdout, self.stderr);
        script.command.envs(self.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script
    }

    /// With one more argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Transship {
        self.command.arg(argument);
        self
    }

    /// With one more folder of plugins.
    pub fn plugins_in(self, folder: impl AsRef<Path>) -> Transship {
        self.arg("--plugin-path").arg(folder.as_ref())
    }

    /// In another folder than the scratch folder.
    pub fn in_folder(mut self, folder: &Path) -> Transship {
        self.command.current_dir(folder);
        self
    }

    /// With a variable in its environment.
    pub fn env(mut self, name: &str, value: &str) -> Transship {
        self.command.env(name, value);
        self
    }

    /// Starts it.
    pub fn start(mut self) -> Running {
        let file = |path: &Path| File::create(path).expect("a file for the output can be made");
        self.command.stdout(file(&self.stdout)).stderr(file(&self.stderr));
        let folder = self.command.get_current_dir().expect("every run has a folder").to_path_buf();
        let child = self.command.spawn().unwrap_or_else(|error| panic!("cannot start {:?}: {error}", self.command));
        Running { child, started: Instant::now(), folder, stdout: self.stdout, stderr: self.stderr, finished: false }
    }

    /// Starts it and waits for its end.
    pub fn run(self) -> Finished {
        self.start().finish()
    }
}

impl Running {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until a file in the scratch folder exists.
    pub fn wait_for_file(&mut self, name: &str) {
        let path = self.folder.join(name);
        self.wait_until(&format!("the file {name}"), || path.exists());
    }

    /// What it has printed to stderr so far.
    pub fn stderr(&self) -> String {
        read(&self.stderr)
    }

    /// Waits until it has printed something to stderr.
    pub fn wait_for_stderr(&mut self, text: &str) {
        let path = self.stderr.clone();
        self.wait_until(&format!("`{text}` on stderr"), || read(&path).contains(text));
    }

    /// Waits for a state that it is to bring about.
    ///
    /// # Panics
    /// If it ends without that.
    pub fn wait_until(&mut self, what: &str, state: impl Fn() -> bool) {
        until(what, || {
            if state() {
                return Some(());
            }
            let ended = self.child.try_wait().expect("a child can be waited for");
            assert!(ended.is_none() || state(), "it ended without {what}:\n{}", read(&self.stderr));
            None
        });
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        send(signal, &self.child.id().to_string());
    }

    /// Sends it a signal twice, as fast as that can be done.
    pub fn signal_twice(&self, signal: Signal) {
        let id = self.child.id().to_string();
        let script = r#"kill -s "$0" -- "$1" "$1""#;
        let _ = Command::new("sh").args(["-c", script, signal.name(), &id]).stderr(Stdio::null()).status();
    }

    /// Sends it a signal again and again until it ends.
    pub fn signal_until_it_ends(mut self, signal: Signal) -> Finished {
        until("an end by the signal", || {
            self.signal(signal);
            self.child.try_wait().expect("a child can be waited for")
        });
        self.finish()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// If it does not end within a minute, or leaves a process behind.
    pub fn finish(mut self) -> Finished {
        let status = until("the end of the run", || {
            let ended = self.child.try_wait().expect("a child can be waited for");
            if ended.is_none() && self.started.elapsed() > LIMIT {
                self.kill();
                panic!("it did not end within {LIMIT:?}:\n{}", read(&self.stderr));
            }
            ended
        });
        self.finished = true;
        let left = processes_of_group(self.child.id());
        if !left.is_empty() {
            self.kill();
        }
        let finished = Finished {
            stdout: read(&self.stdout),
            stderr: read(&self.stderr),
            status,
            elapsed: self.started.elapsed(),
        };
        assert!(left.is_empty(), "it left processes behind: {left:?}\n{finished}");
        finished
    }

    fn kill(&mut self) {
        send(Signal::Kill, &format!("-{}", self.child.id()));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.finished {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

impl Finished {
    /// It ended well.
    #[track_caller]
    pub fn succeeds(self) -> Finished {
        self.ends_with(0)
    }

    /// It ended with this exit code, soon, and said why.
    #[track_caller]
    pub fn fails_with(self, code: i32) -> Finished {
        let finished = self.ends_with(code);
        assert!(finished.elapsed < SOON, "it took {:?}\n{finished}", finished.elapsed);
        assert!(finished.stderr.contains("error: "), "it did not say why\n{finished}");
        finished
    }

    /// It ended with this exit code.
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Finished {
        assert_eq!(self.status.code(), Some(code), "the exit code (left) is not {code}\n{self}");
        self
    }

    /// Its exit code; `None` if a signal killed it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// How long it ran.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// All of this is on stderr.
    #[track_caller]
    pub fn says<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> &Finished {
        for text in texts {
            assert!(self.stderr.contains(text), "stderr lacks `{text}`\n{self}");
        }
        self
    }

    /// Nothing of this is on stderr.
    #[track_caller]
    pub fn does_not_say<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> &Finished {
        for text in texts {
            assert!(!self.stderr.contains(text), "stderr has `{text}`\n{self}");
        }
        self
    }

    /// The last line on stderr that begins with `error: `, without that.
    #[track_caller]
    pub fn error(&self) -> &str {
        let line = self.stderr.lines().rev().find_map(|line| line.strip_prefix("error: "));
        line.unwrap_or_else(|| panic!("it reports no error\n{self}"))
    }

    /// The summary that `--json` prints, of the only job.
    #[track_caller]
    pub fn summary(&self) -> Value {
        let mut summaries = self.summaries();
        assert_eq!(summaries.len(), 1, "not one summary\n{self}");
        summaries.remove(0)
    }

    /// The summaries that `--json` prints, one for each job.
    pub fn summaries(&self) -> Vec<Value> {
        records::json_documents(&self.stdout)
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} after {:?}", self.status, self.elapsed)?;
        if let Some(signal) = self.status.signal() {
            writeln!(f, "killed by signal {signal}")?;
        }
        let (stdout, stderr) = (beginning(&self.stdout), beginning(&self.stderr));
        write!(f, "--- stdout:\n{stdout}\n--- stderr:\n{stderr}\n---")
    }
}

/// As much of an output as a person wants to see of it.
fn beginning(output: &str) -> String {
    const MOST: usize = 1500;
    match output.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}… ({} bytes in all)", &output[..end], output.len()),
        None => output.to_string(),
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

fn send(signal: Signal, to: &str) {
    let script = r#"kill -s "$0" -- "$1""#;
    let _ = Command::new("sh").args(["-c", script, signal.name(), to]).stderr(Stdio::null()).status();
}

/// What still runs of a process group.
fn processes_of_group(group: u32) -> Vec<String> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let of_group = |stat: &String| {
        // pid (name) state parent group …; the name may hold anything.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.get(2) == Some(&group.to_string().as_str()) && fields.first() != Some(&"Z")
    };
    processes
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter(of_group)
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::Scratch;

    #[test]
    fn a_process_that_is_left_behind_is_found() {
        let scratch = Scratch::new();
        let run = scratch.transship(["plugins"]).within(r#"sleep 1000 & "$@""#).start();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run.finish()));
        let message = *outcome.err().expect("it was found").downcast::<String>().expect("a message");
        assert!(message.contains("left processes behind") && message.contains("sleep"), "{message}");
    }

    #[test]
    fn a_run_that_has_ended_well_leaves_nothing() {
        let scratch = Scratch::new();
        let run = scratch.transship(["--version"]).run().succeeds();
        assert!(run.stdout.starts_with("transship "), "{run}");
        assert_eq!(scratch.files(), [""; 0]);
    }
}
