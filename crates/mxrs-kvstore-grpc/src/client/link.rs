//! The connection of a worker to one server. If it is lost, it is opened again, until the patience of the worker is over.

use super::gate::Gate;
use super::replay::Replay;
use super::tries::Tries;
use super::{Worker, transfer};
use crate::limits;
use crate::messages::{Beat, CALL, CallReply, CallRequest, Collect, Join, Leave, Question, VERSION};
use crate::wire::{Connector, network};
use mxrs_kvstore::Key;
use mxrs_sync::Mutex;
use mxrs_types::{Error, Result};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

/// The first and the longest pause between attempts to connect. Each pause is twice as long as the one before.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// How often a worker reports to a server that the worker has ended, if the connection is lost before the answer.
const LEAVES: u32 = 3;

/// A server, as a worker sees it.
pub struct Link {
    pub server: usize,
    pub address: String,
    pub worker: Arc<Worker>,
    connector: Connector,
    /// Locked while a connection is being opened.
    connection: tokio::sync::Mutex<Connection>,
    /// The number of the newest connection that was lost. Connections are numbered in order.
    lost: watch::Sender<u64>,
    health: Mutex<Health>,
    pub replay: Mutex<Replay>,
    /// By key: the number of the last push, and the version of the value that this worker has.
    pub keys: Mutex<HashMap<Key, (u64, u64)>>,
    pub gate: Arc<Gate>,
}

struct Health {
    /// When the last answer of the server arrived.
    heard: Instant,
    /// The error after which no more requests are sent to the server.
    fault: Option<Error>,
}

#[derive(Default)]
struct Connection {
    open: Option<Open>,
    n_opened: u64,
    incarnation: Option<u64>,
}

/// An open connection. It has one channel for values and one for questions, so that large values do not delay signs of life.
#[derive(Clone)]
pub struct Open {
    pub generation: u64,
    pub values: Channel,
    calls: Channel,
}

impl Link {
    pub fn new(server: usize, address: &str, connector: Connector, worker: &Arc<Worker>) -> Arc<Self> {
        let options = &worker.options;
        Arc::new(Self {
            server,
            address: address.to_owned(),
            worker: Arc::clone(worker),
            connector,
            connection: tokio::sync::Mutex::default(),
            lost: watch::Sender::new(0),
            health: Mutex::new(Health { heard: Instant::now(), fault: None }),
            replay: Mutex::new(Replay::new(options.replay_bytes / options.servers.len().max(1))),
            keys: Mutex::new(HashMap::new()),
            gate: Gate::new(options.window),
        })
    }

    pub fn name(&self) -> String {
        format!("server {} at {}", self.server, self.address)
    }

    /// Notes an answer of the server.
    pub fn heard(&self, n_snapshots: u64) {
        self.health.lock().heard = Instant::now();
        self.replay.lock().forget(n_snapshots);
    }

    /// Notes that a connection is lost. Requests that use it are given up and made again.
    pub fn lose(&self, generation: u64, why: &str) {
        let is_new = self.lost.send_if_modified(|lost| {
            let is_new = generation > *lost;
            *lost = generation.max(*lost);
            is_new
        });
        if is_new {
            tracing::warn!("worker {}: the connection to {} is lost: {why}", self.worker.options.rank, self.name());
        }
    }

    /// Waits until this connection is lost.
    pub async fn lost(&self, generation: u64) {
        // The sender is in `self`.
        drop(self.lost.subscribe().wait_for(|lost| *lost >= generation).await);
    }

    /// The error for a request that the server refused.
    pub fn refused(&self, status: &Status) -> Error {
        let kind = match status.code() {
            Code::InvalidArgument | Code::NotFound | Code::OutOfRange => io::ErrorKind::InvalidInput,
            Code::PermissionDenied | Code::Unauthenticated => io::ErrorKind::PermissionDenied,
            Code::DeadlineExceeded => io::ErrorKind::TimedOut,
            _ => io::ErrorKind::Other,
        };
        network(kind, format!("{} reports: {}", self.name(), status.message()))
    }

    /// The open connection. Opens one if there is none.
    ///
    /// # Errors
    /// Fails if the server does not answer for longer than the patience of the worker, or if it refuses the worker.
    pub async fn open(&self) -> Result<Open> {
        let mut connection = self.connection.lock().await;
        if let Some(open) = connection.open.take_if(|open| open.generation <= *self.lost.borrow()) {
            drop(open);
        }
        if let Some(fault) = &self.health.lock().fault {
            return Err(fault.clone());
        }
        if let Some(open) = &connection.open {
            return Ok(open.clone());
        }
        let mut pause = PAUSES[0];
        loop {
            let failure = match self.try_open(&mut connection).await {
                Ok(open) => return Ok(open),
                Err(failure) => failure,
            };
            let patience = self.worker.options.patience;
            let silent = self.health.lock().heard.elapsed();
            let error = match failure {
                Failure::Refused(error) => error,
                Failure::Lost(why) if silent + pause > patience => {
                    let (patience, name) = (patience.as_secs_f64(), self.name());
                    let message = format!("{name} is lost: it has not answered for {patience:.0} s ({why})");
                    network(io::ErrorKind::TimedOut, message)
                }
                Failure::Lost(why) => {
                    tracing::debug!("{}: {why}", self.name());
                    tokio::time::sleep(pause).await;
                    pause = (2 * pause).min(PAUSES[1]);
                    continue;
                }
            };
            self.health.lock().fault = Some(error.clone());
            return Err(error);
        }
    }

    /// Makes a connection, joins the server, and sends again what a restarted server has lost.
    async fn try_open(&self, connection: &mut Connection) -> std::result::Result<Open, Failure> {
        let options = &self.worker.options;
        let endpoint =
            Endpoint::from_shared(format!("http://{}", self.address)).map_err(|error| Failure::of(&error))?;
        let endpoint = endpoint
            .initial_stream_window_size(u32::try_from(2 * limits::FRAME_BYTES).unwrap_or(u32::MAX))
            .initial_connection_window_size(16 << 20)
            // Signs of life use the channel of questions. HTTP/2 pings show whether the channel of values still works.
            .http2_keep_alive_interval(options.silence)
            .keep_alive_timeout(options.silence);
        let connect = || endpoint.connect_with_connector(self.connector.clone());
        let calls = connect().await.map_err(|error| Failure::of(&error))?;
        let progress = self.worker.collections.lock().progress();
        let join = Join {
            version: VERSION,
            session: self.worker.session,
            rank: u32::try_from(options.rank).unwrap_or(u32::MAX),
            n_workers: u32::try_from(options.n_workers).unwrap_or(u32::MAX),
            server: u32::try_from(self.server).unwrap_or(u32::MAX),
            n_servers: u32::try_from(options.servers.len()).unwrap_or(u32::MAX),
            token: options.token.clone(),
            progress,
        };
        let joined = call(&calls, Question::Join(join), options.silence).await;
        let joined = joined.map_err(|status| match (self.connector.take_fault(), is_passing(&status)) {
            (Some(fault), _) => {
                let message = format!("TLS with the server: {fault}");
                Failure::Refused(network(io::ErrorKind::PermissionDenied, message))
            }
            (None, true) => Failure::of(&status),
            (None, false) => Failure::Refused(self.refused(&status)),
        })?;
        let values = connect().await.map_err(|error| Failure::of(&error))?;
        connection.n_opened += 1;
        let open = Open { generation: connection.n_opened, values, calls };
        self.replay.lock().set_needed(joined.keeps_snapshots);
        match connection.incarnation {
            None => {}
            Some(before) if before == joined.incarnation => tracing::info!("connected to {} again", self.name()),
            Some(_) => self.replay(&open, &joined).await?,
        }
        connection.incarnation = Some(joined.incarnation);
        self.heard(joined.n_snapshots);
        connection.open = Some(open.clone());
        Ok(open)
    }

    /// Sends again what a restarted server has lost: first values, the updater, collections and pushes.
    async fn replay(&self, open: &Open, joined: &CallReply) -> std::result::Result<(), Failure> {
        let (rank, name) = (self.worker.options.rank, self.name());
        if !joined.keeps_snapshots && !self.keys.lock().is_empty() {
            let message =
                format!("{name} was started again, and has no snapshots (MXRS_KVSTORE_SNAPSHOT_DIR): values are lost");
            return Err(Failure::Refused(network(io::ErrorKind::Other, message)));
        }
        let missing = self.replay.lock().missing(&joined.applied);
        if missing.n_lost > 0 {
            tracing::warn!(
                "worker {rank}: {} updates on {name} are lost: they are newer than its snapshot, and too many to be kept",
                missing.n_lost
            );
        }
        let failure = |status: Status| {
            if is_passing(&status) { Failure::of(&status) } else { Failure::Refused(self.refused(&status)) }
        };
        for first in missing.firsts {
            let (head, _) = transfer::once(open, first.head.clone(), &first.bytes, 0).await.map_err(failure)?;
            self.replay.lock().acknowledge_first(&first.key, head.in_snapshot);
        }
        let updater = self.worker.updater.lock().clone();
        if let Some(updater) = updater {
            call(&open.calls, Question::Updater(updater), self.worker.options.patience).await.map_err(failure)?;
        }
        let collections = if self.server == 0 { self.worker.collections.lock().given() } else { Vec::new() };
        for collect in collections {
            let collect = Collect { again: true, ..collect };
            match call(&open.calls, Question::Collect(collect), self.worker.options.silence).await {
                Ok(_) => {}
                // The server refuses this collection because all workers have finished it, so it need not be given again.
                Err(status) if status.code() == Code::OutOfRange => {}
                Err(status) => return Err(failure(status)),
            }
        }
        let n_pushes = missing.pushes.len();
        for push in missing.pushes {
            let (head, _) = transfer::once(open, push.head.clone(), &push.bytes, 0).await.map_err(failure)?;
            self.replay.lock().acknowledge(&push.key, push.head.push, head.in_snapshot);
        }
        tracing::info!("worker {rank}: {name} was started again; sent {n_pushes} updates again");
        Ok(())
    }

    /// Asks a question until there is an answer.
    ///
    /// # Errors
    /// Fails if the server is lost, or refuses the question.
    pub async fn ask(&self, question: Question) -> Result<CallReply> {
        let mut tries = Tries::default();
        loop {
            let open = self.open().await?;
            let asked = call(&open.calls, question.clone(), self.worker.options.patience + Duration::from_secs(5));
            let answer = tokio::select! {
                answer = asked => answer,
                () = self.lost(open.generation) => Err(Status::unavailable("the connection is lost")),
            };
            match answer {
                Ok(reply) => {
                    self.heard(reply.n_snapshots);
                    return Ok(reply);
                }
                Err(status) if is_passing(&status) || status.code() == Code::Unauthenticated => {
                    self.lose(open.generation, status.message());
                    tries.again(self, status.message()).await?;
                }
                Err(status) => return Err(self.refused(&status)),
            }
        }
    }

    /// Sends signs of life until the server is lost for good.
    pub async fn beat(self: Arc<Self>, interval: Duration) {
        loop {
            tokio::time::sleep(interval).await;
            let Ok(open) = self.open().await else { return };
            let beat = Question::Beat(Beat { session: self.worker.session });
            match call(&open.calls, beat, self.worker.options.silence).await {
                Ok(reply) => self.heard(reply.n_snapshots),
                Err(status) if is_passing(&status) || status.code() == Code::Unauthenticated => {
                    self.lose(open.generation, status.message());
                }
                Err(status) => {
                    self.health.lock().fault = Some(self.refused(&status));
                    self.lose(open.generation, status.message());
                    return;
                }
            }
        }
    }

    /// Reports to the server that this worker has ended. A server that writes snapshots answers when a snapshot contains all
    /// pushes of this worker. If the server is started again meanwhile, the pushes are sent again.
    pub async fn leave(&self) {
        let options = &self.worker.options;
        let leave = Question::Leave(Leave { session: self.worker.session });
        for _ in 0..LEAVES {
            // If the server cannot be reached but already has all pushes in a snapshot, the wait is short.
            let limit = if self.replay.lock().is_needed() { options.silence } else { PAUSES[1] };
            let Ok(Ok(open)) = tokio::time::timeout(limit, self.open()).await else { return };
            let left = tokio::select! {
                left = call(&open.calls, leave.clone(), options.patience) => left,
                () = self.lost(open.generation) => Err(Status::unavailable("the connection is lost")),
            };
            let Err(status) = left else { return };
            tracing::debug!("leaving {}: {}", self.name(), status.message());
            if !is_passing(&status) && status.code() != Code::Unauthenticated {
                return;
            }
            self.lose(open.generation, status.message());
        }
    }
}

/// Why there is no connection.
enum Failure {
    /// The server does not answer. It may come back.
    Lost(String),
    /// The server refuses the worker, or the worker refuses the server. Another attempt would not help.
    Refused(Error),
}

impl Failure {
    /// Classifies an error of the connection. Errors of TLS are final, because another attempt would fail in the same way.
    fn of(error: &(dyn std::error::Error + 'static)) -> Self {
        let mut words = Vec::new();
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(error) = tls_error(error) {
                let message = format!("TLS with the server: {error}");
                return Self::Refused(network(io::ErrorKind::PermissionDenied, message));
            }
            words.push(error.to_string());
            next = error.source();
        }
        words.dedup();
        Self::Lost(words.pop().unwrap_or_default())
    }
}

/// Returns the TLS error inside this error, if there is one that would occur again in another attempt.
fn tls_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    let inner = error.downcast_ref::<io::Error>().and_then(|error| error.get_ref());
    let found = error.downcast_ref::<rustls::Error>().or_else(|| inner?.downcast_ref::<rustls::Error>());
    found.filter(|error| !matches!(error, rustls::Error::General(_)))
}

/// Whether a request that failed with this status may be sent again.
pub fn is_passing(status: &Status) -> bool {
    matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled)
}

/// Asks one question.
async fn call(channel: &Channel, question: Question, limit: Duration) -> std::result::Result<CallReply, Status> {
    let mut grpc = tonic::client::Grpc::new(channel.clone()).max_decoding_message_size(usize::MAX);
    let asked = async {
        grpc.ready().await.map_err(|error| Status::from_error(Box::new(error)))?;
        let codec = ProstCodec::<CallRequest, CallReply>::default();
        let request = Request::new(CallRequest { question: Some(question) });
        grpc.unary(request, http::uri::PathAndQuery::from_static(CALL), codec).await
    };
    let late = |_| Status::unavailable(format!("no answer within {:.1} s", limit.as_secs_f64()));
    Ok(tokio::time::timeout(limit, asked).await.map_err(late)??.into_inner())
}
