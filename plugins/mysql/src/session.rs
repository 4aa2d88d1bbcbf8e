//! A connection to a server: opening it, running statements on it, giving them up.

mod clock;
mod column;
mod handshake;
mod server;
mod stop;
mod tls;
mod wire;
mod words;

use std::fmt::Display;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use transship_plugin_api::{Error, Result};
use transship_sql::jdbc::Host;
use transship_sql::retry::{Schedule, with_retries};

use handshake::{Failure, Hello};
use wire::Wire;

pub(crate) use clock::Clock;
pub(crate) use column::{Column, kind, take_text};
pub(crate) use server::Server;
pub(crate) use stop::Stop;
pub(crate) use words::{Refused, code};

/// How long to try to have the server give up a statement.
const KILL_PATIENCE: Duration = Duration::from_secs(2);

/// The bytes before commands.
mod command {
    pub(super) const QUIT: u8 = 1;
    pub(super) const QUERY: u8 = 3;
    pub(super) const PREPARE: u8 = 0x16;
    pub(super) const EXECUTE: u8 = 0x17;
    pub(super) const CLOSE_STATEMENT: u8 = 0x19;
}

/// A connection.
pub(crate) struct Session {
    pub(crate) server: Arc<Server>,
    stop: Stop,
    wire: Wire,
    hello: Hello,
    host: Host,
    /// Whether the server owes no answer.
    idle: bool,
    /// Statements that go before the next command, without a wait for their answers.
    ahead: Vec<&'static str>,
    /// How many of their answers are still to come.
    owed: usize,
}

/// What a statement without a result came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Rows that it changed.
    pub(crate) affected: u64,
    pub(crate) warnings: u16,
    /// What the server says about it: `Records: 3  Deleted: 0 …`.
    pub(crate) info: String,
}

/// A statement that the server has looked at.
pub(crate) struct Prepared {
    id: u32,
    pub(crate) columns: Vec<Column>,
}

/// What a statement was answered by.
enum Answer {
    Done(Done),
    /// A result with so many columns follows.
    Rows(usize),
    /// The server wants a file.
    File,
}

impl Session {
    /// Connects, tries again where that may help, and runs what every connection begins with.
    pub(crate) fn open(server: &Arc<Server>, stop: &Stop) -> Result<Session> {
        let wait = |pause| stop.wait(pause);
        let doing = format!("connecting to {}", server.place);
        with_retries(Schedule::CONNECT, 0, &doing, wait, |_| Session::open_once(server, stop))
    }

    /// As [`Session::open`], without another attempt.
    pub(crate) fn open_once(server: &Arc<Server>, stop: &Stop) -> Result<Session> {
        let mut last = Error::connect("no host was tried");
        for host in &server.hosts {
            stop.check()?;
            match Session::open_at(server, stop, host, server.connect_patience) {
                Ok(session) => return Ok(session),
                // Who is refused here need not knock at the other doors.
                Err(error) if !error.is_retryable() => return Err(error),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn open_at(server: &Arc<Server>, stop: &Stop, host: &Host, patience: Duration) -> Result<Session> {
        let failed = |error: Error| {
            let retryable = error.is_retryable();
            let at = if server.hosts.len() > 1 {
                format!("{}: connecting to {host}", server.place)
            } else {
                format!("{}: connecting", server.place)
            };
            Error::connect(format!("{at}: {}", error.message())).retryable(retryable)
        };
        stop.doing(&format!("connecting to {host}"));
        let socket = connect(host, patience).map_err(failed)?;
        let wire = Wire::new(socket, stop.clone(), server.patience).map_err(Error::from)?;
        let mut wire = wire;
        let hello = match handshake::shake_hands(&mut wire, server, &host.name) {
            Ok(hello) => hello,
            Err(Failure::Refused(refused)) => {
                let doing = format!("connecting as {}", server.user);
                return Err(server.refused(doing, &refused));
            }
            Err(Failure::Broken(error)) if error.kind() == transship_plugin_api::Kind::Cancelled => return Err(error),
            Err(Failure::Broken(error)) => return Err(failed(error)),
        };
        let server = server.clone();
        Ok(Session {
            server,
            stop: stop.clone(),
            wire,
            hello,
            host: host.clone(),
            idle: true,
            ahead: Vec::new(),
            owed: 0,
        })
    }

    /// What the URL and the job have every connection begin with.
    pub(crate) fn run_session_statements(&mut self) -> Result<()> {
        let server = self.server.clone();
        if let Some(variables) = &server.variables {
            self.execute("the URL's sessionVariables", &format!("SET SESSION {variables}"))?;
        }
        for statement in &server.statements {
            self.execute(format_args!("the session statement \"{statement}\""), statement)?;
        }
        Ok(())
    }

    pub(crate) fn is_mariadb(&self) -> bool {
        self.hello.is_mariadb
    }

    pub(crate) fn version(&self) -> &str {
        &self.hello.version
    }

    /// Runs a statement whose rows nobody wants.
    pub(crate) fn execute(&mut self, doing: impl Display, sql: &str) -> Result<Done> {
        self.run(sql)?.map_err(|refused| self.server.refused(doing, &refused))
    }

    /// As [`Session::execute`], with the server's own words if it refuses.
    pub(crate) fn run(&mut self, sql: &str) -> Result<Result<Done, Refused>> {
        match self.query(sql)? {
            Ok(Answer::Done(done)) => Ok(Ok(done)),
            Ok(Answer::Rows(columns)) => Ok(self.rows(columns)?.map(|_| Done::default())),
            Ok(Answer::File) => self.send_file(std::iter::empty::<Result<&[u8]>>()),
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// Runs a query, every value as text.
    pub(crate) fn ask(&mut self, doing: impl Display, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let rows = match self.query(sql)? {
            Ok(Answer::Rows(columns)) => self.rows(columns)?,
            Ok(_) => Ok(Vec::new()),
            Err(refused) => Err(refused),
        };
        rows.map_err(|refused| self.server.refused(doing, &refused))
    }

    /// Runs `LOAD DATA LOCAL`, for whose file these bytes are.
    pub(crate) fn load(&mut self, sql: &str, bytes: &[u8]) -> Result<Result<Done, Refused>> {
        match self.query(sql)? {
            Ok(Answer::File) => self.send_file(bytes.chunks(FILE_CHUNK).map(Ok)),
            Ok(_) => Err(Error::internal("the server did not ask for the file to load")),
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// Has the server look at a query without running it.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Result<Prepared, Refused>> {
        self.stop.doing(sql);
        self.send_command(command::PREPARE, sql.as_bytes())?;
        let packet = self.wire.receive()?;
        let malformed = || Error::internal("the server's answer to a query cannot be read");
        match packet {
            [0xff, ..] => {
                let refused = Refused::parse(packet);
                self.idle = true;
                Ok(Err(refused))
            }
            [0, i0, i1, i2, i3, c0, c1, p0, p1, ..] => {
                let id = u32::from_le_bytes([*i0, *i1, *i2, *i3]);
                let columns = u16::from_le_bytes([*c0, *c1]);
                let parameters = u16::from_le_bytes([*p0, *p1]);
                for _ in 0..parameters {
                    self.wire.receive()?;
                }
                let columns = self.columns(columns as usize)?;
                self.idle = true;
                Ok(Ok(Prepared { id, columns }))
            }
            _ => Err(malformed()),
        }
    }

    /// Runs a query that was looked at; its rows come from [`Session::next_row`].
    pub(crate) fn start(&mut self, prepared: &Prepared) -> Result<Result<Vec<Column>, Refused>> {
        let mut rest = prepared.id.to_le_bytes().to_vec();
        // No cursor; one execution.
        rest.extend([0, 1, 0, 0, 0]);
        self.send_command(command::EXECUTE, &rest)?;
        match self.answer()? {
            Ok(Answer::Rows(columns)) => Ok(Ok(self.columns(columns)?)),
            Ok(_) => {
                self.idle = true;
                Ok(Ok(Vec::new()))
            }
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// The next row of a result, in the binary protocol.
    pub(crate) fn next_row(&mut self, time: Duration) -> Result<Next<'_>> {
        let Some(packet) = self.wire.receive_within(time)? else { return Ok(Next::Nothing) };
        match packet {
            [0x00, ..] => Ok(Next::Row(packet)),
            [0xfe, ..] => {
                self.idle = true;
                Ok(Next::End)
            }
            [0xff, ..] => {
                self.idle = true;
                Ok(Next::Refused(Refused::parse(packet)))
            }
            _ => Err(Error::internal("a row of the server cannot be read")),
        }
    }

    /// Lets go of the memory that a huge row needed, once it was looked at.
    pub(crate) fn give_back_room(&mut self) {
        self.wire.give_back_room();
    }

    /// Forgets a query that was looked at.
    pub(crate) fn close(&mut self, prepared: &Prepared) -> Result<()> {
        // There is no answer to this.
        self.send_command(command::CLOSE_STATEMENT, &prepared.id.to_le_bytes())?;
        self.idle = true;
        Ok(())
    }

    /// Runs a statement that always succeeds together with the next one: a way to the server and back less.
    pub(crate) fn run_with_next(&mut self, sql: &'static str) {
        self.ahead.push(sql);
    }

    fn send_command(&mut self, command: u8, rest: &[u8]) -> Result<()> {
        self.begin()?;
        self.wire.send_parts(&[&[command], rest])
    }

    /// Begins a command, behind those that go ahead of it.
    fn begin(&mut self) -> Result<()> {
        self.idle = false;
        for sql in std::mem::take(&mut self.ahead) {
            self.wire.begin();
            self.wire.send_parts(&[&[command::QUERY], sql.as_bytes()])?;
            self.owed += 1;
        }
        self.wire.begin();
        Ok(())
    }

    /// Runs a statement in parts that need not be joined.
    pub(crate) fn run_parts(&mut self, parts: [&[u8]; 3]) -> Result<Result<Done, Refused>> {
        self.begin()?;
        let [first, second, third] = parts;
        // The first has no values in it.
        self.stop.doing(std::str::from_utf8(first).unwrap_or_default());
        self.wire.send_parts(&[&[command::QUERY], first, second, third])?;
        match self.answer()? {
            Ok(Answer::Done(done)) => Ok(Ok(done)),
            Ok(_) => Err(Error::internal("a statement that writes was answered by rows")),
            Err(refused) => Ok(Err(refused)),
        }
    }

    fn query(&mut self, sql: &str) -> Result<Result<Answer, Refused>> {
        self.stop.doing(sql);
        self.send_command(command::QUERY, sql.as_bytes())?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Result<Answer, Refused>> {
        while self.owed > 0 {
            self.owed -= 1;
            if let packet @ [0xff, ..] = self.wire.receive()? {
                return Err(self.server.refused("setting a savepoint", &Refused::parse(packet)));
            }
        }
        let packet = self.wire.receive()?;
        Ok(match packet {
            [0xff, ..] => {
                let refused = Refused::parse(packet);
                self.idle = true;
                Err(refused)
            }
            [0x00, ..] => {
                let done = Done::parse(packet);
                self.idle = true;
                Ok(Answer::Done(done))
            }
            [0xfb, ..] => Ok(Answer::File),
            packet => {
                let columns = column::take_length(&mut &*packet);
                Ok(Answer::Rows(columns.ok_or_else(|| Error::internal("the server's answer cannot be read"))?))
            }
        })
    }

    fn columns(&mut self, count: usize) -> Result<Vec<Column>> {
        let extended = self.hello.extended;
        let columns = (0..count).map(|_| {
            let column = Column::parse(self.wire.receive()?, extended);
            column.ok_or_else(|| Error::internal("the server's description of a column cannot be read"))
        });
        columns.collect()
    }

    /// The rows of a result in the text protocol.
    fn rows(&mut self, columns: usize) -> Result<Result<Vec<Vec<Option<String>>>, Refused>> {
        self.columns(columns)?;
        let mut rows = Vec::new();
        loop {
            let packet = self.wire.receive()?;
            match packet {
                [0xff, ..] => {
                    let refused = Refused::parse(packet);
                    self.idle = true;
                    return Ok(Err(refused));
                }
                [0xfe, ..] if packet.len() < 0xff_ff_ff => {
                    self.idle = true;
                    return Ok(Ok(rows));
                }
                _ => {}
            }
            let mut rest = packet;
            let cells = (0..columns).map(|_| match rest.first() {
                Some(0xfb) => {
                    rest = &rest[1..];
                    Some(None)
                }
                _ => take_text(&mut rest).map(|text| Some(String::from_utf8_lossy(text).into_owned())),
            });
            let cells: Option<Vec<_>> = cells.collect();
            rows.push(cells.ok_or_else(|| Error::internal("a row of the server cannot be read"))?);
        }
    }

    /// Sends what the server asked for, and tells what it made of it.
    fn send_file<'a>(&mut self, chunks: impl Iterator<Item = Result<&'a [u8]>>) -> Result<Result<Done, Refused>> {
        for chunk in chunks {
            self.wire.send(chunk?)?;
        }
        self.wire.send(&[])?;
        match self.answer()? {
            Ok(Answer::Done(done)) => Ok(Ok(done)),
            Ok(_) => Err(Error::internal("the server's answer to a file cannot be read")),
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// Has the server give up what it does for this connection: it would notice a closed socket only when it has something
    /// to say.
    pub(crate) fn kill(&mut self) {
        self.wire.shut_down();
        let quiet = Stop::deaf();
        let killed = Session::open_at(&self.server, &quiet, &self.host, KILL_PATIENCE)
            .and_then(|mut second| second.execute("KILL", &format!("KILL {}", self.hello.thread)));
        if let Err(error) = killed {
            log::debug!("the server may still be working for nobody: {error}");
        }
    }
}

/// The bytes of a file in one packet: fewer than any server takes.
const FILE_CHUNK: usize = 256 << 10;

/// What came of a result.
pub(crate) enum Next<'a> {
    /// A row: a byte of zero, a bitmap, the values.
    Row(&'a [u8]),
    /// Nothing in time.
    Nothing,
    End,
    Refused(Refused),
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.idle {
            self.wire.begin();
            // Whether it hears that or not, it is over.
            let _ = self.wire.send(&[command::QUIT]);
        } else if self.stop.is_stopped() {
            self.kill();
        }
        self.wire.shut_down();
    }
}

impl Done {
    fn parse(packet: &[u8]) -> Done {
        let mut rest = packet.get(1..).unwrap_or_default();
        let affected = column::take_length(&mut rest).unwrap_or(0) as u64;
        column::take_length(&mut rest);
        let warnings = rest.get(2..4).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
        let info = rest.get(4..).unwrap_or_default();
        let text = take_text(&mut &*info).unwrap_or(info);
        Done { affected, warnings, info: String::from_utf8_lossy(text).into_owned() }
    }
}

fn connect(host: &Host, patience: Duration) -> Result<TcpStream> {
    let addresses = (host.name.as_str(), host.port).to_socket_addrs();
    let addresses = addresses.map_err(|error| Error::connect(format!("{} is not known: {error}", host.name)))?;
    let mut last = Error::connect(format!("{} has no address", host.name));
    for address in addresses {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = Error::connect(format!("{address}: {error}; is the server running there?")),
        }
    }
    Err(last)
}
