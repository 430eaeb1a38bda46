//! Transfers of values: first values, pushes, pulls, and states of the updater.

use super::metrics::count;
use super::read::{self, invalid};
use super::state::{About, Kept};
use super::{Inner, failed};
use crate::limits;
use crate::messages::{Frame, Head, ReplyFrame, ReplyHead, Verb};
use crate::wire::Peer;
use mxrs_kvstore::{Compression, Update, Value};
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Device};
use prost::bytes::Bytes;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio_stream::Stream;
use tonic::{Request, Response, Status, Streaming};

/// Handles the gRPC method `Transfer`.
pub struct Handler(pub Arc<Inner>);

/// The frames of an answer.
pub type Frames = Pin<Box<dyn Stream<Item = Result<ReplyFrame, Status>> + Send>>;

impl tonic::server::StreamingService<Frame> for Handler {
    type Response = ReplyFrame;
    type ResponseStream = Frames;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Frames>, Status>> + Send>>;

    fn call(&mut self, request: Request<Streaming<Frame>>) -> Self::Future {
        let server = Arc::clone(&self.0);
        Box::pin(async move {
            let peer = request.extensions().get::<Peer>().cloned();
            let result = transfer(&server, request.into_inner()).await;
            let Reply { head, value, room } = result.map_err(|status| server.refused(peer.as_ref(), status))?;
            count(&server.metrics.sent_bytes, value.len() as u64);
            Ok(Response::new(answer(head, value, room)))
        })
    }
}

/// The answer to a transfer.
struct Reply {
    head: ReplyHead,
    value: Bytes,
    /// The reserved room for a value that is being sent. It is released when the value is sent.
    room: Option<OwnedSemaphorePermit>,
}

impl Reply {
    /// An answer without a value.
    fn empty(head: ReplyHead) -> Self {
        Self { head, value: Bytes::new(), room: None }
    }
}

/// The frames that carry a value. The first frame also has the head.
fn answer(head: ReplyHead, value: Bytes, room: Option<OwnedSemaphorePermit>) -> Frames {
    let n_bytes = value.len();
    let frames = (0..n_bytes.max(1)).step_by(limits::FRAME_BYTES).map(move |begin| {
        let data = value.slice(begin..(begin + limits::FRAME_BYTES).min(n_bytes));
        let (head, _room) = ((begin == 0).then_some(ReplyHead { n_bytes: n_bytes as u64, ..head }), &room);
        Ok(ReplyFrame { head, data })
    });
    Box::pin(tokio_stream::iter(frames))
}

async fn transfer(server: &Arc<Inner>, mut stream: Streaming<Frame>) -> Result<Reply, Status> {
    let first = read::frame(&mut stream, server.options.silence).await?;
    let mut first = first.ok_or_else(|| invalid("stream", "no frame", "a frame with a head"))?;
    let head = first.head.take().ok_or_else(|| invalid("first frame", "no head", "a head"))?;
    server.state.lock().session(head.session)?;
    match Verb::try_from(head.verb) {
        Ok(Verb::Init) => init(server, &head, first, stream).await,
        Ok(Verb::Push) => push(server, &head, first, stream).await,
        Ok(Verb::Pull) => {
            let about = read::about(head.key.as_ref())?;
            server.wait_for_slow(&about, head.session).await?;
            read_value(server, &about, head.session, Of::Pull).await
        }
        Ok(Verb::GetStates) => {
            let states = server.blocking(|server| server.updater_states()).await?;
            let room = Some(server.room_in(&server.replies, states.len()).await?);
            Ok(Reply { head: server.reply_head(0, 0), value: Bytes::from(states), room })
        }
        Ok(Verb::SetStates) => {
            let (bytes, _permit) = receive(server, &head, first, stream, server.options.most_bytes, 0).await?;
            // Workers do not keep the states, so they could not send them again. The answer therefore waits until a snapshot
            // contains the states.
            let set = move |server: &Inner| {
                server.set_updater_states(&bytes)?;
                if server.options.snapshots.is_some() { server.snapshot() } else { Ok(()) }
            };
            server.blocking(set).await?;
            server.changed.notify_waiters();
            Ok(Reply::empty(server.reply_head(0, 0)))
        }
        Ok(Verb::Unknown) | Err(_) => Err(invalid("kind of a transfer", head.verb, "one of 1 to 5")),
    }
}

/// Receives the bytes of a stream once there is room for them, because the bytes that wait for their update are limited.
/// `decoded` is the size of the decoded gradient, if it is larger than its codes.
async fn receive(
    server: &Arc<Inner>,
    head: &Head,
    first: Frame,
    mut stream: Streaming<Frame>,
    most: usize,
    decoded: usize,
) -> Result<(Vec<u8>, OwnedSemaphorePermit), Status> {
    let n_bytes = usize::try_from(head.n_bytes).ok().filter(|n| *n <= most).ok_or_else(|| {
        let message = format!("value: got {} bytes, expected at most {most} bytes", head.n_bytes);
        Status::resource_exhausted(message)
    })?;
    let permit = server.room_in(&server.pending, n_bytes.max(decoded)).await?;
    let bytes = read::frames(first, &mut stream, n_bytes, server.options.silence).await?;
    count(&server.metrics.received_bytes, n_bytes as u64);
    Ok((bytes, permit))
}

/// Takes the first value of a key, or waits for it.
async fn init(server: &Arc<Inner>, head: &Head, first: Frame, stream: Streaming<Frame>) -> Result<Reply, Status> {
    let about = read::about(head.key.as_ref())?;
    let since = Instant::now();
    if head.n_bytes == 0 && about.n_bytes() > 0 {
        loop {
            let changed = server.changed.notified();
            let known = {
                let mut state = server.state.lock();
                state.session(head.session)?;
                state.keys.get(&about.key).map(|kept| kept.about.clone())
            };
            if let Some(known) = known {
                same(&about, &known)?;
                return Ok(server.has_first());
            }
            let left = server.options.patience.saturating_sub(since.elapsed());
            if left.is_zero() {
                let message = format!(
                    "worker 0 has not given the first value of key {}: all workers must train the same network",
                    about.key
                );
                return Err(Status::deadline_exceeded(message));
            }
            // The wait is short, because a notification may come between the check and the wait.
            drop(tokio::time::timeout(left.min(super::TICK), changed).await);
        }
    }
    if about.n_bytes() > server.options.most_bytes {
        let got = format!("{} bytes of key {}", about.n_bytes(), about.key);
        return Err(Status::resource_exhausted(format!("{got}, expected at most {}", server.options.most_bytes)));
    }
    if head.n_bytes != about.n_bytes() as u64 {
        let got = format!("{} bytes of key {}", head.n_bytes, about.key);
        return Err(invalid("first value", got, &format!("{} bytes", about.n_bytes())));
    }
    let known = server.state.lock().keys.get(&about.key).map(|kept| kept.about.clone());
    if let Some(known) = known {
        same(&about, &known)?;
        return Ok(server.has_first());
    }
    let (bytes, _permit) = receive(server, head, first, stream, about.n_bytes(), 0).await?;
    let value = server.array(&about, bytes).map_err(failed)?;
    let mut state = server.state.lock();
    state.session(head.session)?;
    let n_keys = state.keys.len();
    if n_keys >= limits::KEYS {
        return Err(Status::resource_exhausted(format!("{n_keys} keys, which is the most")));
    }
    let clocks = vec![0; server.options.n_workers];
    let key = about.key.clone();
    let kept = state.keys.entry(key).or_insert(Kept { about: about.clone(), value, version: 0, clocks });
    same(&about, &kept.about)?;
    state.n_changes += 1;
    drop(state);
    server.changed.notify_waiters();
    Ok(server.has_first())
}

/// Fails if the description of a key by a worker differs from the one that the server knows.
fn same(given: &About, known: &About) -> Result<(), Status> {
    if given == known {
        return Ok(());
    }
    let message = format!(
        "key {}: got {}, expected {}, as the first worker has: all workers must train the same network with the same settings",
        given.key,
        given.words(),
        known.words()
    );
    Err(Status::invalid_argument(message))
}

/// Applies a gradient once, however often it is sent.
async fn push(server: &Arc<Inner>, head: &Head, first: Frame, stream: Streaming<Frame>) -> Result<Reply, Status> {
    let about = read::about(head.key.as_ref())?;
    let compression = read::compression(head)?;
    server.known(&about)?;
    if compression.is_some() && about.dtype != DType::F32 {
        return Err(invalid("type of a compressed gradient", about.dtype, "float32"));
    }
    let n_bytes = compression.map_or(about.n_bytes(), |compression| compression.code_bytes(about.part.len()));
    if head.n_bytes != n_bytes as u64 {
        return Err(invalid(&format!("gradient of key {}", about.key), head.n_bytes, &format!("{n_bytes} bytes")));
    }
    if head.push == 0 {
        return Err(invalid("number of a push", 0, "a number from 1"));
    }
    let (bytes, permit) = receive(server, head, first, stream, n_bytes, about.n_bytes()).await?;
    let since = Instant::now();
    let bytes = match compression {
        None => bytes,
        Some(compression) => decoded(compression, &bytes, about.part.len()),
    };
    let in_snapshot = apply(server, head, &about, bytes)?;
    server.changed.notify_waiters();
    // With bounded staleness, the value may be sent only after pushes of other workers. They need the room of this push, so
    // it is released once the update is applied.
    let waits = head.wants_value && server.options.staleness.is_some();
    let of = if waits || !head.wants_value { Of::Update { in_snapshot } } else { Of::UpdateAndValue { in_snapshot } };
    let reply = read_value(server, &about, head.session, of).await?;
    count(&server.metrics.update_ns, u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX));
    drop(permit);
    if !waits {
        return Ok(reply);
    }
    server.wait_for_slow(&about, head.session).await?;
    read_value(server, &about, head.session, Of::UpdateAndValue { in_snapshot }).await
}

/// The float32 elements that codes mean, as bytes.
fn decoded(compression: Compression, codes: &[u8], n_elements: usize) -> Vec<u8> {
    let mut values = vec![0f32; n_elements];
    compression.decode(codes, &mut values);
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

/// Pushes the tasks of an update, unless this push was applied before. Returns the number of the first snapshot with it.
fn apply(server: &Inner, head: &Head, about: &About, bytes: Vec<u8>) -> Result<u64, Status> {
    let mut guard = server.state.lock();
    let state = &mut *guard;
    let session = state.session(head.session)?;
    let rank = session.rank;
    let last = session.pushes.get(&about.key).copied().unwrap_or(0);
    if head.push <= last {
        count(&server.metrics.duplicates, 1);
        return Ok(state.n_begun + 1);
    }
    let Some(kept) = state.keys.get(&about.key) else { return Err(Status::not_found(format!("key {}", about.key))) };
    let stored = kept.value.clone();
    let Some((_, updater)) = &mut state.updater else {
        return Err(Status::failed_precondition("no worker has set the updater, and servers do not assign values"));
    };
    let sum = server.array(about, bytes).map_err(failed)?;
    let part = (!about.is_whole()).then(|| about.part.clone());
    let update = Update { key: about.key.clone(), sum: Value::Dense(sum), stored, part, priority: 0 };
    if let Err(error) = updater.update(&[update]) {
        let error = error.context(format!("updating key {} on server {}", about.key, server.options.server));
        state.fail(error.clone());
        return Err(failed(error));
    }
    if let Some(session) = state.sessions.get_mut(&head.session) {
        session.pushes.insert(about.key.clone(), head.push);
    }
    if let Some(kept) = state.keys.get_mut(&about.key) {
        server.metrics.stale(kept.version.saturating_sub(head.base_version));
        kept.version += 1;
        if let Some(clock) = kept.clocks.get_mut(rank) {
            *clock += 1;
        }
    }
    state.n_updates += 1;
    state.n_changes += 1;
    count(&server.metrics.updates, 1);
    if state.n_updates == 1 {
        // The first snapshot is written soon after the first update, so that there is one early.
        server.snapshot_now.notify_one();
    }
    Ok(state.n_begun + 1)
}

/// Why a value is read: for a pull, to answer a push, or to answer a push with the value. `in_snapshot` is the number of the
/// first snapshot that will contain the update.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Pull,
    Update { in_snapshot: u64 },
    UpdateAndValue { in_snapshot: u64 },
}

/// Waits until all earlier updates of a value are applied, and returns the value, if it is wanted.
async fn read_value(server: &Arc<Inner>, about: &About, session: u64, of: Of) -> Result<Reply, Status> {
    let (in_snapshot, is_wanted) = match of {
        Of::Pull => (0, true),
        Of::Update { in_snapshot } => (in_snapshot, false),
        Of::UpdateAndValue { in_snapshot } => (in_snapshot, true),
    };
    let room = if is_wanted { Some(server.room_in(&server.replies, about.n_bytes()).await?) } else { None };
    let (sender, receiver) = oneshot::channel();
    let (value, head) = {
        let mut state = server.state.lock();
        state.session(session)?;
        let Some(kept) = state.keys.get(&about.key) else {
            return Err(Status::not_found(format!("key {}", about.key)));
        };
        if of == Of::Pull {
            same(about, &kept.about)?;
        }
        let take = move |bytes: &[&[u8]]| {
            let value = if is_wanted { bytes.concat() } else { Vec::new() };
            // If there is no receiver, the worker is gone.
            drop(sender.send(value));
        };
        NdArray::read_later(&[&kept.value], take).map_err(failed)?;
        let head = ReplyHead {
            incarnation: server.incarnation,
            n_snapshots: state.n_complete,
            in_snapshot,
            version: kept.version,
            n_bytes: 0,
        };
        (kept.value.clone(), head)
    };
    if is_wanted {
        count(&server.metrics.pulls, 1);
    }
    match receiver.await {
        Ok(bytes) => Ok(Reply { head, value: Bytes::from(bytes), room }),
        Err(_) => {
            let why = server.blocking(move |server| {
                let error = value.wait_to_read().err();
                let error = error.unwrap_or_else(|| mxrs_types::Error::invalid("value", "a skipped task", "an update"));
                server.state.lock().fail(error.clone());
                Err::<(), _>(error)
            });
            why.await?;
            Err(Status::internal("a task was skipped"))
        }
    }
}

impl Inner {
    /// An array of host memory with these bytes. The engine copies them.
    fn array(&self, about: &About, bytes: Vec<u8>) -> mxrs_types::Result<NdArray> {
        let array = NdArray::empty(&self.context, about.own_shape(), about.dtype, Device::cpu(0), "kvstore")?;
        array.copy_from_owned(bytes)?;
        Ok(array)
    }

    /// The answer to a first value. The next snapshot that is begun will contain it.
    fn has_first(&self) -> Reply {
        let in_snapshot = self.state.lock().n_begun + 1;
        Reply::empty(self.reply_head(0, in_snapshot))
    }

    /// Fails if the key has no value, or if its description differs from the one that the server knows.
    fn known(&self, about: &About) -> Result<(), Status> {
        match self.state.lock().keys.get(&about.key) {
            Some(kept) => same(about, &kept.about),
            None => Err(Status::not_found(format!("key {} has no value on server {}", about.key, self.options.server))),
        }
    }
}
