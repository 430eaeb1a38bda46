//! Answers to questions: a worker joins, is alive, sets the updater, gives bytes to a collection, asks for a snapshot or the
//! number of its next collection, waits for the states of the updater, leaves.

use super::read::{check_settings, invalid};
use super::state::{Session, State};
use super::{Inner, TICK};
use crate::limits;
use crate::messages::{Applied, CallReply, CallRequest, Collect, Join, Progress, Question, SetUpdater, VERSION};
use crate::tls::names_worker;
use crate::wire::Peer;
use mxrs_kvstore::UpdaterSettings;
use mxrs_types::Error;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tonic::{Request, Response, Status};

/// Handles the gRPC method `Call`.
pub struct Handler(pub Arc<Inner>);

impl tonic::server::UnaryService<CallRequest> for Handler {
    type Response = CallReply;
    type Future = Pin<Box<dyn Future<Output = Result<Response<CallReply>, Status>> + Send>>;

    fn call(&mut self, request: Request<CallRequest>) -> Self::Future {
        let server = Arc::clone(&self.0);
        Box::pin(async move {
            let peer = request.extensions().get::<Peer>().cloned();
            let result = answer(&server, request.into_inner(), peer.as_ref()).await;
            result.map(Response::new).map_err(|status| server.refused(peer.as_ref(), status))
        })
    }
}

async fn answer(server: &Arc<Inner>, request: CallRequest, peer: Option<&Peer>) -> Result<CallReply, Status> {
    match request.question {
        Some(Question::Join(join)) => server.join(&join, peer),
        Some(Question::Beat(beat)) => {
            server.state.lock().session(beat.session)?;
            Ok(server.call_reply())
        }
        Some(Question::Updater(updater)) => {
            check_settings(&updater)?;
            server.state.lock().session(updater.session)?;
            // Making an updater takes memory and may wait for states, so it runs on a thread that may block.
            server.blocking(move |server| Ok(server.set_updater(&updater))).await??;
            Ok(server.call_reply())
        }
        Some(Question::Collect(collect)) => server.collect(collect).await,
        Some(Question::Snapshot(snapshot)) => {
            server.state.lock().session(snapshot.session)?;
            server.blocking(|server| server.snapshot()).await?;
            Ok(server.call_reply())
        }
        Some(Question::Leave(leave)) => {
            // A server that has failed accepts the end of a worker, too.
            let has_failed = server.leave(leave.session);
            // Once it has ended, the worker cannot send its last pushes again. So the answer waits until a snapshot contains
            // them.
            if server.options.snapshots.is_some() && !has_failed {
                server.blocking(|server| server.snapshot()).await?;
            }
            Ok(server.call_reply())
        }
        Some(Question::NextCollection(next)) => {
            let next_collect = server.next_collection(next.session).await?;
            Ok(CallReply { next_collect, ..server.call_reply() })
        }
        Some(Question::AwaitStates(states)) => {
            let missing = || "worker 0 has not given the states of the updater, from which it resumes".to_owned();
            let ready = |state: &State| if state.has_states() { Ok(()) } else { Err(missing()) };
            server.wait_until(states.session, ready).await?;
            Ok(server.call_reply())
        }
        None => Err(invalid("question", "none", "one of the known kinds")),
    }
}

impl Inner {
    fn call_reply(&self) -> CallReply {
        let n_snapshots = self.state.lock().n_complete;
        CallReply { incarnation: self.incarnation, n_snapshots, ..CallReply::default() }
    }

    /// Lets a worker join. A worker that joins again after a lost connection keeps its session.
    fn join(&self, join: &Join, peer: Option<&Peer>) -> Result<CallReply, Status> {
        let options = &self.options;
        if join.version != VERSION {
            return Err(invalid("version of the protocol", join.version, &format!("{VERSION}, that of the server")));
        }
        if !is_equal(join.token.as_bytes(), options.token.as_bytes()) {
            return Err(Status::unauthenticated(
                "the worker does not know the token of this job (MXRS_KVSTORE_TOKEN_FILE)",
            ));
        }
        let is_other = |what: &str, got: u32, own: usize| {
            let own_text = format!("{own}, as server {} was started for", options.server);
            (got as usize != own).then(|| invalid(what, got, &own_text))
        };
        let refused = is_other("number of workers (DMLC_NUM_WORKER)", join.n_workers, options.n_workers)
            .or_else(|| is_other("number of servers (DMLC_NUM_SERVER)", join.n_servers, options.n_servers))
            .or_else(|| is_other("number of the server", join.server, options.server));
        let rank = join.rank as usize;
        if let Some(status) = refused {
            tracing::warn!("refused worker {rank}: {}", status.message());
            return Err(status);
        }
        if rank >= options.n_workers {
            return Err(invalid("rank of a worker", rank, &format!("a number from 0 below {}", options.n_workers)));
        }
        let certificate = peer.and_then(|peer| peer.certificate.as_ref());
        if options.tls.is_some() && !certificate.is_some_and(|certificate| names_worker(certificate, rank)) {
            let message = format!("the certificate of worker {rank} names neither `worker` nor `worker-{rank}`");
            tracing::warn!("{message}");
            return Err(Status::permission_denied(message));
        }
        let applied = self.add_session(join.session, rank, join.progress)?;
        self.changed.notify_waiters();
        let keeps_snapshots = options.snapshots.is_some();
        Ok(CallReply { keeps_snapshots, applied, ..self.call_reply() })
    }

    /// Adds the session, or finds it if the worker joins again. Returns the last push of the session that was applied to
    /// each key.
    fn add_session(&self, number: u64, rank: usize, progress: Option<Progress>) -> Result<Vec<Applied>, Status> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        state.check()?;
        if state.sessions.get(&number).is_some_and(|session| session.rank != rank) {
            return Err(invalid("session of a worker", "that of another worker", "one of its own"));
        }
        if !state.sessions.contains_key(&number) {
            let before = state.by_rank.get(rank).copied().flatten();
            match before.and_then(|before| state.sessions.get(&before)) {
                None => tracing::info!("worker {rank} has joined"),
                Some(_) => {
                    tracing::info!("worker {rank} was started again");
                    // The clocks of the new process begin at those of the slowest other worker, so that the others do not
                    // wait until it has caught up.
                    let slowest: Vec<u64> =
                        state.keys.values().map(|kept| state.slowest_clock(kept).unwrap_or(0)).collect();
                    for (kept, slowest) in state.keys.values_mut().zip(slowest) {
                        if let Some(clock) = kept.clocks.get_mut(rank) {
                            *clock = slowest.max(*clock);
                        }
                    }
                }
            }
            // A session that was replaced by a new one sends no more pushes, so their numbers are not needed. The session is
            // kept for an error message.
            if let Some(old) = before.and_then(|before| state.sessions.get_mut(&before)) {
                old.pushes.clear();
            }
            let is_current = |number: &u64, session: &Session| state.by_rank.get(session.rank) == Some(&Some(*number));
            if state.sessions.len() > 16 * state.by_rank.len().max(64) {
                let stale: Vec<u64> =
                    state.sessions.iter().filter(|(n, s)| !is_current(n, s)).map(|(number, _)| *number).collect();
                stale.iter().for_each(|number| drop(state.sessions.remove(number)));
            }
            state.sessions.insert(number, Session::new(rank));
            if let Some(place) = state.by_rank.get_mut(rank) {
                *place = Some(number);
            }
        }
        if let Some(session) = state.sessions.get_mut(&number) {
            (session.joined, session.left, session.progress) = (true, false, progress);
        }
        let session = state.session(number)?;
        Ok(session.pushes.iter().map(|(key, push)| Applied { key: Some(key.into()), push: *push }).collect())
    }

    /// Notes that a worker needs the server no more. Returns whether the server has failed.
    fn leave(&self, session: u64) -> bool {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        if let Some(session) = state.sessions.get_mut(&session) {
            session.left = true;
            state.n_changes += 1;
            tracing::info!("worker {} has left", session.rank);
        }
        let has_failed = state.fault.is_some();
        drop(guard);
        self.changed.notify_waiters();
        has_failed
    }

    /// Sets the updater. The first worker that sends settings creates it. Later, worker 0 may change settings. The settings
    /// of other workers must be equal, except for settings that change in the course of a training.
    fn set_updater(&self, updater: &SetUpdater) -> Result<(), Status> {
        let settings = updater.settings();
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let rank = state.session(updater.session)?.rank;
        match &mut state.updater {
            None => {
                let made = (self.make_updater)(&settings).map_err(|error| refused_settings(&error, rank))?;
                tracing::info!("values are updated by {}", settings.name);
                state.updater = Some((settings, made));
                state.n_changes += 1;
            }
            Some((known, _)) if *known == settings => {}
            Some((known, made)) if rank == 0 => {
                made.set_settings(&settings).map_err(|error| refused_settings(&error, rank))?;
                *known = settings;
                state.n_changes += 1;
            }
            Some((known, _)) if is_same_rule(known, &settings) => {
                tracing::info!("worker {rank} has other settings of {}; those of worker 0 count", known.name);
            }
            Some((known, _)) => {
                let is_constant = |pair: &&(String, String)| !MOVING.contains(&pair.0.as_str());
                let other = known.settings.iter().filter(is_constant).find(|pair| !settings.settings.contains(pair));
                let expected = other.map_or_else(|| known.name.clone(), |(name, value)| format!("{name}={value}"));
                let got = settings.settings.iter().filter(is_constant).find(|pair| !known.settings.contains(pair));
                let got = got.map_or_else(|| settings.name.clone(), |(name, value)| format!("{name}={value}"));
                let what = format!("updater of worker {rank}");
                return Err(invalid(&what, got, &format!("{expected}, as the servers have")));
            }
        }
        Ok(())
    }

    /// Waits until `ready` returns a value. Its error says what is missing, and is the answer after the patience of the server.
    async fn wait_until<T>(&self, session: u64, ready: impl Fn(&State) -> Result<T, String>) -> Result<T, Status> {
        let since = Instant::now();
        loop {
            let changed = self.changed.notified();
            let missing = {
                let mut state = self.state.lock();
                state.session(session)?;
                match ready(&state) {
                    Ok(value) => return Ok(value),
                    Err(missing) => missing,
                }
            };
            if since.elapsed() > self.options.patience {
                return Err(Status::deadline_exceeded(missing));
            }
            drop(tokio::time::timeout(TICK, changed).await);
        }
    }

    /// The number of the collection in which a worker that was just started takes part next. If this server was started again,
    /// it knows the number only from the other workers, so it waits until all have joined.
    async fn next_collection(&self, session: u64) -> Result<u64, Status> {
        let first_open = self.wait_until(session, |state| match state.away().as_slice() {
            [] => Ok(state.first_open()),
            away => {
                let away: Vec<String> = away.iter().map(usize::to_string).collect();
                Err(format!("workers {} have not joined", away.join(", ")))
            }
        });
        let first_open = first_open.await?;
        let rank = self.state.lock().session(session)?.rank;
        Ok(self.collections.lock().next(rank, first_open))
    }

    async fn collect(&self, collect: Collect) -> Result<CallReply, Status> {
        let n_workers = self.options.n_workers;
        let rank = self.state.lock().session(collect.session)?.rank;
        if collect.bytes.len() > limits::CALL_BYTES {
            return Err(Status::resource_exhausted(format!("{} bytes for a collection", collect.bytes.len())));
        }
        self.collections.lock().give(collect.number, rank, n_workers, collect.bytes)?;
        self.changed.notify_waiters();
        if collect.again || (!collect.to_all && rank != 0) {
            return Ok(self.call_reply());
        }
        let since = Instant::now();
        loop {
            let changed = self.changed.notified();
            self.state.lock().session(collect.session)?;
            {
                let all = self.collections.lock();
                if let Some(collected) = all.result(collect.number) {
                    drop(all);
                    return Ok(CallReply { collected, ..self.call_reply() });
                }
                if since.elapsed() > self.options.patience {
                    let missing: Vec<String> = all.missing(collect.number).iter().map(usize::to_string).collect();
                    let missing = missing.join(", ");
                    return Err(Status::deadline_exceeded(format!("workers {missing} have not called the collection")));
                }
            }
            drop(tokio::time::timeout(TICK, changed).await);
        }
    }
}

fn refused_settings(error: &Error, rank: usize) -> Status {
    Status::invalid_argument(format!("updater of worker {rank}: {error}"))
}

/// Settings that change in the course of a training. They may differ between workers, because a worker that is started again
/// sends those of its start.
const MOVING: [&str; 6] = [
    "begin_epoch",
    "begin_num_update",
    "learning_rate",
    "lr_scheduler.counted_as",
    "lr_scheduler.counted_from",
    "rescale_grad",
];

/// Whether two updaters differ at most in settings that change in the course of a training.
fn is_same_rule(a: &UpdaterSettings, b: &UpdaterSettings) -> bool {
    let constant = |settings: &UpdaterSettings| {
        let pairs = settings.settings.iter().filter(|(name, _)| !MOVING.contains(&name.as_str()));
        pairs.cloned().collect::<BTreeSet<_>>()
    };
    a.name == b.name && constant(a) == constant(b)
}

/// Compares two secrets in a time that does not depend on where they differ.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}
