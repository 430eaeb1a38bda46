//! A server: keeps values, updates them by the gradients of workers, and writes snapshots.
//!
//! `state.rs` is what the server knows, behind one lock. `service.rs` takes requests; `calls.rs` answers questions and
//! `transfer.rs` moves values. `read.rs` refuses what is not well-formed. `snapshot.rs` writes and reads snapshots.

mod calls;
mod collect;
mod metrics;
mod read;
mod service;
mod snapshot;
mod state;
mod transfer;
mod watch;

use crate::messages::ReplyHead;
use crate::tls::TlsFiles;
use crate::wire::{self, Peer, network};
use collect::Collections;
pub use collect::MOST_COLLECTIONS;
use metrics::{Metrics, count};
use mxrs_kvstore::MakeUpdater;
use mxrs_ndarray::ArrayContext;
use mxrs_sync::Mutex;
use mxrs_sync::atomic::AtomicBool;
use mxrs_types::{Error, Result};
use state::{About, State};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch as channel};
use tonic::Status;

/// The longest pause between two checks of the condition that a request waits for.
const TICK: Duration = Duration::from_millis(200);
/// The unit in which pending bytes are counted, in bytes. A semaphore has at most 2^29 permits, so single bytes could exceed
/// it.
const UNIT: usize = 1024;

/// How a server works.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The number of this server, from 0.
    pub server: usize,
    /// The number of servers.
    pub n_servers: usize,
    /// The number of workers.
    pub n_workers: usize,
    /// Where to listen, as `host:port`.
    pub listen: String,
    /// The identity of the server. Without it, messages are not encrypted, and the server accepts any worker.
    pub tls: Option<TlsFiles>,
    /// A secret of the job that workers must know; empty for none.
    pub token: String,
    /// Where to listen for questions for metrics by HTTP, as `host:port`.
    pub metrics: Option<String>,
    /// The folder of snapshots; `None` for no snapshots.
    pub snapshots: Option<PathBuf>,
    /// The time between two snapshots.
    pub snapshot_interval: Duration,
    /// The time without a sign of life after which a worker counts as lost.
    pub silence: Duration,
    /// The longest wait for workers: for the first one, and for those that are lost to return.
    pub patience: Duration,
    /// The most bytes of gradients that wait for their update, and of values that are being sent. Workers that send or ask
    /// for more have to wait.
    pub pending_bytes: usize,
    /// The most bytes of one value, and of the states of the updater.
    pub most_bytes: usize,
    /// The bound on staleness: a worker that is this number of updates of a value ahead of the slowest worker waits for the
    /// slowest. `None`: workers do not wait for each other.
    pub staleness: Option<u64>,
    /// If it becomes true, the server writes a snapshot, and ends as soon as no worker is alive. Workers that are asked to end
    /// write checkpoints first.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Default for ServerOptions {
    /// One server and one worker on this machine, without encryption and snapshots.
    fn default() -> Self {
        Self {
            server: 0,
            n_servers: 1,
            n_workers: 1,
            listen: "127.0.0.1:0".to_owned(),
            tls: None,
            token: String::new(),
            metrics: None,
            snapshots: None,
            snapshot_interval: Duration::from_secs(60),
            silence: Duration::from_secs(30),
            patience: Duration::from_secs(300),
            pending_bytes: 256 << 20,
            most_bytes: 16 << 30,
            staleness: None,
            interrupt: None,
        }
    }
}

/// A server that is running. Dropping it ends it at once, without a snapshot.
pub struct Server {
    inner: Arc<Inner>,
    runtime: Option<tokio::runtime::Runtime>,
    address: SocketAddr,
    metrics: Option<SocketAddr>,
    end: channel::Receiver<Option<Result<()>>>,
}

/// What the requests of a server share.
pub struct Inner {
    options: ServerOptions,
    context: ArrayContext,
    make_updater: MakeUpdater,
    state: Mutex<State>,
    collections: Mutex<Collections>,
    /// Locked while a snapshot is written.
    writing: Mutex<()>,
    metrics: Metrics,
    incarnation: u64,
    /// Notified when values, clocks, sessions or collections have changed.
    changed: Notify,
    snapshot_now: Notify,
    /// The room for gradients that wait for their update.
    pending: Arc<Semaphore>,
    /// The room for values that are being sent to workers.
    replies: Arc<Semaphore>,
}

impl Server {
    /// Starts a server. If the folder of snapshots has one of this server, the server continues from it.
    ///
    /// # Errors
    /// Fails if the server cannot listen, if a file for TLS or the snapshot cannot be used, or if an option is out of range.
    pub fn start(options: ServerOptions, context: &ArrayContext, make_updater: MakeUpdater) -> Result<Self> {
        check(&options)?;
        let tls = options.tls.as_ref().map(TlsFiles::server).transpose()?;
        let inner = Arc::new(Inner {
            context: context.clone(),
            make_updater,
            state: Mutex::new(State::new(options.n_workers)),
            collections: Mutex::new(Collections::default()),
            writing: Mutex::new(()),
            metrics: Metrics::default(),
            incarnation: crate::random_number()?,
            changed: Notify::new(),
            snapshot_now: Notify::new(),
            pending: Arc::new(Semaphore::new(options.pending_bytes.div_ceil(UNIT).max(1))),
            replies: Arc::new(Semaphore::new(options.pending_bytes.div_ceil(UNIT).max(1))),
            options,
        });
        inner.restore()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("mxrs-server")
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Error::from_io(&error).context("starting the threads of the server"))?;
        // The caller may be a task of another runtime, in which `block_on` is not allowed. So a task of this runtime listens
        // and sends back the result.
        let (sender, listening) = mpsc::channel();
        let of_task = Arc::clone(&inner);
        runtime.spawn(async move { drop(sender.send(listen(&of_task, tls).await)) });
        let (address, metrics, end) = listening.recv().unwrap_or_else(|_| Err(ended()))?;
        let Inner { options, .. } = &*inner;
        let security = if options.tls.is_some() { "with TLS" } else { "without encryption" };
        tracing::info!("server {} of {} listens at {address}, {security}", options.server, options.n_servers);
        Ok(Self { inner, runtime: Some(runtime), address, metrics, end })
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where the server answers questions for metrics.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics
    }

    /// The metrics, in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        self.inner.metrics_text()
    }

    /// Writes a snapshot now, unless nothing has changed since the last one.
    ///
    /// # Errors
    /// Fails if there is no folder for snapshots, or if the file cannot be written.
    pub fn snapshot(&self) -> Result<()> {
        self.inner.snapshot()
    }

    /// Waits until all workers have left.
    ///
    /// # Errors
    /// Fails if the workers do not come or do not return, if an update fails, or if a snapshot cannot be written.
    pub fn wait(mut self) -> Result<()> {
        let Some(runtime) = self.runtime.take() else { return Ok(()) };
        let (mut end, (sender, receiver)) = (self.end.clone(), mpsc::channel());
        runtime.spawn(async move {
            let result = end.wait_for(Option::is_some).await.map(|end| end.clone());
            drop(sender.send(result.ok().flatten()));
        });
        let result = receiver.recv().ok().flatten().unwrap_or_else(|| Err(ended()));
        // The last answers may still be on their way, so they get some time before the threads end.
        std::thread::sleep(TICK);
        runtime.shutdown_background();
        result
    }
}

/// The error if the threads of the server have ended before it, which only a panic can cause.
fn ended() -> Error {
    network(io::ErrorKind::BrokenPipe, "the threads of the server have ended".to_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn check(options: &ServerOptions) -> Result<()> {
    if options.server >= options.n_servers || options.n_servers > u32::MAX as usize {
        let expected = format!("a number from 0 below {}", options.n_servers);
        return Err(Error::invalid("number of a server", options.server, expected));
    }
    if options.n_workers == 0 || options.n_workers > 1 << 20 {
        return Err(Error::invalid("number of workers", options.n_workers, "1 to 1048576"));
    }
    if options.pending_bytes.div_ceil(UNIT) > Semaphore::MAX_PERMITS {
        return Err(Error::invalid("most bytes of waiting gradients", options.pending_bytes, "a smaller number"));
    }
    Ok(())
}

type Listening = (SocketAddr, Option<SocketAddr>, channel::Receiver<Option<Result<()>>>);

/// Listens, and starts the tasks of the server.
async fn listen(inner: &Arc<Inner>, tls: Option<Arc<rustls::ServerConfig>>) -> Result<Listening> {
    let listener = bind(&inner.options.listen).await?;
    let address = listener.local_addr().map_err(|error| Error::from_io(&error))?;
    let (ended, end) = channel::channel(None);
    let counter = Arc::clone(inner);
    let connections = wire::accept(listener, tls, move || count(&counter.metrics.refused_connections, 1));
    tokio::spawn(service::serve(Arc::clone(inner), connections, end.clone()));
    let mut metrics = None;
    if let Some(at) = &inner.options.metrics {
        let listener = bind(at).await?;
        metrics = Some(listener.local_addr().map_err(|error| Error::from_io(&error))?);
        tokio::spawn(service::serve_metrics(Arc::clone(inner), wire::accept(listener, None, || {})));
    }
    tokio::spawn(watch::watch(Arc::clone(inner), ended));
    if inner.options.snapshots.is_some() {
        tokio::spawn(snapshot::repeat(Arc::clone(inner)));
    }
    Ok((address, metrics, end))
}

async fn bind(address: &str) -> Result<TcpListener> {
    wire::host_and_port(address)?;
    let listener = TcpListener::bind(address).await;
    listener.map_err(|error| Error::from_io(&error).context(format!("listening at {address}")))
}

/// An error of this server as the status of a request.
fn failed(error: Error) -> Status {
    Status::failed_precondition(error.to_string())
}

impl Inner {
    /// Counts and logs a refused request.
    fn refused(&self, peer: Option<&Peer>, status: Status) -> Status {
        count(&self.metrics.refused_requests, 1);
        let from = peer.map_or_else(|| "an unknown peer".to_owned(), |peer| peer.address.to_string());
        tracing::debug!("refused a request from {from}: {}", status.message());
        status
    }

    fn reply_head(&self, version: u64, in_snapshot: u64) -> ReplyHead {
        let n_snapshots = self.state.lock().n_complete;
        ReplyHead { incarnation: self.incarnation, n_snapshots, in_snapshot, version, n_bytes: 0 }
    }

    /// Runs a function that waits for arrays or files.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        f: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T, Status> {
        let inner = Arc::clone(self);
        let result = tokio::task::spawn_blocking(move || f(&inner)).await;
        result.map_err(|error| Status::internal(error.to_string()))?.map_err(failed)
    }

    /// Waits until there is room for this number of bytes. A larger value than all the room takes all of it.
    async fn room_in(&self, room: &Arc<Semaphore>, n_bytes: usize) -> Result<OwnedSemaphorePermit, Status> {
        let all = self.options.pending_bytes.div_ceil(UNIT).max(1);
        let n_units = u32::try_from(n_bytes.div_ceil(UNIT).clamp(1, all)).unwrap_or(u32::MAX);
        let permit = Arc::clone(room).acquire_many_owned(n_units);
        let late = |_| Status::resource_exhausted("the server has had no room for this value for too long");
        let permit = tokio::time::timeout(self.options.patience, permit).await.map_err(late)?;
        permit.map_err(|error| Status::unavailable(error.to_string()))
    }

    /// The bytes of gradients that wait for their update.
    fn n_pending(&self) -> u64 {
        let all = self.options.pending_bytes.div_ceil(UNIT).max(1);
        (all.saturating_sub(self.pending.available_permits()) * UNIT) as u64
    }

    /// Waits until no worker is too far behind, if staleness is bounded.
    async fn wait_for_slow(&self, about: &About, session: u64) -> Result<(), Status> {
        let Some(bound) = self.options.staleness else { return Ok(()) };
        let since = Instant::now();
        loop {
            let changed = self.changed.notified();
            {
                let mut state = self.state.lock();
                let rank = state.session(session)?.rank;
                let Some(kept) = state.keys.get(&about.key) else { return Ok(()) };
                let own = kept.clocks.get(rank).copied().unwrap_or(0);
                if state.slowest_clock(kept).is_none_or(|slowest| own.saturating_sub(slowest) <= bound) {
                    return Ok(());
                }
            }
            if since.elapsed() > self.options.patience {
                let key = &about.key;
                return Err(Status::deadline_exceeded(format!("the other workers do not push key {key} as often")));
            }
            // The wait has a time limit for two reasons: a notification may come between the check and the wait, and a lost
            // worker causes no notification.
            drop(tokio::time::timeout(TICK, changed).await);
        }
    }

    fn metrics_text(&self) -> String {
        let gauges = self.state.lock().gauges(self.n_pending());
        self.metrics.text(self.options.server, &gauges)
    }

    fn updater_states(&self) -> Result<Vec<u8>> {
        // The lock is released before the states are computed.
        let read = self.state.lock().updater.as_ref().map(|(_, updater)| updater.states()).transpose()?;
        read.map_or_else(|| Ok(Vec::new()), |read| read())
    }

    fn set_updater_states(&self, states: &[u8]) -> Result<()> {
        let mut state = self.state.lock();
        let served = state.served();
        let Some((_, updater)) = &mut state.updater else {
            return Err(Error::invalid("states of the updater", "states", "a call of set_updater before"));
        };
        updater.set_states(&served, states)?;
        state.are_states_given = true;
        state.n_changes += 1;
        Ok(())
    }
}
