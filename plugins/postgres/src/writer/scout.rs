//! Looks for records that will break a constraint, before they are sent.
//!
//! A record that the server refuses costs the whole COPY that it is in, and small COPYs are dear. So a constraint that has once
//! been broken is looked at by a query, to which only the columns go that it is about. What it finds are suspects: each of them
//! is sent by itself, and it is for the server to say whether it is bad. What it overlooks costs a COPY, as before.

use std::collections::HashSet;

use arrow_array::RecordBatch;
use bytes::{BufMut, BytesMut};
use tokio_postgres::Statement;
use tokio_postgres::types::{IsNull, Kind, ToSql, Type, to_sql_checked};
use transship_plugin_api::Result;
use transship_sql::{Dialect, Postgres};

use super::lane::Lane;
use super::plan::Plan;
use crate::binary::cells;
use crate::place::{Place, Target};
use crate::session::{Constraint, Session};

/// If more records than one of so many are suspects, the query is no help: either most are bad, or it is wrong.
const SUSPECTS_AT_MOST: usize = 16;
/// The name that the queries have for the number of a row, which no column should have.
const NUMBER: &str = "\"transship row\"";

/// All constraints that have been broken, and how to look at them.
#[derive(Default)]
pub(super) struct Scouts {
    scouts: Vec<Scout>,
    /// Those that have been asked about, also where there is no way to look at them.
    known: HashSet<String>,
}

struct Scout {
    constraint: String,
    /// Indices of the columns that it is about.
    columns: Vec<usize>,
    /// Takes an array for each of them, and yields the numbers of suspects, from 1.
    query: Statement,
}

impl Scouts {
    pub(super) fn is_empty(&self) -> bool {
        self.scouts.is_empty()
    }

    /// Gets to know a constraint; `true` if it is looked at from now on.
    pub(super) fn learn(
        &mut self,
        session: &Session,
        plan: &Plan,
        places: &[Place],
        broken: &Constraint,
    ) -> Result<bool> {
        if !self.known.insert(broken.name.clone()) {
            return Ok(false);
        }
        let Some((columns, sql)) = query(session, plan, places, broken)? else { return Ok(false) };
        let query = match session.describe(&sql)? {
            Ok(query) => query,
            Err(error) => {
                // A right to read may be missing.
                log::debug!("records are not checked against {} before they are sent: {error}", broken.name);
                return Ok(false);
            }
        };
        self.scouts.push(Scout { constraint: broken.name.clone(), columns, query });
        Ok(true)
    }

    /// The numbers of suspects among records of these batches, counted through, in order. What goes wrong here has to be undone to
    /// a savepoint, but it does not matter otherwise; the number of scouts is smaller then.
    pub(super) fn suspects(
        &mut self,
        session: &Session,
        places: &[Place],
        records: &[(RecordBatch, Vec<usize>)],
    ) -> Result<Result<Vec<usize>, tokio_postgres::Error>> {
        let count: usize = records.iter().map(|(_, rows)| rows.len()).sum();
        let mut found = Vec::new();
        let mut index = 0;
        while let Some(scout) = self.scouts.get(index) {
            let arrays: Vec<_> = scout.columns.iter().map(|column| Cells::of(records, *column, places)).collect();
            let arrays: Vec<_> = arrays.iter().map(|array| array as &(dyn ToSql + Sync)).collect();
            match session.numbers(&scout.query, &arrays)? {
                Ok(numbers) if numbers.len() > 1 && numbers.len() > count / SUSPECTS_AT_MOST => {
                    log::debug!("{} of {count} records are suspected to break {}", numbers.len(), scout.constraint);
                    self.scouts.remove(index);
                }
                Ok(numbers) => {
                    let numbers = numbers.into_iter().filter_map(|number| usize::try_from(number - 1).ok());
                    found.extend(numbers.filter(|number| *number < count));
                    index += 1;
                }
                Err(error) => {
                    self.scouts.remove(index);
                    return Ok(Err(error));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(Ok(found))
    }
}

/// The columns that a constraint is about, and the query for records that break it. `None` if there is no such query: the
/// constraint is of another kind, or is about values that the records do not have.
fn query(
    session: &Session,
    plan: &Plan,
    places: &[Place],
    broken: &Constraint,
) -> Result<Option<(Vec<usize>, String)>> {
    let table = format!("{}.{}", Postgres.quote(&broken.schema), Postgres.quote(&broken.table));
    let names = |columns: &str, table: &str| {
        format!(
            "(SELECT json_agg(attname ORDER BY place) FROM unnest({columns}) WITH ORDINALITY AS k (number, place) \
             JOIN pg_attribute ON attrelid = {table} AND attnum = number)"
        )
    };
    let sql = format!(
        "SELECT contype, pg_get_expr(conbin, conrelid), confrelid::regclass, {}, {} FROM pg_constraint \
         WHERE conrelid = to_regclass({}) AND conname = {} AND contype IN ('c', 'f') AND confrelid <> conrelid",
        names("conkey", "conrelid"),
        names("confkey", "confrelid"),
        Postgres.text(&table),
        Postgres.text(&broken.name),
    );
    let rows = session.ask(format_args!("looking for the constraint {}", broken.name), &sql)?;
    let Some(row) = rows.into_iter().next() else { return Ok(None) };
    let text = |index: usize| row[index].clone().unwrap_or_default();
    let list = |index: usize| serde_json::from_str::<Vec<String>>(&text(index)).unwrap_or_default();
    let names = list(3);
    let column = |name: &String| plan.columns.iter().position(|column| column.name == *name);
    let Some(columns) = names.iter().map(column).collect::<Option<Vec<_>>>() else { return Ok(None) };
    if columns.is_empty() || columns.iter().any(|column| places[*column].target == Target::Other) {
        return Ok(None);
    }
    let types = columns.iter().map(|column| format!("format_type({}, -1)", plan.columns[*column].server_type.oid));
    let types = session.ask("looking for types", &format!("SELECT {}", types.collect::<Vec<_>>().join(", ")))?;
    let types = types.into_iter().next().unwrap_or_default().into_iter().flatten();
    let arrays: Vec<_> = types.enumerate().map(|(index, name)| format!("${}::{name}[]", index + 1)).collect();
    let quoted: Vec<_> = names.iter().map(|name| Postgres.quote(name)).collect();
    let condition = match text(0).as_str() {
        "c" => format!("NOT ({})", text(1)),
        _ => {
            let given = quoted.iter().map(|name| format!("sent.{name} IS NOT NULL")).collect::<Vec<_>>().join(" AND ");
            let others = list(4);
            let same =
                quoted.iter().zip(&others).map(|(own, other)| format!("there.{} = sent.{own}", Postgres.quote(other)));
            let same = same.collect::<Vec<_>>().join(" AND ");
            format!("{given} AND NOT EXISTS (SELECT FROM {} AS there WHERE {same})", text(2))
        }
    };
    let sql = format!(
        "SELECT {NUMBER} FROM unnest({}) WITH ORDINALITY AS sent ({}, {NUMBER}) WHERE {condition}",
        arrays.join(", "),
        quoted.join(", "),
    );
    Ok(Some((columns, sql)))
}

/// A column of records as an array in binary form.
#[derive(Debug)]
struct Cells {
    count: usize,
    bytes: Vec<u8>,
}

impl Cells {
    fn of(records: &[(RecordBatch, Vec<usize>)], column: usize, places: &[Place]) -> Cells {
        let (mut count, mut bytes, mut scratch) = (0, Vec::new(), String::new());
        for (records, rows) in records {
            let lane = Lane::new(records.column(column).as_ref(), &places[column]);
            for row in rows {
                let end = bytes.len();
                if lane.put(*row, &mut bytes, &mut scratch).is_err() {
                    // It will not be sent, or is for the server to read: nothing that could be looked at here.
                    bytes.truncate(end);
                    bytes.extend_from_slice(&cells::NULL);
                }
                count += 1;
            }
        }
        Cells { count, bytes }
    }
}

impl ToSql for Cells {
    fn to_sql(
        &self,
        declared: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let Kind::Array(element) = declared.kind() else { return Err("an array was asked for as another type".into()) };
        // One dimension, there may be NULLs, and numbers begin with 1.
        out.put_i32(1);
        out.put_i32(1);
        out.put_u32(element.oid());
        out.put_i32(i32::try_from(self.count)?);
        out.put_i32(1);
        out.put_slice(&self.bytes);
        Ok(IsNull::No)
    }

    fn accepts(declared: &Type) -> bool {
        matches!(declared.kind(), Kind::Array(_))
    }

    to_sql_checked!();
}
