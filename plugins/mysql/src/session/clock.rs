//! The clock of a session: in which zone the server shows and takes what is stored as an instant.

use serde::{Deserialize, Serialize};
use transship_plugin_api::{Error, Result};

use super::{Session, code};

/// How the clock of a session goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clock {
    /// How far it is ahead of UTC now.
    pub(crate) offset_seconds: i64,
    /// Whether that is another number at other times: in summer, or years ago.
    pub(crate) changes: bool,
}

/// The days of which a TIMESTAMP can be are looked at twice a year.
const HALF_YEARS: i64 = 136;
const SECONDS_OF_HALF_A_YEAR: i64 = 15_778_800;
/// The first of them: two weeks into 1970.
const FIRST: i64 = 1_209_600;

impl Clock {
    /// As the server tells it.
    pub(crate) fn of(session: &mut Session) -> Result<Clock> {
        let now = "TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW())".to_string();
        let then = (0..HALF_YEARS).map(|number| {
            let moment = FIRST + number * SECONDS_OF_HALF_A_YEAR;
            format!("TIMESTAMPDIFF(SECOND, '1970-01-01', FROM_UNIXTIME({moment})) - {moment}")
        });
        let columns: Vec<String> = std::iter::once(now).chain(then).collect();
        let rows = session.ask("asking for the time zone", &format!("SELECT {}", columns.join(", ")))?;
        let cells = rows.first().map(Vec::as_slice).unwrap_or_default();
        let offsets: Option<Vec<i64>> = cells.iter().map(|cell| cell.as_deref()?.parse().ok()).collect();
        match offsets.as_deref() {
            Some([offset_seconds, then @ ..]) => {
                let changes = then.iter().any(|then| then != offset_seconds);
                Ok(Clock { offset_seconds: *offset_seconds, changes })
            }
            _ => Err(Error::internal("the server does not tell its time zone")),
        }
    }

    /// Gives the session a clock that is at all times as far ahead of UTC as this one is now; of UTC itself where the server does
    /// not take that. Tells how far it is.
    pub(crate) fn fix(self, session: &mut Session) -> Result<i64> {
        let offset = self.offset_seconds;
        let sign = if offset < 0 { '-' } else { '+' };
        let minutes = offset.abs() / 60;
        let set = format!("SET SESSION time_zone = '{sign}{:02}:{:02}'", minutes / 60, minutes % 60);
        match session.run(&set)? {
            Ok(_) => Ok(offset),
            Err(refused) if refused.code == code::UNKNOWN_TIME_ZONE && offset != 0 => {
                Clock { offset_seconds: 0, ..self }.fix(session)
            }
            Err(refused) => Err(session.server.refused("setting the time zone", &refused)),
        }
    }

    /// The offset at all times, of a clock that has none but one; else that of the clock that the session gets.
    pub(crate) fn fixed(self, session: &mut Session) -> Result<i64> {
        if self.changes { self.fix(session) } else { Ok(self.offset_seconds) }
    }
}
