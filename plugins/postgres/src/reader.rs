//! `postgresqlreader`: finds the servers, tables and columns, fixes the moment that is read, and cuts tables into splits.

mod batch;
mod idle;
mod select;
mod shape;
mod snapshot;
mod split;
mod task;

use std::sync::Arc;

use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use transship_plugin_api::{Error, HostRef, Kind, ReadOptions, Reader, ReaderTask, Result, Split, SplitRequest};
use transship_sql::parameters::{Source, What};
use transship_sql::split::InTurn;

use crate::config::ReaderConfig;
use crate::session::{Server, Session, Stop};
use crate::table::{self, Table};
use idle::Idle;
use select::Select;
use shape::Shape;
use snapshot::Snapshot;
use split::Piece;
use task::PostgresReaderTask;

/// Makes a reader from its parameters.
pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
    let config = ReaderConfig::from_json(parameter)?;
    let connections = config.connections.iter().map(|_| None).collect();
    let idle = config.connections.iter().map(|_| Arc::default()).collect();
    let sources = InTurn::new(config.sources.len());
    let stop = Stop::new(host);
    Ok(Box::new(PostgresReader { config, stop, connections, idle, state: None, sources, tables: Vec::new() }))
}

struct PostgresReader {
    config: ReaderConfig,
    stop: Stop,
    /// One for each connection of the job, opened when it is first needed; it keeps the snapshot.
    connections: Vec<Option<Session>>,
    /// For each connection of the job, those that tasks have used.
    idle: Vec<Arc<Idle>>,
    state: Option<Arc<State>>,
    /// The tables and queries of the job, as far as they are split.
    sources: InTurn,
    /// For each source, its table, where it has been looked up.
    tables: Vec<Option<Table>>,
}

/// What other processes of the run need not find out again.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    /// For each connection, which of its servers is read.
    servers: Vec<usize>,
    /// For each connection, the moment that is read.
    snapshots: Vec<Snapshot>,
    shape: Shape,
    /// For each source, the query that reads all of it.
    selects: Vec<Select>,
}

impl Reader for PostgresReader {
    fn prepare(&mut self) -> Result<Value> {
        let sources = self.config.sources.clone();
        let mut shared: Option<Shape> = None;
        let mut selects = Vec::new();
        for source in &sources {
            let (select, table) = self.select(source)?;
            let shape = Shape::of(self.session(source.connection)?, &select, table.as_ref())?;
            match &mut shared {
                None => shared = Some(shape),
                Some(shared) => shared.widen(&shape, &source.name(), &sources[0].name())?,
            }
            selects.push(select);
            self.tables.push(table);
        }
        let shape = shared.ok_or_else(|| Error::internal("a job without tables and queries was accepted"))?;
        let connections = 0..self.connections.len();
        let snapshots = connections.clone().map(|index| {
            let wanted = self.config.snapshot;
            Snapshot::take(self.session(index)?, wanted)
        });
        let snapshots = snapshots.collect::<Result<_>>()?;
        let servers = connections.map(|index| self.chosen_server(index)).collect::<Result<_>>()?;
        let state = State { servers, snapshots, shape, selects };
        let told = serde_json::to_value(&state).map_err(unreadable)?;
        self.state = Some(Arc::new(state));
        Ok(told)
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        let state = State::deserialize(state).map_err(unreadable)?;
        for (servers, chosen) in self.config.connections.iter_mut().zip(&state.servers) {
            // Only the one that was chosen then is looked at now.
            *servers = servers.get(*chosen).cloned().into_iter().collect();
        }
        self.state = Some(Arc::new(state));
        Ok(())
    }

    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        Ok(self.state.as_ref().map(|state| state.shape.schema()))
    }

    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        while let Some(source) = self.sources.next_to_split() {
            let splits = self.split(source, request.channels)?;
            self.sources.add(splits);
        }
        Ok(self.sources.take(request.max))
    }

    fn open(&mut self, split: &Split, options: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        let piece = Piece::deserialize(&split.detail).map_err(unreadable)?;
        let state = self.state()?;
        let source = self.config.sources.get(piece.source).ok_or_else(|| unreadable("no such source"))?;
        let select = state.selects.get(piece.source).ok_or_else(|| unreadable("no such query"))?;
        let server = match &self.connections[source.connection] {
            Some(session) => session.server.clone(),
            // Of the process that was told by another, the first is the one that was chosen.
            None => self.config.connections[source.connection][0].clone(),
        };
        Ok(Box::new(PostgresReaderTask::new(task::Reading {
            server,
            stop: Stop::new(host.clone()),
            idle: self.idle[source.connection].clone(),
            snapshot: state.snapshots[source.connection].clone(),
            select: select.within(piece.range.condition().as_deref()),
            state,
            label: split.label.clone(),
            options: options.clone(),
            host,
        })))
    }

    fn post(&mut self) -> Result<()> {
        // The snapshot is no longer needed.
        self.connections.iter_mut().for_each(|connection| *connection = None);
        Ok(())
    }
}

impl PostgresReader {
    fn state(&self) -> Result<Arc<State>> {
        self.state.clone().ok_or_else(|| Error::internal("a reader was used before it was prepared"))
    }

    fn select(&mut self, source: &Source) -> Result<(Select, Option<Table>)> {
        let session = open(&self.config, &mut self.connections, source.connection, &self.stop)?;
        match &source.what {
            What::Query(sql, _) => Ok((Select::query(sql), None)),
            What::Table(name) => match Table::find(session, name)? {
                Some(table) => {
                    Ok((Select::table(&self.config.columns, self.config.condition.as_deref(), &table), Some(table)))
                }
                // DataX puts the text behind FROM as it is, so it may be a join, or a function.
                None if transship_sql::names::qualified(name, &transship_sql::Postgres).is_none() => {
                    Ok((Select::from(&self.config.columns, self.config.condition.as_deref(), name), None))
                }
                None => Err(table::missing(session, name, None)),
            },
        }
    }

    fn session(&mut self, connection: usize) -> Result<&Session> {
        open(&self.config, &mut self.connections, connection, &self.stop)
    }

    fn chosen_server(&self, connection: usize) -> Result<usize> {
        let session = self.connections[connection].as_ref();
        let servers = &self.config.connections[connection];
        let chosen = session.and_then(|session| servers.iter().position(|server| Arc::ptr_eq(server, &session.server)));
        chosen.ok_or_else(|| Error::internal("a database of the job was not opened"))
    }

    fn split(&mut self, index: usize, channels: u32) -> Result<Vec<Split>> {
        let source = self.config.sources[index].clone();
        // A plan asks for splits without having prepared anything.
        let table = match self.tables.get(index) {
            Some(table) => table.clone(),
            None => self.select(&source)?.1,
        };
        let snapshot = self.state.as_ref().map(|state| state.snapshots[source.connection].clone()).unwrap_or_default();
        let several = self.config.connections.len() > 1;
        let (sources, split_by) = (self.config.sources.len(), self.config.split_by.clone());
        let condition = self.config.condition.clone();
        let parts = transship_sql::split::parts(channels, sources, self.config.split_factor);
        let columns = self.config.columns.clone();
        let session = self.session(source.connection)?;
        let place = if several { format!("{}: ", session.server.place) } else { String::new() };
        let cut = split::Cut {
            session,
            snapshot: &snapshot,
            parts,
            split_by: split_by.as_deref(),
            condition: condition.as_deref(),
            columns: &columns,
        };
        let (name, parts) = match (&source.what, &table) {
            (What::Query(_, number), _) => (format!("query {number}"), vec![split::Part::whole()]),
            (What::Table(_), Some(table)) => (table.name.clone(), cut.parts(table)?),
            (What::Table(text), None) => (text.clone(), vec![split::Part::whole()]),
        };
        let limit = self.config.limits[source.connection].get(self.chosen_server(source.connection)?);
        let splits = parts.into_iter().map(|split::Part { range, size }| {
            let split = Piece { source: index, range }.split(&format!("{place}{name}"), size)?;
            Ok(Split { limit: limit.cloned(), ..split })
        });
        splits.collect()
    }
}

/// The connection to a database, opened if this is the first use of it. Of several servers the first counts that lets the
/// user in and whose probes all yield 0.
fn open<'a>(
    config: &ReaderConfig,
    connections: &'a mut [Option<Session>],
    index: usize,
    stop: &Stop,
) -> Result<&'a Session> {
    let slot = &mut connections[index];
    if slot.is_none() {
        let mut problem = None;
        for server in &config.connections[index] {
            let opened = Session::open(server, stop);
            match opened.and_then(|session| probe(&session, &config.probes).map(|()| session)) {
                Ok(session) => {
                    *slot = Some(session);
                    break;
                }
                Err(error) if error.kind() == Kind::Cancelled => return Err(error),
                Err(error) => {
                    if config.connections[index].len() > 1 {
                        log::warn!("{error}");
                    }
                    problem.get_or_insert(error);
                }
            }
        }
        if let Some(problem) = problem.filter(|_| slot.is_none()) {
            return Err(problem);
        }
    }
    slot.as_ref().ok_or_else(|| Error::internal("a connection without a server was accepted"))
}

/// Asks the questions of `preSql`, which in a reader change nothing: each has to yield 0.
fn probe(session: &Session, probes: &[String]) -> Result<()> {
    for probe in probes {
        let rows = session.ask(format_args!("the probe \"{probe}\" of \"preSql\""), probe)?;
        let answer = rows.first().and_then(|row| row.first()).cloned().flatten();
        if answer.as_deref() != Some("0") {
            let (place, answer) = (&session.server.place, answer.unwrap_or("nothing".into()));
            return Err(Error::connect(format!("{place}: the probe \"{probe}\" of \"preSql\" yields {answer}, not 0"))
                .retryable(false));
        }
    }
    Ok(())
}

fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::internal(format!("a split or state of the PostgreSQL reader cannot be read: {error}"))
}

/// Used by the parts of the reader to name a server in messages.
fn place(server: &Server) -> &str {
    &server.place
}
