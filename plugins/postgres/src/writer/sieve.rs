//! Has the server leave out records that break a check, and tell which, instead of refusing the COPY that they are in.
//!
//! A check that has once been broken becomes a condition of all further COPYs (`COPY … WHERE`). For a record that does not meet
//! it a function of ours raises a notice, and with that, as with all it has to say of a COPY, the server tells the record's
//! number. So a bad record costs little more than a good one. Not here: constraints that are about other rows, which no
//! condition of COPY can look at.

use std::collections::HashSet;

use transship_plugin_api::Result;
use transship_sql::write::BadRow;
use transship_sql::{Dialect, Postgres};

use super::load::Loading;
use crate::session::{Constraint, Refused, Told};

/// The function, which each connection has for itself.
const FUNCTION: &str = "pg_temp.transship_leave_out";

/// The checks that records have broken.
#[derive(Default)]
pub(super) struct Sieve {
    checks: Vec<Check>,
    /// The names of all that have been looked at, also where they cannot be a condition.
    known: HashSet<String>,
}

struct Check {
    expression: String,
    /// The column that it is about, if it is one.
    column: Option<usize>,
    /// What the server says when it is broken.
    cause: String,
}

impl Sieve {
    /// Makes a condition of the check that was broken, if it is one; `true` if that is new. What goes wrong here has to be undone
    /// to a savepoint; what has been made has to be made safe by one.
    pub(super) fn learn(&mut self, loading: &Loading<'_>, refused: &Refused) -> Result<Learnt> {
        let Loading { session, plan, .. } = loading;
        let Some(broken) = refused.constraint.as_ref().filter(|_| plan.keeps_rows) else { return Ok(Learnt::Nothing) };
        if !self.known.insert(broken.name.clone()) {
            return Ok(Learnt::Nothing);
        }
        let Some((expression, columns)) = find(loading, broken)? else { return Ok(Learnt::Nothing) };
        let column = if let [column] = columns[..] { Some(column) } else { None };
        self.checks.push(Check { expression, column, cause: refused.message.clone() });
        let condition = self.condition().unwrap_or_default();
        let function = format!(
            "CREATE OR REPLACE FUNCTION {FUNCTION}(reason integer) RETURNS boolean LANGUAGE plpgsql STABLE \
             SET client_min_messages = notice \
             AS $$ BEGIN RAISE NOTICE USING ERRCODE = '{}', MESSAGE = reason; RETURN false; END $$",
            Told::CODE
        );
        // A COPY that is refused before it begins would be the end of the connection: this is refused for the same reasons.
        let trial = format!("SELECT FROM {} WHERE {condition} LIMIT 0", plan.filled);
        let made = match session.try_execute(&format!("{function}; {trial}"))? {
            // Before version 12, COPY has no condition.
            Ok(()) => session.describe(&plan.copy("binary", Some(&condition)))?.map(drop),
            Err(error) => Err(error),
        };
        let Err(error) = made else { return Ok(Learnt::Condition) };
        log::debug!("records that break {} are found by sending them: {error}", broken.name);
        self.checks.pop();
        Ok(Learnt::Failed)
    }

    /// What has to be true of a record so that the server takes it.
    pub(super) fn condition(&self) -> Option<String> {
        let cases = self.checks.iter().enumerate();
        let cases = cases
            .map(|(index, Check { expression, .. })| format!("WHEN ({expression}) IS FALSE THEN {FUNCTION}({index})"));
        let cases = cases.collect::<Vec<_>>().join(" ");
        (!cases.is_empty()).then(|| format!("CASE {cases} ELSE true END"))
    }

    /// The records, counted from 0, that were left out of a COPY of so many, of which the server has taken so many. If that does not
    /// add up, what is wrong.
    pub(super) fn left_out(&mut self, loading: &Loading<'_>, sent: usize, taken: u64) -> Result<Vec<BadRow>, String> {
        if self.checks.is_empty() {
            return Ok(Vec::new());
        }
        let found = loading.session.told().into_iter().filter_map(|told| {
            let row = told.row(&loading.plan.copied_table).filter(|row| (1..=sent).contains(row))? - 1;
            let Check { column, cause, .. } = self.checks.get(told.text.parse::<usize>().ok()?)?;
            Some(BadRow { row, column: *column, cause: cause.clone() })
        });
        let found: Vec<_> = found.collect();
        if found.len() as u64 + taken == sent as u64 {
            return Ok(found);
        }
        let cause = format!("of {sent} records the server took {taken}, and told of {} that it left out", found.len());
        log::debug!("{cause}: bad records are found by sending them");
        self.checks.clear();
        Err(cause)
    }
}

/// What became of a constraint that was broken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Learnt {
    Nothing,
    Condition,
    /// The server refused it.
    Failed,
}

/// The expression of a check, and the indices of the columns that it is about. `None` if the constraint is of another kind, or about
/// values that the records do not have.
fn find(loading: &Loading<'_>, broken: &Constraint) -> Result<Option<(String, Vec<usize>)>> {
    let table = format!("{}.{}", Postgres.quote(&broken.schema), Postgres.quote(&broken.table));
    let sql = format!(
        "SELECT pg_get_expr(conbin, conrelid), (SELECT json_agg(attname ORDER BY place) \
           FROM unnest(conkey) WITH ORDINALITY AS k (number, place) LEFT JOIN pg_attribute ON attrelid = conrelid AND attnum = number) \
         FROM pg_constraint WHERE conrelid = to_regclass({}) AND conname = {} AND contype = 'c'",
        Postgres.text(&table),
        Postgres.text(&broken.name),
    );
    let rows = loading.session.ask(format_args!("looking for the constraint {}", broken.name), &sql)?;
    let Some([Some(expression), Some(names)]) = rows.first().map(Vec::as_slice) else { return Ok(None) };
    // A check of whole rows has a column without a name: then this is no list of texts.
    let Ok(names) = serde_json::from_str::<Vec<String>>(names) else { return Ok(None) };
    let place = |name: &String| loading.plan.columns.iter().position(|column| column.name == *name);
    let columns = names.iter().map(place).collect::<Option<Vec<_>>>();
    Ok(columns.map(|columns| (expression.clone(), columns)))
}
