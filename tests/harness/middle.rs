//! A server in the middle, which passes bytes on between a program and a server until it cuts them off.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

/// Does something with the address of a server in the middle, whose first connections are cut off after so many bytes in either
/// direction.
pub fn with_cuts<T>(server: &str, cut_after: usize, cuts: usize, work: impl FnOnce(&str) -> T) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("a listener has an address").to_string();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (listener, is_over) = (&listener, &is_over);
        scope.spawn(move || {
            for (number, client) in listener.incoming().flatten().enumerate() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let server = TcpStream::connect(server).expect("the server answers");
                let limit = if number < cuts { cut_after } else { usize::MAX };
                let copy = |stream: &TcpStream| stream.try_clone().expect("a socket can be shared");
                let (from, to) = (copy(&client), copy(&server));
                scope.spawn(move || pass(from, to, limit));
                scope.spawn(move || pass(server, client, limit));
            }
        });
        let _end = End { is_over, address: &address };
        work(&address)
    })
}

/// Ends the server in the middle, also where a test fails.
struct End<'a> {
    is_over: &'a AtomicBool,
    address: &'a str,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // It waits for somebody to come.
        let _ = TcpStream::connect(self.address);
    }
}

/// Passes bytes on until there have been so many, then cuts both off.
fn pass(mut from: TcpStream, mut to: TcpStream, limit: usize) {
    let mut buffer = [0; 16 << 10];
    let mut total = 0;
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        total += read;
        if total > limit || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    // Whoever is already gone is gone.
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
