//! `sqlitereader`: opens the databases, finds out the columns, and cuts tables into splits.

mod batch;
pub(crate) mod cells;
pub(crate) mod select;
pub(crate) mod shape;
mod task;

use std::sync::Arc;

use arrow_schema::SchemaRef;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use transship_plugin_api::params::nearest;
use transship_plugin_api::{Error, HostRef, Kind, ReadOptions, Reader, ReaderTask, Result, Split, SplitRequest};
use transship_sql::parameters::{Source, What};
use transship_sql::split::{InTurn, parts};

use crate::config::ReaderConfig;
use crate::connection::{Access, Database, Stop, excerpt};
use crate::split::{self, Part, Range, Spread};
use crate::table::Table;
use select::{Select, Wanted};
use shape::Shape;
use task::{Reading, SqliteReaderTask};

/// A table with more rows than this is split by rowid, if the job names no column to split by.
const ROWS_WORTH_SPLITTING: i64 = 100_000;

/// Makes a reader from its parameters.
pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
    let config = ReaderConfig::from_json(parameter)?;
    let databases = config.connections.iter().map(|_| None).collect();
    let sources = InTurn::new(config.sources.len());
    let stop = Stop::new(host);
    Ok(Box::new(SqliteReader { config, stop, databases, shape: None, sources }))
}

struct SqliteReader {
    config: ReaderConfig,
    stop: Stop,
    /// One for each connection of the job, opened when it is first needed.
    databases: Vec<Option<Open>>,
    shape: Option<Arc<Shape>>,
    /// The tables and queries of the job, as far as they are split.
    sources: InTurn,
}

struct Open {
    database: Database,
    connection: Connection,
}

/// What a split is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Piece {
    /// The index of its table or query in the job.
    source: usize,
    /// Whether rowids can be read as positions.
    rowids: bool,
    range: Range,
    /// Where its rowids lie.
    #[serde(default, skip_serializing_if = "Spread::is_unknown")]
    spread: Spread,
}

/// What other processes of the run need not find out again.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    /// For each connection, which of its URLs is read.
    urls: Vec<usize>,
    shape: Shape,
}

impl Reader for SqliteReader {
    fn prepare(&mut self) -> Result<Value> {
        let mut shared: Option<Shape> = None;
        for source in self.config.sources.clone() {
            let shape = self.shape_of(&source)?;
            match &mut shared {
                None => shared = Some(shape),
                Some(shared) => shared.widen(&shape, &source.name(), &self.config.sources[0].name())?,
            }
        }
        let shape = shared.ok_or_else(|| Error::internal("a job without tables and queries was accepted"))?;
        self.warn_of_unknown_types(&shape);
        self.shape = Some(Arc::new(shape.clone()));
        let urls = (0..self.databases.len()).map(|index| self.chosen_url(index)).collect::<Result<Vec<_>>>()?;
        serde_json::to_value(State { urls, shape }).map_err(unreadable)
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        let state = State::deserialize(state).map_err(unreadable)?;
        for (paths, url) in self.config.connections.iter_mut().zip(state.urls) {
            // Only the one that was chosen then is looked at now.
            *paths = paths.get(url).cloned().into_iter().collect();
        }
        self.shape = Some(Arc::new(state.shape));
        Ok(())
    }

    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        Ok(self.shape.as_ref().map(|shape| shape.schema()))
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
        let source = self.config.sources.get(piece.source).cloned().ok_or_else(|| unreadable("no such source"))?;
        let behind = options.position.as_ref().map(|position| position["rowid"].as_i64());
        let behind = behind.map(|rowid| rowid.ok_or_else(|| unreadable("a position without a rowid"))).transpose()?;
        let shape =
            self.shape.clone().ok_or_else(|| Error::internal("a split was opened before the reader was prepared"))?;
        let Open { database, connection } = open(&self.config, &mut self.databases, source.connection, &self.stop)?;
        let select = match &source.what {
            What::Query(sql, _) => Select::query(sql),
            What::Table(name) => {
                let table = Table::get(database, connection, name)?;
                let condition = self.config.condition.as_deref();
                let wanted = Wanted { columns: &self.config.columns, condition, rowids: piece.rowids, behind };
                Select::table(&table, &piece.range, wanted)
            }
        };
        Ok(Box::new(SqliteReaderTask::new(Reading {
            database: database.until(Stop::new(host.clone())),
            select,
            schema: shape.schema(),
            shape,
            spread: piece.spread,
            label: split.label.clone(),
            options: options.clone(),
            host,
        })))
    }
}

impl SqliteReader {
    fn shape_of(&mut self, source: &Source) -> Result<Shape> {
        let Open { database, connection } = open(&self.config, &mut self.databases, source.connection, &self.stop)?;
        let types = &self.config.types;
        match &source.what {
            What::Query(sql, _) => Shape::of(database, connection, &Select::query(sql), None, types),
            What::Table(name) => {
                let table = Table::get(database, connection, name)?;
                let condition = self.config.condition.as_deref();
                let wanted = Wanted { columns: &self.config.columns, condition, rowids: false, behind: None };
                let select = Select::table(&table, &Range::Whole, wanted);
                Shape::of(database, connection, &select, Some(&table), types)
            }
        }
    }

    fn warn_of_unknown_types(&self, shape: &Shape) {
        let names = || shape.columns.iter().map(|column| column.name.as_str());
        for name in self.config.types.names().filter(|name| !names().any(|column| column.eq_ignore_ascii_case(name))) {
            let hint = nearest(name, names()).map(|name| format!(": did you mean \"{name}\"?")).unwrap_or_default();
            log::warn!("\"types\" names \"{name}\", which is no column{hint}");
        }
    }

    fn chosen_url(&self, index: usize) -> Result<usize> {
        let open = self.databases[index].as_ref();
        let path = open.map(|open| &open.database.path);
        let url = self.config.connections[index].iter().position(|candidate| Some(candidate) == path);
        url.ok_or_else(|| Error::internal("a database of the job was not opened"))
    }

    fn split(&mut self, index: usize, channels: u32) -> Result<Vec<Split>> {
        let connection = self.config.sources[index].connection;
        let mut splits = self.ranges(index, channels)?;
        let limit = self.config.limits[connection].get(self.chosen_url(connection)?);
        splits.iter_mut().for_each(|split| split.limit = limit.cloned());
        Ok(splits)
    }

    fn ranges(&mut self, index: usize, channels: u32) -> Result<Vec<Split>> {
        let source = self.config.sources[index].clone();
        let Open { database, connection } = open(&self.config, &mut self.databases, source.connection, &self.stop)?;
        let place = match self.config.connections.len() {
            1 => String::new(),
            _ => format!("{}: ", database.path.display()),
        };
        let name = match &source.what {
            What::Query(_, number) => {
                let piece = Piece { source: index, rowids: false, range: Range::Whole, spread: Spread::default() };
                return Ok(vec![piece.split(&format!("{place}query {number}"))?]);
            }
            What::Table(name) => name,
        };
        let table = Table::get(database, connection, name)?;
        let ranges = parts(channels, self.config.sources.len(), self.config.split_factor);
        let cut = Cut { config: &self.config, table: &table, connection };
        let failed = |error| database.failed(format_args!("splitting {name}"), error);
        let rowids = cut.rowids_are_positions().map_err(failed)?;
        let pieces = cut.parts(database, ranges)?.into_iter().map(|Part { range, spread, records }| {
            let piece = Piece { source: index, rowids, range, spread };
            let split = piece.split(&format!("{place}{}", table.name()))?;
            Ok(Split { records, ..split })
        });
        pieces.collect()
    }
}

/// A table that is about to be cut.
struct Cut<'a> {
    config: &'a ReaderConfig,
    table: &'a Table,
    connection: &'a Connection,
}

impl Cut<'_> {
    /// Whether rows are told apart by their rowids: positions cannot be negative, and not every statement can yield rowids.
    fn rowids_are_positions(&self) -> rusqlite::Result<bool> {
        match self.table.rowid {
            Some(rowid) if select::are_plain(self.table, &self.config.columns) => {
                split::has_negative_rowids(self.connection, self.table, rowid).map(|negative| !negative)
            }
            _ => Ok(false),
        }
    }

    fn parts(&self, database: &Database, ranges: usize) -> Result<Vec<Part>> {
        let Cut { config, table, connection } = self;
        let failed = |error| database.failed(format_args!("splitting {}", table.name()), error);
        let column = match config.split_by.as_deref() {
            Some(name) if !table.is_rowid(name) => {
                Some(table.column(name).ok_or_else(|| table.no_column(database, name))?)
            }
            _ => None,
        };
        let whole = || self.whole().map(|part| vec![part]).map_err(failed);
        if ranges < 2 {
            return whole();
        }
        if let Some(column) = column {
            let condition = config.condition.as_deref();
            return split::by_key(connection, table, &column.name, condition, ranges).map_err(failed);
        }
        let Some(rowid) = table.rowid else { return whole() };
        let asked = config.split_by.is_some();
        let worth_it = || split::has_more_rows_than(connection, table, ROWS_WORTH_SPLITTING);
        // Ranges of an expression that might be an aggregate would each yield a result of their own.
        if asked || select::are_plain(table, &config.columns) && worth_it().map_err(failed)? {
            let parts = split::by_rowid(connection, table, rowid, ranges).map_err(failed)?;
            return Ok(parts.into_iter().map(|part| self.as_far_as_known(part)).collect());
        }
        whole()
    }

    /// All of the table. With a condition its rows are not looked for: they say nothing of those that are read.
    fn whole(&self) -> rusqlite::Result<Part> {
        match self.config.condition {
            None => split::whole(self.connection, self.table),
            Some(_) => Ok(Part::new(Range::Whole)),
        }
    }

    fn as_far_as_known(&self, part: Part) -> Part {
        match self.config.condition {
            None => part,
            Some(_) => Part::new(part.range),
        }
    }
}

impl Piece {
    fn split(self, name: &str) -> Result<Split> {
        /// Characters of a key that are enough to tell a person where a split begins.
        const LONGEST_KEY: usize = 40;
        let id = format!("{} {name}{}", self.source, self.range.label(usize::MAX));
        let label = format!("{name}{}", self.range.label(LONGEST_KEY));
        let mut split = Split::new(id, label, serde_json::to_value(&self).map_err(unreadable)?);
        if self.rowids {
            split.unit = "rowid".into();
        }
        Ok(split)
    }
}

/// The connection to a database, opened if this is the first use of it. Of several URLs the first counts that can be opened
/// and whose probes all yield 0.
fn open<'a>(config: &ReaderConfig, databases: &'a mut [Option<Open>], index: usize, stop: &Stop) -> Result<&'a Open> {
    let slot = &mut databases[index];
    if slot.is_none() {
        let mut problem = None;
        for path in &config.connections[index] {
            let database = Database { path: path.clone(), manners: config.manners.clone(), stop: stop.clone() };
            let opened = database.open(Access::Read);
            match opened.and_then(|connection| probe(&database, &connection, &config.probes).map(|()| connection)) {
                Ok(connection) => {
                    *slot = Some(Open { database, connection });
                    break;
                }
                Err(error) if error.kind() == Kind::Cancelled => return Err(error),
                Err(error) => {
                    problem.get_or_insert(error);
                }
            }
        }
        if let Some(problem) = problem.filter(|_| slot.is_none()) {
            return Err(problem);
        }
    }
    slot.as_ref().ok_or_else(|| Error::internal("a connection without a database was accepted"))
}

fn probe(database: &Database, connection: &Connection, probes: &[String]) -> Result<()> {
    for probe in probes {
        let answer = connection.query_row(probe, [], |row| row.get::<_, i64>(0));
        match answer.map_err(|error| database.refused(probe, Some("preSql"), error))? {
            0 => {}
            other => {
                let (place, probe) = (database.path.display(), excerpt(probe, 0));
                return Err(Error::connect(format!(
                    "{place}: the probe \"{probe}\" of \"preSql\" yields {other}, not 0"
                )));
            }
        }
    }
    Ok(())
}

fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::internal(format!("a split or state of the SQLite reader cannot be read: {error}"))
}
