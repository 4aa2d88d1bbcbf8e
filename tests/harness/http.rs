//! A real HTTP server for tests, which answers as the test says: late, with errors, in pieces, not to the end, or not at all.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which one it is, from 0.
    pub number: usize,
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Names are in small letters.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    /// The path without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A parameter of the query, as it is written.
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What the server says.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    delay: Duration,
    cut_after: Option<usize>,
    hangs_after: Option<usize>,
}

impl Reply {
    /// An answer with this body.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Reply {
        Reply {
            status,
            headers: Vec::new(),
            body: body.into(),
            delay: Duration::ZERO,
            cut_after: None,
            hangs_after: None,
        }
    }

    /// All is well.
    pub fn ok(body: impl Into<Vec<u8>>) -> Reply {
        Reply::new(200, body).header("content-type", "application/json")
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Reply {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Comes so much later.
    pub fn after(mut self, delay: Duration) -> Reply {
        self.delay = delay;
        self
    }

    /// Closes the connection after so many bytes of the body, which was to have more.
    pub fn cut_after(mut self, bytes: usize) -> Reply {
        self.cut_after = Some(bytes);
        self
    }

    /// Says nothing more after so many bytes of the body, and keeps the connection.
    pub fn hangs_after(mut self, bytes: usize) -> Reply {
        self.hangs_after = Some(bytes);
        self
    }

    /// Never answers.
    pub fn never() -> Reply {
        Reply::ok("").after(Duration::MAX)
    }
}

/// A server that runs.
pub struct Server {
    address: String,
    state: Mutex<State>,
    /// There is something new in the state.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    requests: Vec<Request>,
    /// How many requests wait for their reply, and how many did at most.
    at_once: usize,
    most_at_once: usize,
    connections: Vec<TcpStream>,
    is_over: bool,
}

impl Server {
    /// `http://127.0.0.1:1234`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// How many requests waited for their reply at once.
    pub fn most_at_once(&self) -> usize {
        self.lock().most_at_once
    }

    /// Waits until so many requests have come.
    ///
    /// # Panics
    /// After a minute.
    pub fn wait_for_requests(&self, count: usize) {
        crate::until("requests", || (self.lock().requests.len() >= count).then_some(()));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits so long, unless the test is over before.
    fn pause(&self, time: Duration) {
        let state = self.lock();
        let wait = self.changed.wait_timeout_while(state, time.min(A_DAY), |state| !state.is_over);
        drop(wait);
    }

    /// Answers the requests of a connection until one of the two has enough.
    fn serve(&self, stream: TcpStream, reply: &(impl Fn(&Request) -> Reply + Sync)) {
        let Ok(copy) = stream.try_clone() else { return };
        let mut reader = BufReader::new(copy);
        while let Some(mut request) = read(&mut reader) {
            {
                let mut state = self.lock();
                request.number = state.requests.len();
                state.requests.push(request.clone());
                state.at_once += 1;
                state.most_at_once = state.most_at_once.max(state.at_once);
            }
            let reply = reply(&request);
            if !reply.delay.is_zero() {
                self.pause(reply.delay);
            }
            self.lock().at_once -= 1;
            if self.write(&stream, &reply).is_none() {
                break;
            }
        }
        // Whoever is already gone is gone.
        let _ = stream.shutdown(Shutdown::Both);
    }

    /// Sends a reply; `None`: nothing more may follow on this connection.
    fn write(&self, mut stream: &TcpStream, reply: &Reply) -> Option<()> {
        let mut head = format!("HTTP/1.1 {} Something\r\n", reply.status);
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", reply.body.len()));
        let end = reply.cut_after.or(reply.hangs_after).unwrap_or(reply.body.len()).min(reply.body.len());
        let message = [head.as_bytes(), &reply.body[..end]].concat();
        stream.write_all(&message).and_then(|()| stream.flush()).ok()?;
        if reply.hangs_after.is_some() {
            self.pause(Duration::MAX);
        }
        (reply.cut_after.is_none() && reply.hangs_after.is_none()).then_some(())
    }
}

const A_DAY: Duration = Duration::from_secs(86_400);

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        Some(line.trim_end().to_string())
    };
    let first = line()?;
    let [method, target, _] = first.split(' ').collect::<Vec<_>>()[..] else { return None };
    let mut headers = Vec::new();
    loop {
        let line = line()?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_string()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8_lossy(&body).into_owned();
    Some(Request { number: 0, method: method.into(), target: target.into(), headers, body })
}

/// Does something while a server runs that replies like this.
pub fn with_server<T>(reply: impl Fn(&Request) -> Reply + Sync, work: impl FnOnce(&Server) -> T) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("a listener has an address").to_string();
    let server = Server { address, state: Mutex::default(), changed: Condvar::new() };
    std::thread::scope(|scope| {
        let (server, reply) = (&server, &reply);
        scope.spawn(move || {
            for stream in listener.incoming().flatten() {
                {
                    let mut state = server.lock();
                    if state.is_over {
                        return;
                    }
                    state.connections.extend(stream.try_clone());
                }
                // Small pieces go out at once.
                let _ = stream.set_nodelay(true);
                scope.spawn(move || server.serve(stream, reply));
            }
        });
        let _end = End(server);
        work(server)
    })
}

/// Ends the server, also where a test fails.
struct End<'a>(&'a Server);

impl Drop for End<'_> {
    fn drop(&mut self) {
        {
            let mut state = self.0.lock();
            state.is_over = true;
            for connection in state.connections.drain(..) {
                let _ = connection.shutdown(Shutdown::Both);
            }
        }
        self.0.changed.notify_all();
        // It waits for somebody to come.
        let _ = TcpStream::connect(&self.0.address);
    }
}
