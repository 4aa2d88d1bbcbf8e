//! Packets over a socket: received into one buffer and looked at where they lie, sent with their headers.
//! Not here: what is in a packet.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};
use transship_plugin_api::{Error, Result};

use super::stop::{BETWEEN_LOOKS, Stop};

/// What a packet can hold; a longer one is followed by the rest.
const LONGEST: usize = 0xff_ff_ff;
const HEADER: usize = 4;
/// What is joined before it is sent.
const SHORT: usize = 16 << 10;
/// What is read of the socket at once.
const ROOM: usize = 256 << 10;
/// A buffer that a huge row made larger is let go behind it.
const LARGEST_KEPT: usize = 4 << 20;

/// A connection's stream of bytes.
pub(super) enum Transport {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
    /// In the middle of being replaced.
    None,
}

impl Transport {
    fn socket(&self) -> Option<&TcpStream> {
        match self {
            Transport::Plain(socket) => Some(socket),
            Transport::Tls(stream) => Some(&stream.sock),
            Transport::None => None,
        }
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(socket) => socket.read(into),
            Transport::Tls(stream) => stream.read(into),
            Transport::None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(socket) => socket.write(bytes),
            Transport::Tls(stream) => stream.write(bytes),
            Transport::None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Transport::Plain(socket) => socket.flush(),
            Transport::Tls(stream) => stream.flush(),
            Transport::None => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

/// One end of a connection, in packets.
pub(super) struct Wire {
    pub(super) transport: Transport,
    stop: Stop,
    /// What was received and not looked at yet lies in `received`.
    buffer: Vec<u8>,
    received: Range<usize>,
    /// The number of the next packet, counted anew by each command.
    sequence: u8,
    /// How long the server may be silent.
    pub(super) patience: Option<Duration>,
}

impl Wire {
    pub(super) fn new(socket: TcpStream, stop: Stop, patience: Option<Duration>) -> io::Result<Wire> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(BETWEEN_LOOKS))?;
        socket.set_write_timeout(Some(BETWEEN_LOOKS))?;
        let transport = Transport::Plain(socket);
        Ok(Wire { transport, stop, buffer: Vec::new(), received: 0..0, sequence: 0, patience })
    }

    /// Begins a command: its packets are numbered from 0 on.
    pub(super) fn begin(&mut self) {
        self.sequence = 0;
    }

    /// Sends one payload, in as many packets as it needs.
    pub(super) fn send(&mut self, payload: &[u8]) -> Result<()> {
        self.send_parts(&[payload])
    }

    /// As [`Wire::send`], of a payload in parts that need not be joined.
    pub(super) fn send_parts(&mut self, parts: &[&[u8]]) -> Result<()> {
        let mut left: usize = parts.iter().map(|part| part.len()).sum();
        let mut parts = parts.iter().copied();
        let mut part: &[u8] = &[];
        loop {
            let length = left.min(LONGEST);
            let mut header = [0; HEADER];
            header[..3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
            header[3] = self.sequence;
            self.sequence = self.sequence.wrapping_add(1);
            // What is short goes out at once: two writes would be two segments.
            let mut short = header.to_vec();
            let mut wanted = length;
            while wanted > 0 {
                if part.is_empty() {
                    part = parts.next().unwrap_or_default();
                    continue;
                }
                let (piece, rest) = part.split_at(part.len().min(wanted));
                if short.len() + piece.len() <= SHORT {
                    short.extend_from_slice(piece);
                } else {
                    self.write_all(&short)?;
                    short.clear();
                    self.write_all(piece)?;
                }
                wanted -= piece.len();
                part = rest;
            }
            self.write_all(&short)?;
            left -= length;
            // A payload that ends with a full packet has an empty one behind it.
            if length < LONGEST {
                return self.flush();
            }
        }
    }

    /// The next payload, waited for as long as it takes.
    pub(super) fn receive(&mut self) -> Result<&[u8]> {
        let range = loop {
            if let Some(range) = self.take_packet()? {
                break range;
            }
            self.fill(None)?;
        };
        Ok(&self.buffer[range])
    }

    /// The next payload; `None` if it does not come in time.
    pub(super) fn receive_within(&mut self, time: Duration) -> Result<Option<&[u8]>> {
        let mut until = None;
        let range = loop {
            if let Some(range) = self.take_packet()? {
                break range;
            }
            let until = *until.get_or_insert_with(|| Instant::now() + time);
            if !self.fill(Some(until))? {
                return Ok(None);
            }
        };
        Ok(Some(&self.buffer[range]))
    }

    /// Where the next payload lies, if it has come as a whole.
    fn take_packet(&mut self) -> Result<Option<Range<usize>>> {
        let Range { start, end } = self.received;
        let Some(header) = self.buffer[start..end].first_chunk::<HEADER>() else { return Ok(None) };
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        if length == LONGEST {
            return self.take_long_packet();
        }
        let payload = start + HEADER..start + HEADER + length;
        if payload.end > end {
            self.reserve(HEADER + length);
            return Ok(None);
        }
        self.sequence = header[3].wrapping_add(1);
        self.received.start = payload.end;
        Ok(Some(payload))
    }

    /// A payload in several packets: once all are there, the headers between them are taken out.
    fn take_long_packet(&mut self) -> Result<Option<Range<usize>>> {
        let Range { start, end } = self.received;
        let (mut at, mut parts) = (start, Vec::new());
        let sequence = loop {
            let Some(header) = self.buffer[at..end].first_chunk::<HEADER>() else {
                self.reserve(at - start + HEADER);
                return Ok(None);
            };
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            if at + HEADER + length > end {
                self.reserve(at - start + HEADER + length);
                return Ok(None);
            }
            parts.push(at + HEADER..at + HEADER + length);
            at += HEADER + length;
            if length < LONGEST {
                break header[3];
            }
        };
        let payload_start = start + HEADER;
        let mut payload_end = payload_start;
        for part in parts {
            let length = part.len();
            self.buffer.copy_within(part, payload_end);
            payload_end += length;
        }
        self.sequence = sequence.wrapping_add(1);
        self.received.start = at;
        Ok(Some(payload_start..payload_end))
    }

    /// Makes room for so many bytes from the first one on that was not looked at yet.
    fn reserve(&mut self, bytes: usize) {
        let wanted = bytes.max(ROOM);
        if self.buffer.len() - self.received.start < wanted {
            self.compact();
            if self.buffer.len() < wanted {
                self.buffer.resize(wanted.next_multiple_of(ROOM), 0);
            }
        }
    }

    /// Lets go of what a huge row has made of the buffer.
    pub(super) fn give_back_room(&mut self) {
        if self.buffer.len() > LARGEST_KEPT && self.received.len() < ROOM {
            self.compact();
        }
    }

    fn compact(&mut self) {
        self.buffer.copy_within(self.received.clone(), 0);
        self.received = 0..self.received.len();
        if self.buffer.len() > LARGEST_KEPT && self.received.len() < ROOM {
            self.buffer.truncate(ROOM);
            self.buffer.shrink_to_fit();
        }
    }

    /// Receives more; `false` if nothing comes in time.
    fn fill(&mut self, until: Option<Instant>) -> Result<bool> {
        if self.received.is_empty() {
            self.received = 0..0;
        }
        if self.buffer.len() - self.received.end < ROOM / 4 {
            self.reserve(self.received.len() + ROOM);
        }
        let mut silence = Duration::ZERO;
        loop {
            self.stop.check()?;
            // Not more than there is room for anyway: of a huge row only a little of what follows it is received with it.
            let end = self.buffer.len().min(self.received.end + ROOM);
            match self.transport.read(&mut self.buffer[self.received.end..end]) {
                Ok(0) => return Err(lost("the server closed the connection")),
                Ok(read) => {
                    self.received.end += read;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => {
                    silence += BETWEEN_LOOKS;
                    if until.is_some_and(|until| Instant::now() >= until) {
                        return Ok(false);
                    }
                    self.check_patience(silence)?;
                }
                Err(error) => return Err(self.broken(error)),
            }
        }
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        let mut silence = Duration::ZERO;
        while !bytes.is_empty() {
            self.stop.check()?;
            match self.transport.write(bytes) {
                Ok(0) => return Err(lost("the server closed the connection")),
                Ok(written) => {
                    bytes = &bytes[written..];
                    silence = Duration::ZERO;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => {
                    silence += BETWEEN_LOOKS;
                    self.check_patience(silence)?;
                }
                Err(error) => return Err(self.broken(error)),
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let mut silence = Duration::ZERO;
        loop {
            match self.transport.flush() {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => {
                    self.stop.check()?;
                    silence += BETWEEN_LOOKS;
                    self.check_patience(silence)?;
                }
                Err(error) => return Err(self.broken(error)),
            }
        }
    }

    fn check_patience(&self, silence: Duration) -> Result<()> {
        match self.patience {
            Some(patience) if silence >= patience => {
                Err(lost(&format!("the server said nothing for {patience:.1?} (socketTimeout of the URL)")))
            }
            _ => Ok(()),
        }
    }

    fn broken(&self, error: io::Error) -> Error {
        if self.stop.is_stopped() {
            return Error::cancelled();
        }
        // What is wrong with a certificate stays wrong.
        let may_pass = error.kind() != io::ErrorKind::InvalidData;
        lost(&format!("the connection broke: {error}")).retryable(may_pass).with_source(error)
    }

    /// Ends the connection at once, whatever is still on its way.
    pub(super) fn shut_down(&mut self) {
        if let Some(socket) = self.transport.socket() {
            // It may be closed already.
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
    }

    /// Goes on encrypted.
    pub(super) fn encrypt(&mut self, client: ClientConnection) -> Result<()> {
        match std::mem::replace(&mut self.transport, Transport::None) {
            Transport::Plain(socket) => {
                self.transport = Transport::Tls(Box::new(StreamOwned::new(client, socket)));
                Ok(())
            }
            _ => Err(Error::internal("a connection was to be encrypted twice")),
        }
    }
}

/// Another attempt may find the server in better health.
fn lost(what: &str) -> Error {
    Error::io(what).retryable(true)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests;
