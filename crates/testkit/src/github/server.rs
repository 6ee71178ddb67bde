//! The socket, and a thread for each connection on it.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::faults::{Fault, Faults, bad_credentials};
use super::graphql::Session;
use super::http::{Request, Response};
use super::operation::{Action, Operation};
use super::record::{Outcome, Recorded};
use super::state::{Grant, World};

/// A client that sends nothing for this long has gone.
const READ_LIMIT: Duration = Duration::from_secs(30);
/// Longer than any deadline that is tested.
const HANG_LIMIT: Duration = Duration::from_secs(3600);

/// What the threads and the test share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    inside: Mutex<Inside>,
    /// Something changed: a request came, or a hanging one was ended.
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(crate) world: World,
    pub(crate) faults: Faults,
    pub(crate) log: Vec<Recorded>,
    /// How much of the log a test has taken.
    pub(crate) taken: usize,
    /// Requests that hang wait until this number changes.
    pub(crate) released: u64,
    ended: bool,
}

impl Shared {
    /// A thread that panicked has failed its test already; the others may continue.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify(&self) {
        self.changed.notify_all();
    }

    /// Waits until `done`. Returns false if the time is over.
    pub(crate) fn wait_until(&self, limit: Duration, done: impl Fn(&Inside) -> bool) -> bool {
        let deadline = Instant::now() + limit;
        let mut inside = self.lock();
        while !done(&inside) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            inside = match self.changed.wait_timeout(inside, left) {
                Ok((inside, _)) => inside,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        true
    }

    /// Waits for a later release than this one, or for the end.
    fn hang(&self, released: u64) {
        self.wait_until(HANG_LIMIT, |inside| {
            inside.ended || inside.released != released
        });
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
    socket: std::path::PathBuf,
}

impl Server {
    pub(crate) fn start(socket: &Path, shared: Arc<Shared>) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let for_thread = Arc::clone(&shared);
        let accepting = thread::spawn(move || accept(&listener, &for_thread));
        Ok(Self {
            shared,
            accepting: Some(accepting),
            socket: socket.to_owned(),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.notify();
        // Wakes the accepting thread, so that it notices the end.
        let _ = UnixStream::connect(&self.socket);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &UnixListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.lock().ended {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // It is fine if a client goes away in the middle.
            let _ = serve(&stream, &shared);
            let _ = stream.shutdown(std::net::Shutdown::Both);
        });
    }
}

fn serve(stream: &UnixStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_LIMIT))?;
    let Some(request) = Request::read(stream)? else {
        return Ok(());
    };
    let operation = Operation::of(&request);
    let Arrival {
        index,
        fault,
        released,
    } = arrive(shared, &request, &operation);
    match &fault {
        Some(Fault::HangBeforeCommit) => {
            shared.hang(released);
            settle(shared, index, Outcome::Dropped);
            return Ok(());
        }
        Some(Fault::DropBeforeCommit) => {
            settle(shared, index, Outcome::Dropped);
            return Ok(());
        }
        _ => {}
    }
    let reply = fault
        .as_ref()
        .and_then(|fault| fault.reply(operation.transport()));
    let response = reply.unwrap_or_else(|| answer(shared, &request, &operation));
    match fault {
        Some(Fault::HangAfterCommit) => {
            shared.hang(released);
            settle(shared, index, Outcome::Dropped);
        }
        Some(Fault::DropAfterCommit) => settle(shared, index, Outcome::Dropped),
        Some(Fault::HalfReply) => {
            settle(shared, index, Outcome::Dropped);
            response.write_half(stream)?;
        }
        _ => {
            settle(shared, index, Outcome::Answered(response.status));
            response.write(stream)?;
        }
    }
    Ok(())
}

/// What is known about a request when it has arrived.
struct Arrival {
    /// Its position in the log.
    index: usize,
    fault: Option<Fault>,
    /// The releases so far: if it hangs, it waits for a later one.
    released: u64,
}

/// Records the request and finds the fault that waits for it.
fn arrive(shared: &Shared, request: &Request, operation: &Operation) -> Arrival {
    let mut inside = shared.lock();
    let names = operation.names();
    let fault = inside.faults.take(&names);
    inside.log.push(Recorded {
        host: operation.host.clone(),
        method: request.method.clone(),
        path: request.target.clone(),
        names,
        variables: operation.variables(),
        query: request
            .json()
            .get("query")
            .and_then(serde_json::Value::as_str)
            .map(str::to_owned),
        agent: request.header("user-agent").unwrap_or_default().to_owned(),
        fault: fault.clone(),
        outcome: Outcome::Waiting,
    });
    let arrival = Arrival {
        index: inside.log.len() - 1,
        fault,
        released: inside.released,
    };
    drop(inside);
    shared.notify();
    arrival
}

fn settle(shared: &Shared, index: usize, outcome: Outcome) {
    shared.lock().log[index].outcome = outcome;
    shared.notify();
}

/// The answer, after all its changes are made.
fn answer(shared: &Shared, request: &Request, operation: &Operation) -> Response {
    let mut inside = shared.lock();
    let world = &mut inside.world;
    let token = request
        .header("authorization")
        .and_then(|value| value.split_once(' '))
        .and_then(|(_, token)| world.tokens.get(token).cloned());
    let Some(token) = token else {
        return bad_credentials();
    };
    world.follow_branches();
    let mut session = Session::new(world, &operation.host, &token);
    let response = match &operation.action {
        Action::Graphql(call) => Response::json(200, &call.answer(&mut session)),
        Action::Rest(route) => route.answer(&mut session),
    };
    let response = response
        .with_header("X-RateLimit-Limit", "5000")
        .with_header("X-RateLimit-Remaining", "4999");
    match &token.grant {
        Grant::Scopes(scopes) => {
            let scopes: Vec<_> = scopes.iter().map(String::as_str).collect();
            response.with_header("X-OAuth-Scopes", &scopes.join(", "))
        }
        Grant::WithoutProjects => response,
    }
}
