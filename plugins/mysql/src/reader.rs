//! `mysqlreader`: finds the servers, has them describe what is read, and cuts tables into splits.

mod cells;
mod instants;
mod shape;
mod split;
mod task;

use std::sync::Arc;

use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use transship_plugin_api::{Error, HostRef, Kind, ReadOptions, Reader, ReaderTask, Result, Split, SplitRequest};
use transship_sql::parameters::{Columns, Source, What};
use transship_sql::retry::{Schedule, with_retries};
use transship_sql::select;
use transship_sql::split::{InTurn, Range};
use transship_sql::{Dialect, MySql};

use crate::config::ReaderConfig;
use crate::session::{Clock, Column, Server, Session, Stop};
use crate::table;
use instants::{Instants, is_instant};
use shape::Shape;
use task::{MySqlReaderTask, Reading};

/// Makes a reader from its parameters.
pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
    let config = ReaderConfig::from_json(parameter)?;
    let sources = InTurn::new(config.sources.len());
    let open = config.servers.iter().map(|_| None).collect();
    let stop = Stop::new(host);
    Ok(Box::new(MySqlReader { config, stop, open, state: None, sources }))
}

struct MySqlReader {
    config: ReaderConfig,
    stop: Stop,
    /// One for each connection of the job, opened when it is first needed.
    open: Vec<Option<Open>>,
    state: Option<(State, SchemaRef)>,
    /// The tables and queries of the job, as far as they are split.
    sources: InTurn,
}

/// A connection that questions are asked on.
struct Open {
    session: Session,
    /// Which of the connection's servers it is.
    server: usize,
    clock: Clock,
}

/// What other processes of the run need not find out again.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct State {
    /// For each connection, which of its servers is read, and the clock of its sessions.
    connections: Vec<Place>,
    /// The different descriptions of the sources' columns, the first one's first: of a thousand tables that are alike, one is
    /// enough.
    columns: Vec<Vec<Column>>,
    /// For each source, which of the descriptions is its own.
    described: Vec<usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Place {
    server: usize,
    clock: Clock,
}

/// What a split is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Piece {
    /// The index of its table or query in the job.
    source: usize,
    range: Range,
}

impl Reader for MySqlReader {
    fn prepare(&mut self) -> Result<Value> {
        let mut columns: Vec<Vec<Column>> = Vec::new();
        let mut described = Vec::new();
        let mut shared: Option<Shape> = None;
        for source in self.config.sources.clone() {
            let sql = self.statement(&source, &self.columns_as_named(), None);
            let open = self.open(source.connection)?;
            let found = shape::columns_of(&mut open.session, &source, &sql)?;
            let shape = Shape::new(&found, self.config.booleans);
            match &mut shared {
                None => shared = Some(shape),
                Some(shared) => shared.widen(&shape, &source.name(), &self.config.sources[0].name())?,
            }
            let known = columns.iter().position(|known| *known == found);
            described.push(known.unwrap_or(columns.len()));
            if known.is_none() {
                columns.push(found);
            }
        }
        let connections = self.open.iter().map(|open| {
            let open = open.as_ref().ok_or_else(|| Error::internal("a database of the job was not opened"))?;
            Ok(Place { server: open.server, clock: open.clock })
        });
        let state = State { connections: connections.collect::<Result<_>>()?, columns, described };
        self.take_up(state.clone())?;
        for (index, source) in self.config.sources.iter().enumerate() {
            let (instants, clock) = self.instants(index)?;
            instants.warn(&self.config, source, clock);
        }
        serde_json::to_value(state).map_err(unreadable)
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        self.take_up(State::deserialize(state).map_err(unreadable)?)
    }

    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        Ok(self.state.as_ref().map(|(_, schema)| schema.clone()))
    }

    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        while let Some(source) = self.sources.next_to_split() {
            let splits = self.split(source, request.channels)?;
            self.sources.add(splits);
        }
        if self.sources.is_all_split() {
            // A connection that waits for the end of a long run is only in the way.
            self.open.iter_mut().for_each(|open| *open = None);
        }
        Ok(self.sources.take(request.max))
    }

    fn open(&mut self, split: &Split, options: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        let piece = Piece::deserialize(&split.detail).map_err(unreadable)?;
        let source = self.config.sources.get(piece.source).ok_or_else(|| unreadable("no such source"))?;
        let (instants, clock) = self.instants(piece.source)?;
        let (state, schema) = self.state()?;
        let place = state.connections.get(source.connection).ok_or_else(|| unreadable("no such connection"))?;
        let server = self.config.servers[source.connection].get(place.server);
        let server = server.ok_or_else(|| unreadable("no such server"))?;
        let columns = match instants {
            Instants::Counted => self.columns_as_numbers(state, schema, piece.source),
            Instants::Shown | Instants::Fixed => self.columns_as_named(),
        };
        Ok(Box::new(MySqlReaderTask::new(Reading {
            server: server.clone(),
            stop: Stop::new(host.clone()),
            sql: self.statement(source, &columns, piece.range.condition(&MySql).as_deref()),
            schema: schema.clone(),
            clock,
            instants,
            zero_date: self.config.zero_date,
            label: split.label.clone(),
            options: options.clone(),
            host,
        })))
    }
}

impl MySqlReader {
    fn take_up(&mut self, state: State) -> Result<()> {
        let mut shapes = state.columns.iter().map(|columns| Shape::new(columns, self.config.booleans));
        let mut shared = shapes.next().ok_or_else(|| unreadable("it has no columns"))?;
        for shape in shapes {
            shared.widen(&shape, "a table", "another")?;
        }
        self.state = Some((state, shared.schema()));
        Ok(())
    }

    fn state(&self) -> Result<&(State, SchemaRef)> {
        self.state.as_ref().ok_or_else(|| Error::internal("a reader was used before it was prepared"))
    }

    /// How the instants of a source are read, and the clock of its sessions.
    fn instants(&self, source: usize) -> Result<(Instants, Clock)> {
        let (state, schema) = self.state()?;
        let source = &self.config.sources[source];
        let place = state.connections.get(source.connection).ok_or_else(|| unreadable("no such connection"))?;
        Ok((Instants::of(&self.config, source, schema, place.clock), place.clock))
    }

    /// The query that reads a source, or those of its rows that meet a condition.
    fn statement(&self, source: &Source, columns: &[String], range: Option<&str>) -> String {
        match &source.what {
            What::Query(sql, _) => sql.clone(),
            What::Table(name) => {
                select::from_table(columns, &table::quoted(name), self.config.condition.as_deref(), range)
            }
        }
    }

    /// The columns that the job names, as SQL takes them.
    fn columns_as_named(&self) -> Vec<String> {
        match &self.config.columns {
            Columns::All => vec!["*".to_string()],
            Columns::Named(columns) => columns.iter().map(|entry| table::quoted_column(entry)).collect(),
        }
    }

    /// The same, but instants are numbers.
    fn columns_as_numbers(&self, state: &State, schema: &SchemaRef, source: usize) -> Vec<String> {
        let names = match &self.config.columns {
            Columns::Named(_) => self.columns_as_named(),
            Columns::All => {
                let described = state.described.get(source).and_then(|index| state.columns.get(*index));
                described.into_iter().flatten().map(|column| MySql.quote(&column.name)).collect()
            }
        };
        let columns = names.into_iter().zip(schema.fields()).map(|(name, field)| match is_instant(field.data_type()) {
            true => format!("UNIX_TIMESTAMP({name})"),
            false => name,
        });
        columns.collect()
    }

    /// The session in which questions about a connection are asked.
    fn open(&mut self, connection: usize) -> Result<&mut Open> {
        if self.open[connection].is_none() {
            let place = self.state.as_ref().and_then(|(state, _)| state.connections.get(connection)).cloned();
            let open = match place {
                Some(Place { server, clock }) => {
                    let chosen = self.config.servers[connection].get(server);
                    let chosen = chosen.ok_or_else(|| unreadable("no such server"))?;
                    Open { session: open_session(chosen, &self.stop)?, server, clock }
                }
                None => self.first_that_answers(connection)?,
            };
            self.open[connection] = Some(open);
        }
        self.open[connection].as_mut().ok_or_else(|| Error::internal("a session was opened and is gone"))
    }

    /// Of several servers the first that can be reached and passes the job's probes. Where none does they are all tried again.
    fn first_that_answers(&self, connection: usize) -> Result<Open> {
        let servers = &self.config.servers[connection];
        let doing = format!("connecting to {}", servers[0].place);
        let wait = |pause| self.stop.wait(pause);
        with_retries(Schedule::CONNECT, 0, &doing, wait, |_| self.try_each(servers))
    }

    fn try_each(&self, servers: &[Arc<Server>]) -> Result<Open> {
        let mut problems: Vec<Error> = Vec::new();
        for (index, server) in servers.iter().enumerate() {
            let opened = Session::open_once(server, &self.stop).and_then(set_up).and_then(|mut session| {
                self.probe(&mut session)?;
                let clock = Clock::of(&mut session)?;
                Ok(Open { session, server: index, clock })
            });
            match opened {
                Ok(open) => return Ok(open),
                Err(error) if servers.len() == 1 || error.kind() == Kind::Cancelled => return Err(error),
                Err(error) => problems.push(error),
            }
        }
        let may_pass = problems.iter().any(Error::is_retryable);
        let problems: Vec<_> = problems.iter().map(Error::to_string).collect();
        let all = format!("none of the databases can be read: {}", problems.join("; "));
        Err(Error::connect(all).retryable(may_pass))
    }

    fn probe(&self, session: &mut Session) -> Result<()> {
        for probe in &self.config.probes {
            let rows = session.ask(format_args!("the probe \"{probe}\" of \"preSql\""), probe)?;
            let answer = rows.first().and_then(|row| row.first()).and_then(Option::as_deref);
            let is_zero = rows.len() == 1 && answer.and_then(|text| text.trim().parse::<f64>().ok()) == Some(0.0);
            if !is_zero {
                let problem = format!("{}: the probe \"{probe}\" of \"preSql\" does not yield 0", session.server.place);
                return Err(Error::connect(problem).retryable(false));
            }
        }
        Ok(())
    }

    fn split(&mut self, index: usize, channels: u32) -> Result<Vec<Split>> {
        let source = self.config.sources[index].clone();
        // A plan asks for splits without having prepared anything.
        let sight = if self.state.is_some() { Some(self.instants(index)?) } else { None };
        let tables = self.config.sources.len();
        let wanted = split::Wanted {
            parts: transship_sql::split::parts(channels, tables, self.config.split_factor),
            by: self.config.split_by.clone(),
            condition: self.config.condition.clone(),
            counts_instants: sight.is_some_and(|(instants, _)| instants == Instants::Counted),
        };
        let place = match self.config.servers.len() {
            1 => String::new(),
            _ => format!("{}: ", self.config.servers[source.connection][0].place),
        };
        let ranges = match &source.what {
            What::Query(..) => vec![split::Part::whole()],
            What::Table(name) => {
                let session = &mut self.open(source.connection)?.session;
                // The bounds of a range must mean the same here and where it is read.
                if let Some((Instants::Fixed, clock)) = sight {
                    clock.fix(session)?;
                }
                split::cut(session, name, &wanted)?
            }
        };
        let chosen = self.open[source.connection].as_ref().map(|open| open.server);
        let chosen = chosen.or_else(|| Some(self.state.as_ref()?.0.connections.get(source.connection)?.server));
        let limit = self.config.limits[source.connection].get(chosen.unwrap_or(0)).cloned();
        let called = match &source.what {
            What::Table(name) => name.clone(),
            What::Query(..) => source.name(),
        };
        let splits = ranges.into_iter().enumerate().map(|(number, part)| {
            let label = format!("{place}{called}{}", part.range.label(40));
            let detail = serde_json::to_value(Piece { source: index, range: part.range }).map_err(unreadable)?;
            let mut split = Split::new(format!("{index}.{number}"), label, detail);
            (split.records, split.bytes) = (part.size.records, part.size.bytes);
            split.limit = limit.clone();
            Ok(split)
        });
        splits.collect()
    }
}

/// Opens a session to read on.
fn open_session(server: &Arc<Server>, stop: &Stop) -> Result<Session> {
    set_up(Session::open(server, stop)?)
}

/// Makes a session fit to be read on.
fn set_up(mut session: Session) -> Result<Session> {
    // A writer that is slow must not make the server lose its patience.
    let patience = "SET SESSION net_write_timeout = 31536000, net_read_timeout = 31536000, wait_timeout = 31536000";
    session.execute("setting the connection up", patience)?;
    session.run_session_statements()?;
    Ok(session)
}

fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::internal(format!("a split of the MySQL reader cannot be read: {error}"))
}
