//! A worker: its connections to all servers.
//!
//! `link.rs` is the connection to one server, `transfer.rs` moves values, `gate.rs` orders requests by priority, `tries.rs`
//! counts failures. `replay.rs` and `collections.rs` keep what a server may lose.

mod collections;
mod gate;
mod link;
mod replay;
mod transfer;
mod tries;

use crate::messages::{
    AwaitStates, Collect, Head, KeyPart, KeyText, NextCollection, Question, SetUpdater, Snapshot, Verb, code_fields,
};
use crate::tls::TlsFiles;
use crate::wire::{Connector, network};
use collections::Collections;
use link::Link;
use mxrs_kvstore::UpdaterSettings;
use mxrs_kvstore::served::{Part, Reply, Request, ServedKey, Servers};
use mxrs_sync::Mutex;
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_types::{Error, Result};
use prost::bytes::Bytes;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How a worker uses servers.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The number of this worker, from 0.
    pub rank: usize,
    /// The number of workers.
    pub n_workers: usize,
    /// The servers by number, each as `host:port`.
    pub servers: Vec<String>,
    /// The identity of the worker. Without it, messages are not encrypted.
    pub tls: Option<TlsFiles>,
    /// The secret of the job; empty for none.
    pub token: String,
    /// The time between two signs of life; `None` means that none are sent.
    pub heartbeat: Option<Duration>,
    /// The time without an answer to a sign of life after which the connection counts as lost.
    pub silence: Duration,
    /// The longest wait for a server that does not answer.
    pub patience: Duration,
    /// The most requests that are on their way to one server. Further requests wait, and the most urgent one is sent first.
    pub window: usize,
    /// The most bytes of pushes that are kept, to be sent again to servers that are restored from a snapshot.
    pub replay_bytes: usize,
}

impl Default for WorkerOptions {
    /// One worker and no server.
    fn default() -> Self {
        Self {
            rank: 0,
            n_workers: 1,
            servers: Vec::new(),
            tls: None,
            token: String::new(),
            heartbeat: Some(Duration::from_secs(5)),
            silence: Duration::from_secs(30),
            patience: Duration::from_secs(300),
            window: 4,
            replay_bytes: 256 << 20,
        }
    }
}

/// What the connections of a worker share.
pub struct Worker {
    options: WorkerOptions,
    /// A random number that identifies this process to the servers.
    session: u64,
    collections: Mutex<Collections>,
    /// The updater that the servers have. It is sent again to servers that are started again.
    updater: Mutex<Option<SetUpdater>>,
    /// Whether this worker has failed. If so, it does not report to the servers that it has ended.
    has_failed: AtomicBool,
}

/// The servers of a training, reached by gRPC. Dropping it reports to the servers that this worker has ended, unless the
/// worker has failed.
pub struct GrpcServers {
    worker: Arc<Worker>,
    links: Vec<Arc<Link>>,
    /// Locked while a collection is made, because all workers must make collections in the same order.
    collecting: Mutex<()>,
    runtime: Option<tokio::runtime::Runtime>,
}

impl GrpcServers {
    /// Connects to all servers.
    ///
    /// # Errors
    /// Fails if a server does not answer in time, if it refuses this worker, or if a file for TLS cannot be used.
    pub fn connect(options: WorkerOptions) -> Result<Self> {
        if options.servers.is_empty() {
            return Err(Error::invalid("servers of the store", "none", "at least one, as host:port"));
        }
        if options.rank >= options.n_workers {
            let expected = format!("a number from 0 below {}", options.n_workers);
            return Err(Error::invalid("rank of a worker", options.rank, expected));
        }
        let tls = options.tls.as_ref().map(TlsFiles::client).transpose()?;
        let limit = options.silence.min(options.patience);
        let connectors = options.servers.iter().map(|address| Connector::new(address, tls.as_ref(), limit));
        let connectors = connectors.collect::<Result<Vec<_>>>()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("mxrs-worker")
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Error::from_io(&error).context("starting the threads that communicate"))?;
        let worker = Arc::new(Worker {
            options,
            session: crate::random_number()?,
            collections: Mutex::default(),
            updater: Mutex::default(),
            has_failed: AtomicBool::new(false),
        });
        let addressed = worker.options.servers.iter().zip(connectors).enumerate();
        let links = addressed.map(|(server, (address, connector))| Link::new(server, address, connector, &worker));
        let links = links.collect();
        let servers = Self { worker, links, collecting: Mutex::new(()), runtime: Some(runtime) };
        servers.on_all(|link| async move { link.open().await.map(drop) })?;
        if let Some(interval) = servers.worker.options.heartbeat {
            servers.links.iter().for_each(|link| drop(servers.spawn(Arc::clone(link).beat(interval))));
        }
        let (rank, n_servers) = (servers.rank(), servers.n_servers());
        tracing::info!("worker {rank} of {}, connected by gRPC to {n_servers} servers", servers.n_workers());
        Ok(servers)
    }

    /// Asks all servers for a snapshot now.
    ///
    /// # Errors
    /// Fails if a server has no folder for snapshots or cannot write it, or if a server is lost.
    pub fn snapshot(&self) -> Result<()> {
        let session = self.worker.session;
        self.on_all(move |link| async move { link.ask(Question::Snapshot(Snapshot { session })).await.map(drop) })?;
        Ok(())
    }

    fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Option<tokio::task::JoinHandle<T>> {
        self.runtime.as_ref().map(|runtime| runtime.spawn(future))
    }

    /// Runs a future on the threads of this worker, and waits for it. The caller may be a thread of another runtime.
    fn wait<T: Send + 'static>(&self, future: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
        let (sender, receiver) = std::sync::mpsc::channel();
        drop(self.spawn(async move { drop(sender.send(future.await)) }));
        receiver.recv().unwrap_or_else(|_| Err(gone()))
    }

    /// Runs a future for each server at the same time. Returns the results by server, or the first error.
    fn on_all<T, F>(&self, run: impl Fn(Arc<Link>) -> F) -> Result<Vec<T>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let (sender, receiver) = std::sync::mpsc::channel();
        for (server, link) in self.links.iter().enumerate() {
            let (sender, future) = (sender.clone(), run(Arc::clone(link)));
            drop(self.spawn(async move { drop(sender.send((server, future.await))) }));
        }
        drop(sender);
        let mut results = Vec::with_capacity(self.links.len());
        for (server, result) in receiver {
            results.push((server, result?));
        }
        if results.len() < self.links.len() {
            return Err(gone());
        }
        results.sort_by_key(|(server, _)| *server);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    /// The number of the next collection. If this process has made none, server 0 knows the number.
    fn next_collection(&self, link: &Arc<Link>) -> Result<u64> {
        let progress = self.worker.collections.lock().progress();
        if let Some(progress) = progress {
            return Ok(progress.next);
        }
        let (link, session) = (Arc::clone(link), self.worker.session);
        let question = Question::NextCollection(NextCollection { session });
        let number = self.wait(async move { link.ask(question).await })?.next_collect;
        self.worker.collections.lock().begin_at(number);
        Ok(number)
    }

    fn link(&self, part: &Part) -> Result<Arc<Link>> {
        let unknown =
            || Error::invalid("number of a server", part.server, format!("a number below {}", self.links.len()));
        self.links.get(part.server).cloned().ok_or_else(unknown)
    }
}

fn gone() -> Error {
    network(io::ErrorKind::BrokenPipe, "the threads that communicate with the servers have ended".to_owned())
}

fn head(verb: Verb, key: &ServedKey, part: &Part) -> Head {
    let described = KeyPart {
        key: Some(KeyText::from(&key.key)),
        number: key.number,
        shape: key.shape.iter().map(|axis| *axis as u64).collect(),
        dtype: key.dtype.flag(),
        begin: part.elements.start as u64,
        end: part.elements.end as u64,
    };
    Head { verb: verb.into(), key: Some(described), ..Head::default() }
}

impl Servers for GrpcServers {
    fn rank(&self) -> usize {
        self.worker.options.rank
    }

    fn n_workers(&self) -> usize {
        self.worker.options.n_workers
    }

    fn n_servers(&self) -> usize {
        self.links.len()
    }

    fn init(&self, key: &Arc<ServedKey>, value: Option<Vec<u8>>) -> Result<()> {
        let value = value.map(Bytes::from);
        let size = key.dtype.size_of();
        let mut transfers = Vec::with_capacity(key.parts.len());
        for part in key.parts.iter() {
            let range = part.elements.start * size..part.elements.end * size;
            let bytes = value.as_ref().map_or_else(Bytes::new, |value| value.slice(range));
            let (link, head) = (self.link(part)?, head(Verb::Init, key, part));
            transfers.push(async move { link.transfer(head, bytes, 0, 0).await });
        }
        self.wait(async move {
            for transfer in transfers {
                transfer.await?;
            }
            Ok(())
        })
    }

    fn exchange(&self, request: Request, reply: Reply) {
        let Request { key, gradient, compression, wants_value, priority } = request;
        let verb = if gradient.is_some() { Verb::Push } else { Verb::Pull };
        let (code_bits, threshold) = code_fields(compression);
        let mut gradients = gradient.into_iter().flatten();
        let mut transfers = Vec::with_capacity(key.parts.len());
        for part in key.parts.iter() {
            let bytes = gradients.next().map_or_else(Bytes::new, Bytes::from);
            let head = Head { code_bits, threshold, wants_value, ..head(verb, &key, part) };
            let expected = if wants_value { key.part_bytes(part) } else { 0 };
            match self.link(part) {
                Ok(link) => transfers.push((link, head, bytes, expected)),
                Err(error) => return reply(Err(error)),
            }
        }
        // If the runtime does not run this task, it drops `reply`, and this fails the task of the engine.
        drop(self.spawn(async move {
            let start = |(link, head, bytes, expected): (Arc<Link>, Head, Bytes, usize)| {
                tokio::spawn(async move { link.transfer(head, bytes, expected, priority).await })
            };
            let started: Vec<_> = transfers.into_iter().map(start).collect();
            let mut parts = Ok(Vec::with_capacity(started.len()));
            for transfer in started {
                let value = transfer.await.unwrap_or_else(|_| Err(gone()));
                parts = parts.and_then(|mut parts: Vec<Vec<u8>>| {
                    parts.push(value?);
                    Ok(parts)
                });
            }
            reply(parts);
        }));
    }

    fn set_updater(&self, settings: &UpdaterSettings) -> Result<()> {
        let set = SetUpdater::new(self.worker.session, settings);
        self.on_all(|link| {
            let question = Question::Updater(set.clone());
            async move { link.ask(question).await.map(drop) }
        })?;
        *self.worker.updater.lock() = Some(set);
        Ok(())
    }

    fn collect(&self, bytes: &[u8], to_all: bool) -> Result<Option<Vec<Vec<u8>>>> {
        if bytes.len() > crate::limits::CALL_BYTES {
            let got = format!("{} bytes", bytes.len());
            return Err(Error::invalid("bytes for all workers", got, "at most 1 MiB in a store with servers"));
        }
        let Some(link) = self.links.first().cloned() else { return Err(gone()) };
        let _order = self.collecting.lock();
        let number = self.next_collection(&link)?;
        let bytes = Bytes::copy_from_slice(bytes);
        let collect = Collect { session: self.worker.session, number, to_all, bytes, again: false };
        let question = Question::Collect(collect.clone());
        let reply = self.wait(async move { link.ask(question).await })?;
        let is_given = to_all || self.rank() == 0;
        self.worker.collections.lock().done(collect, is_given);
        Ok(is_given.then(|| reply.collected.iter().map(|bytes| bytes.to_vec()).collect()))
    }

    fn updater_states(&self) -> Result<Vec<Vec<u8>>> {
        let head = Head { verb: Verb::GetStates.into(), ..Head::default() };
        self.on_all(|link| {
            let head = head.clone();
            async move { link.transfer(head, Bytes::new(), transfer::ANY, 0).await }
        })
    }

    fn set_updater_states(&self, states: &[u8]) -> Result<()> {
        let (states, head) = (Bytes::copy_from_slice(states), Head { verb: Verb::SetStates.into(), ..Head::default() });
        self.on_all(|link| {
            let (head, states) = (head.clone(), states.clone());
            async move { link.transfer(head, states, 0, 0).await.map(drop) }
        })?;
        Ok(())
    }

    fn wait_for_updater_states(&self) -> Result<()> {
        let session = self.worker.session;
        self.on_all(
            move |link| async move { link.ask(Question::AwaitStates(AwaitStates { session })).await.map(drop) },
        )?;
        Ok(())
    }

    fn fail(&self) {
        self.worker.has_failed.store(true, Ordering::Relaxed);
    }
}

impl Drop for GrpcServers {
    fn drop(&mut self) {
        // A worker that has failed does not say that it leaves: servers shall wait for it, because it may be started again.
        if !self.worker.has_failed.load(Ordering::Relaxed) && !std::thread::panicking() {
            let left = self.on_all(|link| async move {
                link.leave().await;
                Ok(())
            });
            if let Err(error) = left {
                tracing::debug!("leaving the servers: {error}");
            }
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
