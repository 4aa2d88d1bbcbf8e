//! A COPY that is going on: records are encoded, and sent in pieces.

use std::pin::Pin;

use arrow_array::RecordBatch;
use bytes::Bytes;
use futures_util::SinkExt;
use tokio_postgres::{CopyInSink, Statement};
use transship_plugin_api::Result;

use super::lane::Lane;
use crate::binary::cells::{Refusal, put_length};
use crate::binary::{HEADER, TRAILER};
use crate::place::Place;
use crate::session::{Refused, Session};

/// Bytes that are sent at once, if there are as many; and at most.
const PIECE: usize = 128 << 10;
const LARGEST_PIECE: usize = 1 << 20;

/// How a COPY takes its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Binary,
    Text,
}

impl Format {
    pub(super) fn word(self) -> &'static str {
        match self {
            Format::Binary => "binary",
            Format::Text => "text",
        }
    }
}

/// A COPY that is going on.
pub(super) struct Stream {
    sink: Pin<Box<CopyInSink<Bytes>>>,
    pub(super) format: Format,
    out: Vec<u8>,
    /// Large cells, each with its place between the bytes of `out`.
    large: Vec<(usize, Bytes)>,
    scratch: String,
}

/// Why a record is not sent.
pub(super) struct Unsent {
    pub(super) column: usize,
    pub(super) refusal: Refusal,
}

impl Stream {
    /// Begins a COPY into a table, behind other statements if there are any.
    pub(super) fn begin(
        session: &Session,
        before: Option<&str>,
        (table, copy): (&str, &Statement),
        format: Format,
    ) -> Result<Result<Stream, tokio_postgres::Error>> {
        let sink = match session.copy_in(before, copy, &format!("COPY {table} FROM STDIN"))? {
            Ok(sink) => sink,
            Err(error) => return Ok(Err(error)),
        };
        let mut out = Vec::new();
        if format == Format::Binary {
            out.extend_from_slice(HEADER);
        }
        Ok(Ok(Stream { sink: Box::pin(sink), format, out, large: Vec::new(), scratch: String::new() }))
    }

    /// Adds a record; if it is refused, nothing of it.
    #[inline]
    pub(super) fn add(&mut self, lanes: &[Lane<'_>], row: usize) -> Result<(), Unsent> {
        let start = self.out.len();
        let added = match self.format {
            Format::Binary => self.add_binary(lanes, row),
            Format::Text => self.add_text(lanes, row),
        };
        if added.is_err() {
            self.out.truncate(start);
            self.large.retain(|(place, _)| *place <= start);
        }
        added
    }

    #[inline]
    fn add_binary(&mut self, lanes: &[Lane<'_>], row: usize) -> Result<(), Unsent> {
        self.out.extend_from_slice(&(lanes.len() as i16).to_be_bytes());
        for (column, lane) in lanes.iter().enumerate() {
            if let Some(cell) = lane.large(row) {
                let put = put_length(&mut self.out, cell.len());
                put.map_err(|refusal| Unsent { column, refusal })?;
                self.large.push((self.out.len(), cell));
                continue;
            }
            let put = lane.put(row, &mut self.out, &mut self.scratch);
            put.map_err(|refusal| Unsent { column, refusal })?;
        }
        Ok(())
    }

    fn add_text(&mut self, lanes: &[Lane<'_>], row: usize) -> Result<(), Unsent> {
        for (column, lane) in lanes.iter().enumerate() {
            if column > 0 {
                self.out.push(b'\t');
            }
            let put = lane.put_text(row, &mut self.out, &mut self.scratch);
            put.map_err(|refusal| Unsent { column, refusal })?;
        }
        self.out.push(b'\n');
        Ok(())
    }

    /// Sends what is complete, if it is enough to be worth it.
    #[inline]
    pub(super) fn send_if_much(&mut self, session: &Session) -> Result<Result<(), Refused>> {
        if self.out.len() < PIECE && self.large.is_empty() { Ok(Ok(())) } else { self.send(session) }
    }

    fn send(&mut self, session: &Session) -> Result<Result<(), Refused>> {
        // As much room again as was needed: a COPY may be a small one.
        let room = if self.out.len() < PIECE { 0 } else { self.out.capacity().min(PIECE + PIECE / 8) };
        let mut rest: Bytes = std::mem::replace(&mut self.out, Vec::with_capacity(room)).into();
        let mut pieces = Vec::with_capacity(2 * self.large.len() + 1);
        let mut begin = 0;
        for (place, cell) in self.large.drain(..) {
            pieces.extend([rest.split_to(place - begin), cell]);
            begin = place;
        }
        pieces.push(rest);
        let sent = session.wait(async {
            for mut rest in pieces {
                while !rest.is_empty() {
                    // A large record in parts, since the client copies each.
                    let part = rest.split_to(rest.len().min(LARGEST_PIECE));
                    self.sink.send(part).await?;
                }
            }
            // So that the connection can hand it to the socket before the next piece is made.
            tokio::task::yield_now().await;
            Ok(())
        })?;
        session.or_refused(sent)
    }

    /// Ends the COPY, and tells how many records the server has taken.
    pub(super) fn finish(mut self, session: &Session) -> Result<Result<u64, Refused>> {
        if self.format == Format::Binary {
            self.out.extend_from_slice(&TRAILER);
        }
        if let Err(refused) = self.send(session)? {
            return Ok(Err(refused));
        }
        let taken = session.wait(self.sink.as_mut().finish())?;
        session.or_refused(taken)
    }
}

/// The columns of records on their way into these places.
pub(super) fn lanes<'a>(records: &'a RecordBatch, places: &'a [Place]) -> Vec<Lane<'a>> {
    records.columns().iter().zip(places).map(|(column, place)| Lane::new(column.as_ref(), place)).collect()
}
