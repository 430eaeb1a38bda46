//! Transfers of values between a worker and one server.

use super::link::{Link, Open, is_passing};
use super::tries::Tries;
use crate::limits;
use crate::messages::{Frame, Head, ReplyFrame, ReplyHead, TRANSFER, Verb};
use mxrs_types::Result;
use prost::bytes::Bytes;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

/// Makes one attempt at a transfer. `expected` is the number of bytes of the answer.
///
/// # Errors
/// Fails if the server refuses it, if the connection is lost, or if the answer has another size.
pub async fn once(
    open: &Open,
    mut head: Head,
    bytes: &Bytes,
    expected: usize,
) -> std::result::Result<(ReplyHead, Vec<u8>), Status> {
    head.n_bytes = bytes.len() as u64;
    let value = bytes.clone();
    let n_bytes = value.len();
    let frames = (0..n_bytes.max(1)).step_by(limits::FRAME_BYTES).map(move |begin| {
        let data = value.slice(begin..(begin + limits::FRAME_BYTES).min(n_bytes));
        Frame { head: (begin == 0).then(|| head.clone()), data }
    });
    let mut grpc = tonic::client::Grpc::new(open.values.clone()).max_decoding_message_size(limits::MESSAGE_BYTES);
    grpc.ready().await.map_err(|error| Status::from_error(Box::new(error)))?;
    let codec = ProstCodec::<Frame, ReplyFrame>::default();
    let path = http::uri::PathAndQuery::from_static(TRANSFER);
    let mut reply = grpc.streaming(Request::new(tokio_stream::iter(frames)), path, codec).await?.into_inner();
    let first = reply.message().await?.ok_or_else(|| Status::data_loss("an answer without a frame"))?;
    let head = first.head.ok_or_else(|| Status::data_loss("an answer without a head"))?;
    let n_bytes = usize::try_from(head.n_bytes).unwrap_or(usize::MAX);
    if expected != ANY && n_bytes != expected {
        return Err(Status::data_loss(format!("an answer of {n_bytes} bytes, where {expected} were expected")));
    }
    let mut value = Vec::with_capacity(n_bytes.min(1 << 30));
    let mut next = Some(first);
    while let Some(frame) = next {
        if frame.data.len() > n_bytes - value.len() {
            return Err(Status::data_loss(format!("an answer of more than {n_bytes} bytes")));
        }
        value.extend_from_slice(&frame.data);
        next = reply.message().await?;
    }
    if value.len() != n_bytes {
        return Err(Status::data_loss(format!("an answer of {} bytes instead of {n_bytes}", value.len())));
    }
    Ok((head, value))
}

/// The value of `expected` if the size of the answer is not known.
pub const ANY: usize = usize::MAX;

impl Link {
    /// Makes a transfer, and repeats it until it succeeds. A push is applied once, however often it is sent.
    ///
    /// # Errors
    /// Fails if the server is lost, or refuses the transfer.
    pub async fn transfer(&self, mut head: Head, bytes: Bytes, expected: usize, priority: i32) -> Result<Vec<u8>> {
        let key = head.key.as_ref().and_then(|part| part.key.as_ref()?.key());
        let is_push = head.verb == i32::from(Verb::Push);
        head.session = self.worker.session;
        if let (true, Some(key)) = (is_push, &key) {
            let mut keys = self.keys.lock();
            let (n_pushes, version) = keys.entry(key.clone()).or_default();
            *n_pushes += 1;
            (head.push, head.base_version) = (*n_pushes, *version);
            self.replay.lock().add(key, &Head { wants_value: false, ..head.clone() }, &bytes);
        }
        let pass = self.gate.enter(priority).await;
        let mut tries = Tries::default();
        let (reply, value) = loop {
            let open = self.open().await?;
            let made = tokio::select! {
                made = once(&open, head.clone(), &bytes, expected) => made,
                () = self.lost(open.generation) => Err(Status::unavailable("the connection is lost")),
            };
            match made {
                Ok(reply) => break reply,
                Err(status) if is_passing(&status) || status.code() == Code::Unauthenticated => {
                    self.lose(open.generation, status.message());
                    tries.again(self, status.message()).await?;
                }
                Err(status) => return Err(self.refused(&status)),
            }
        };
        drop(pass);
        if let Some(key) = &key {
            if is_push {
                self.replay.lock().acknowledge(key, head.push, reply.in_snapshot);
            }
            if head.verb == i32::from(Verb::Init) {
                self.replay.lock().add_first(key, &head, &bytes, reply.in_snapshot);
            }
            if expected > 0 {
                self.keys.lock().entry(key.clone()).or_default().1 = reply.version;
            }
        }
        self.heard(reply.n_snapshots);
        Ok(value)
    }
}
