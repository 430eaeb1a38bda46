//! A link between worker and server that can be cut, or that drops its connections again and again.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Forwards bytes to a server.
pub struct Proxy {
    pub address: String,
    state: Arc<State>,
}

struct State {
    server: String,
    /// Whether the link is cut. Then nothing passes, as if a cable were cut, and the end of the connection is not reported.
    is_cut: AtomicBool,
    /// The number of bytes to the server after which a connection is dropped; 0 for none.
    drop_after: AtomicUsize,
    n_dropped: AtomicUsize,
}

impl Proxy {
    pub fn new(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = Arc::new(State {
            server: server.to_owned(),
            is_cut: AtomicBool::new(false),
            drop_after: AtomicUsize::new(0),
            n_dropped: AtomicUsize::new(0),
        });
        let of_thread = Arc::clone(&state);
        // The thread runs until the process ends.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = Arc::clone(&of_thread);
                thread::spawn(move || forward(&client, &state));
            }
        });
        Self { address, state }
    }

    pub fn cut(&self, is_cut: bool) {
        self.state.is_cut.store(is_cut, Ordering::SeqCst);
    }

    pub fn drop_after(&self, n_bytes: usize) {
        self.state.drop_after.store(n_bytes, Ordering::SeqCst);
    }

    pub fn n_dropped(&self) -> usize {
        self.state.n_dropped.load(Ordering::SeqCst)
    }
}

fn forward(client: &TcpStream, state: &Arc<State>) {
    let Ok(server) = TcpStream::connect(&state.server) else { return };
    let (from, to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let back = Arc::clone(state);
    let thread = thread::spawn(move || pass(from, to, &back, false));
    pass(client.try_clone().unwrap(), server, state, true);
    thread.join().unwrap();
}

fn pass(mut from: TcpStream, mut to: TcpStream, state: &State, to_server: bool) {
    let (mut buffer, mut total) = (vec![0; 4096], 0);
    loop {
        let n = from.read(&mut buffer).unwrap_or(0);
        while state.is_cut.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
        total += n;
        let limit = state.drop_after.load(Ordering::SeqCst);
        let is_dropped = to_server && limit > 0 && total > limit;
        if is_dropped {
            state.n_dropped.fetch_add(1, Ordering::SeqCst);
        }
        if n == 0 || is_dropped || to.write_all(&buffer[..n]).is_err() {
            // Either stream may be closed already, so errors are ignored.
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
            return;
        }
    }
}
