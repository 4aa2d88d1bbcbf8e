//! What every relational reader takes.

use transship_plugin_api::{Limit, Params, Result};

use super::{
    Columns, Location, Login, ReadLocation, Rules, connections, limits, locations, statements, tables, warn_of_ignored,
};

/// What to read, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader<L> {
    /// Who reads.
    pub login: Login,
    /// For each connection, the places where its database may be: the first that answers is read.
    pub connections: Vec<Vec<L>>,
    /// For each connection, if the job limits what is open at once, the limit of each of its places.
    pub limits: Vec<Vec<Limit>>,
    /// The tables or queries, in the order of the job.
    pub sources: Vec<Source>,
    /// The columns; all, where queries are read.
    pub columns: Columns,
    /// The condition that rows of the tables must meet.
    pub condition: Option<String>,
    /// The column by whose ranges a table is split.
    pub split_by: Option<String>,
    /// Splits per channel, where there is one table.
    pub split_factor: u32,
    /// Rows to fetch at once, unchecked: what it means, and whether it may be below 1, is the plugin's business.
    pub fetch_size: Option<i64>,
    /// Statements to run first on each connection that reads.
    pub session: Vec<String>,
    /// Questions of `preSql`: a place where one does not yield 0 is passed over.
    pub probes: Vec<String>,
}

/// A table or a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The index of its connection.
    pub connection: usize,
    /// What is read.
    pub what: What,
}

/// What is read of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A table or view, as the job writes it.
    Table(String),
    /// A query, and which of the job's it is, from 1.
    Query(String, usize),
}

impl Source {
    /// What a person calls it.
    pub fn name(&self) -> String {
        match &self.what {
            What::Table(name) => format!("table {name}"),
            What::Query(_, number) => format!("query {number}"),
        }
    }
}

impl<L: Location> Reader<L> {
    /// Reads them.
    ///
    /// # Errors
    /// Of kind `Config`, with the path of the parameter at fault and what to try.
    pub fn read(params: &Params<'_>, rules: &Rules, location: ReadLocation<'_, L>) -> Result<Reader<L>> {
        let mut reader = Reader {
            login: Login::read(params, rules, location)?,
            connections: Vec::new(),
            limits: Vec::new(),
            sources: Vec::new(),
            columns: Columns::All,
            condition: condition(params)?,
            split_by: params.text("splitPk")?.map(|name| name.trim().to_string()).filter(|name| !name.is_empty()),
            split_factor: split_factor(params)?,
            fetch_size: params.integer("fetchSize")?,
            session: statements(params, "session")?,
            probes: statements(params, "preSql")?,
        };
        warn_of_ignored(params, rules);
        for (connection, key) in connections(params, rules)? {
            reader.add_connection(&connection, key, rules, location)?;
        }
        reader.read_columns(params, rules)?;
        Ok(reader)
    }

    /// Whether tables are read, not queries.
    fn reads_tables(&self) -> bool {
        self.sources.iter().any(|source| matches!(source.what, What::Table(_)))
    }

    fn add_connection(
        &mut self,
        params: &Params<'_>,
        key: &str,
        rules: &Rules,
        location: ReadLocation<'_, L>,
    ) -> Result<()> {
        let connection = self.connections.len();
        let places = locations(params, key, rules, location)?;
        self.limits.push(limits(params, &places)?);
        self.connections.push(places);
        let tables = tables(params)?;
        let queries = statements(params, "querySql")?;
        if !tables.is_empty() && !queries.is_empty() {
            return Err(params.error("querySql", "stands beside \"table\": give one of the two"));
        }
        if tables.is_empty() && queries.is_empty() {
            return Err(params.error("table", "is required (or \"querySql\")"));
        }
        if self.sources.first().is_some_and(|first| matches!(first.what, What::Table(_)) == tables.is_empty()) {
            return Err(
                params.error("table", "and \"querySql\" are mixed: all connections must have the same of the two")
            );
        }
        let before = self.sources.len();
        self.sources.extend(tables.into_iter().map(|name| Source { connection, what: What::Table(name) }));
        let queries = queries.iter().map(|query| without_final_semicolons(query));
        let queries = queries.enumerate().map(|(index, query)| What::Query(query.into(), before + index + 1));
        self.sources.extend(queries.map(|what| Source { connection, what }));
        Ok(())
    }

    /// The columns of tables. A query says itself what it reads, which rows, and has nothing to split by.
    fn read_columns(&mut self, params: &Params<'_>, rules: &Rules) -> Result<()> {
        if !self.reads_tables() {
            let has_columns = !params.texts("column")?.is_empty();
            let ignored = [
                ("column", has_columns && !matches!(Columns::read(params), Ok(Some(Columns::All)))),
                ("where", self.condition.take().is_some()),
                ("splitPk", self.split_by.take().is_some()),
            ];
            for (key, _) in ignored.iter().filter(|(_, given)| *given) {
                log::warn!("\"{key}\" is ignored beside \"querySql\": say it in the query");
            }
            return Ok(());
        }
        self.columns = match Columns::read(params)? {
            Some(columns) => columns,
            None if rules.reader_names_columns => {
                return Err(params.error("column", "is required: name the columns, or give [\"*\"] for all of them"));
            }
            None => Columns::All,
        };
        Ok(())
    }
}

/// The condition without the final semicolon that some write, ASCII or full-width.
fn condition(params: &Params<'_>) -> Result<Option<String>> {
    let text = params.text("where")?.unwrap_or_default();
    let text = text.trim();
    let text = text.strip_suffix([';', '；']).unwrap_or(text).trim_end();
    Ok((!text.is_empty()).then(|| text.into()))
}

fn without_final_semicolons(query: &str) -> &str {
    query.trim().trim_end_matches(|letter: char| letter == ';' || letter.is_whitespace())
}

fn split_factor(params: &Params<'_>) -> Result<u32> {
    match params.integer("splitFactor")?.unwrap_or(5) {
        factor @ 1..=1_000 => Ok(factor as u32),
        factor => Err(params.error("splitFactor", format_args!("is {factor}, but must be from 1 to 1000"))),
    }
}
