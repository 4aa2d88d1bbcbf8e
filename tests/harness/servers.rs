//! PostgreSQL and MariaDB for tests: each test has a database of its own, which is dropped at its end.
//!
//! The servers are those of `TRANSSHIP_TEST_POSTGRES` and `TRANSSHIP_TEST_MYSQL` (URLs with user and password), where these are
//! set; else `scripts/servers` starts both when a test first asks for one, and stops them when this process is gone. They are
//! spoken to by their own programs, psql and mariadb, so that nothing is tested with itself.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Map, Value};

use crate::program::repository;

/// Which kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    Postgres,
    MySql,
}

impl System {
    /// The variable that holds the URL of a server.
    fn variable(self) -> &'static str {
        match self {
            System::Postgres => "TRANSSHIP_TEST_POSTGRES",
            System::MySql => "TRANSSHIP_TEST_MYSQL",
        }
    }

    /// The word in URLs.
    fn scheme(self) -> &'static str {
        match self {
            System::Postgres => "postgresql",
            System::MySql => "mysql",
        }
    }
}

/// A database of a test. It is dropped with it.
pub struct Database {
    system: System,
    server: &'static Server,
    name: String,
}

impl Database {
    /// A new database of PostgreSQL.
    pub fn postgres() -> Database {
        Database::new(System::Postgres)
    }

    /// A new database of MySQL or MariaDB.
    pub fn mysql() -> Database {
        Database::new(System::MySql)
    }

    /// A new database.
    pub fn new(system: System) -> Database {
        Database::at(system, Server::of(system))
    }

    /// A new database of a server that speaks TLS: for localhost, it says, with a certificate out of [`certificates`].
    pub fn encrypted(system: System) -> Database {
        Database::at(system, Server::encrypted(system))
    }

    fn at(system: System, server: &'static Server) -> Database {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("transship_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        server.run(None, &format!("CREATE DATABASE {name}"));
        Database { system, server, name }
    }

    /// What it is.
    pub fn system(&self) -> System {
        self.system
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its server listens: `127.0.0.1:5432`.
    pub fn address(&self) -> &str {
        &self.server.address
    }

    /// Its URL, as job files have it.
    pub fn url(&self) -> String {
        self.url_at(self.address())
    }

    /// Its URL, reached through another address, where a proxy listens for instance.
    pub fn url_at(&self, address: &str) -> String {
        format!("jdbc:{}://{address}/{}", self.system.scheme(), self.name)
    }

    /// The user to log in with.
    pub fn username(&self) -> &str {
        &self.server.username
    }

    /// That user's password. It has every character in it that somebody could forget to escape.
    pub fn password(&self) -> &str {
        &self.server.password
    }

    /// Parameters of a reader or writer, with user, password and, if they name no `connection`, this database added.
    pub fn parameter(&self, parameter: Value) -> Value {
        let mut all = Map::new();
        all.insert("username".into(), self.username().into());
        all.insert("password".into(), self.password().into());
        if parameter.get("connection").is_none() {
            all.insert("jdbcUrl".into(), self.url().into());
        }
        all.extend(parameter.as_object().expect("parameters are an object").clone());
        Value::Object(all)
    }

    /// Runs statements.
    ///
    /// # Panics
    /// If one fails; those behind it are not run.
    pub fn run(&self, sql: &str) {
        self.server.run(Some(&self.name), sql);
    }

    /// The rows of a query, one line each: values between tabs, NULL as `NULL`.
    ///
    /// # Panics
    /// If it fails.
    pub fn rows(&self, sql: &str) -> Vec<String> {
        self.server.run(Some(&self.name), sql).lines().map(String::from).collect()
    }

    /// The one value of a query.
    ///
    /// # Panics
    /// If it fails, or yields anything but one line.
    pub fn value(&self, sql: &str) -> String {
        let mut rows = self.rows(sql);
        assert_eq!(rows.len(), 1, "\"{sql}\" yields {rows:?}");
        rows.remove(0)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Whoever is still connected does not keep it; in MySQL, not for long.
        let dropped = match self.system {
            System::Postgres => format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name),
            System::MySql => format!("SET lock_wait_timeout = 20; DROP DATABASE IF EXISTS {}", self.name),
        };
        let dropped = self.server.try_run(None, &dropped);
        // After a failure that failure is what counts.
        if let (Err(problem), false) = (dropped, std::thread::panicking()) {
            panic!("{problem}");
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url())
    }
}

/// The folder of the certificates that the servers which speak TLS know: `ca.pem` has signed theirs and `client.pem`, whose key is
/// in `client.key`, `client.pk8` and, with a pass phrase, `locked.key`; `other.pem` has signed none.
pub fn certificates() -> &'static Path {
    Path::new(Started::encrypted().variable("TRANSSHIP_TEST_CERTIFICATES"))
}

/// A server, and who may make databases there.
struct Server {
    system: System,
    address: String,
    username: String,
    password: String,
}

impl Server {
    fn of(system: System) -> &'static Server {
        static POSTGRES: OnceLock<Server> = OnceLock::new();
        static MYSQL: OnceLock<Server> = OnceLock::new();
        let server = match system {
            System::Postgres => &POSTGRES,
            System::MySql => &MYSQL,
        };
        server.get_or_init(|| {
            let started = || Started::servers().variable(system.variable()).to_string();
            Server::at(system, &std::env::var(system.variable()).unwrap_or_else(|_| started()))
        })
    }

    fn encrypted(system: System) -> &'static Server {
        static POSTGRES: OnceLock<Server> = OnceLock::new();
        static MYSQL: OnceLock<Server> = OnceLock::new();
        let server = match system {
            System::Postgres => &POSTGRES,
            System::MySql => &MYSQL,
        };
        server.get_or_init(|| Server::at(system, Started::encrypted().variable(system.variable())))
    }

    fn at(system: System, url: &str) -> Server {
        let parts = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
        let parts = parts.and_then(|(login, place)| Some((login.split_once(':')?, place)));
        let Some(((username, password), place)) = parts else {
            panic!("{} must be {}://user:password@host:port", system.variable(), system.scheme());
        };
        let address = place.split('/').next().unwrap_or_default();
        Server { system, address: address.into(), username: decoded(username), password: decoded(password) }
    }

    fn run(&self, database: Option<&str>, sql: &str) -> String {
        self.try_run(database, sql).unwrap_or_else(|problem| panic!("{problem}"))
    }

    /// What the statements print.
    fn try_run(&self, database: Option<&str>, sql: &str) -> Result<String, String> {
        let output = self.client(database, sql);
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout).expect("the clients print UTF-8")),
            false => Err(format!("{}\nin \"{sql}\"", String::from_utf8_lossy(&output.stderr).trim())),
        }
    }

    /// Has the server's own client run statements, which it gets from its standard input, so that they may be of any size.
    fn client(&self, database: Option<&str>, sql: &str) -> Output {
        let (host, port) = self.address.rsplit_once(':').expect("the address of a server has a port");
        let mut command = match self.system {
            System::Postgres => {
                let mut command = Command::new(psql());
                command.args(["-X", "-q", "-A", "-t", "-F", "\t", "-P", "null=NULL", "-v", "ON_ERROR_STOP=1"]);
                command.args(["-h", host, "-p", port, "-U", &self.username, "-d", database.unwrap_or("postgres")]);
                command.env("PGPASSWORD", &self.password).env("PGCLIENTENCODING", "UTF8");
                command
            }
            System::MySql => {
                let mut command = Command::new("mariadb");
                command.args(["--no-defaults", "--batch", "--skip-column-names", "--default-character-set=utf8mb4"]);
                command.args(["--protocol=tcp", "-h", host, "-P", port, "-u", &self.username]).args(database);
                command.env("MYSQL_PWD", &self.password);
                command
            }
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut client = command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", command.get_program()));
        let mut input = client.stdin.take().expect("it was asked for");
        std::thread::scope(|scope| {
            // A client that gives up early does not read to the end; what it says then is in its output.
            scope.spawn(move || input.write_all(sql.as_bytes()));
            client.wait_with_output().expect("a client can be waited for")
        })
    }
}

/// Servers that were started for this process. They end when it does, because their standard input does.
struct Started {
    /// What the script has printed, `NAME=value`.
    variables: Vec<String>,
    _script: Child,
}

impl Started {
    fn servers() -> &'static Started {
        static STARTED: OnceLock<Started> = OnceLock::new();
        STARTED.get_or_init(|| Started::new(&["serve"], 2))
    }

    fn encrypted() -> &'static Started {
        static STARTED: OnceLock<Started> = OnceLock::new();
        STARTED.get_or_init(|| Started::new(&["serve", "encrypted"], 3))
    }

    fn new(words: &[&str], lines: usize) -> Started {
        let mut script = Command::new(repository().join("scripts/servers"))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/servers can be started");
        let printed = BufReader::new(script.stdout.take().expect("it was asked for")).lines();
        let variables: Vec<String> = printed.map_while(Result::ok).take(lines).collect();
        assert_eq!(variables.len(), lines, "scripts/servers started no servers: see above");
        Started { variables, _script: script }
    }

    fn variable(&self, name: &str) -> &str {
        let of = |line: &'_ String| line.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        let line = self.variables.iter().find(|line| of(line)).expect("scripts/servers prints all of them");
        &line[name.len() + 1..]
    }
}

/// The program psql. What Debian has in PATH is a script around it, which takes longer to start than most statements to run.
fn psql() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let programs = versions.map(|version| version.path().join("bin/psql")).filter(|program| program.is_file());
    programs.max_by_key(|program| program.metadata().and_then(|data| data.modified()).ok()).unwrap_or("psql".into())
}

/// A text with `%40` for `@`.
fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut plain = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        plain.push(u8::from_str_radix(&piece[..2], 16).expect("two digits follow a percent sign"));
        plain.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(plain).expect("names and passwords are UTF-8")
}

#[cfg(test)]
mod tests;
