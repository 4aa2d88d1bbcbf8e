//! A COPY that is going on: records are encoded, and sent in pieces.

use std::pin::Pin;

use arrow_array::RecordBatch;
use bytes::Bytes;
use futures_util::SinkExt;
use tokio_postgres::{CopyInSink, Statement};
use transship_plugin_api::Result;

use super::lane::Lane;
use crate::binary::cells::Refusal;
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
    scratch: String,
}

/// Why a record is not sent.
pub(super) struct Unsent {
    pub(super) column: usize,
    pub(super) refusal: Refusal,
}

impl Stream {
    /// Begins a COPY, behind other statements if there are any.
    pub(super) fn begin(
        session: &Session,
        before: Option<&str>,
        copy: &Statement,
        table: &str,
        format: Format,
    ) -> Result<Stream> {
        let sink = session.copy_in(format_args!("writing into {table}"), before, copy)?;
        let mut out = Vec::with_capacity(PIECE + PIECE / 8);
        if format == Format::Binary {
            out.extend_from_slice(HEADER);
        }
        Ok(Stream { sink: Box::pin(sink), format, out, scratch: String::new() })
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
        }
        added
    }

    #[inline]
    fn add_binary(&mut self, lanes: &[Lane<'_>], row: usize) -> Result<(), Unsent> {
        self.out.extend_from_slice(&(lanes.len() as i16).to_be_bytes());
        for (column, lane) in lanes.iter().enumerate() {
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
        if self.out.len() < PIECE { Ok(Ok(())) } else { self.send(session) }
    }

    fn send(&mut self, session: &Session) -> Result<Result<(), Refused>> {
        let mut rest: Bytes = std::mem::replace(&mut self.out, Vec::with_capacity(PIECE + PIECE / 8)).into();
        let sent = session.wait(async {
            while !rest.is_empty() {
                // A large record in parts, since the client copies each.
                let part = rest.split_to(rest.len().min(LARGEST_PIECE));
                self.sink.send(part).await?;
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
