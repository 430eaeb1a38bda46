//! The messages between workers and servers, as types of prost. `PACKAGE` names the service.
//!
//! There are two methods. `Call` is a question with a short answer. `Transfer` carries values in both directions, in frames of at
//! most [`FRAME_BYTES`](crate::limits::FRAME_BYTES): the first frame of a request has the head, the first frame of the answer
//! too. The numbers of fields must not change: they are the format.

use mxrs_kvstore::{Compression, Key, UpdaterSettings};
use prost::bytes::Bytes;
use prost::{Message, Oneof};

/// The path of the method `Call`.
pub const CALL: &str = "/mxrs.kvstore.v1.Values/Call";
/// The path of the method `Transfer`.
pub const TRANSFER: &str = "/mxrs.kvstore.v1.Values/Transfer";
/// The version of this protocol. A server refuses a worker with another version.
pub const VERSION: u32 = 2;

/// A question of a worker.
#[derive(Clone, PartialEq, Message)]
pub struct CallRequest {
    #[prost(oneof = "Question", tags = "1, 2, 3, 4, 5, 6, 7, 8")]
    pub question: Option<Question>,
}

/// The kinds of questions.
#[derive(Clone, PartialEq, Oneof)]
pub enum Question {
    #[prost(message, tag = "1")]
    Join(Join),
    #[prost(message, tag = "2")]
    Beat(Beat),
    #[prost(message, tag = "3")]
    Updater(SetUpdater),
    #[prost(message, tag = "4")]
    Collect(Collect),
    #[prost(message, tag = "5")]
    Snapshot(Snapshot),
    #[prost(message, tag = "6")]
    Leave(Leave),
    #[prost(message, tag = "7")]
    NextCollection(NextCollection),
    #[prost(message, tag = "8")]
    AwaitStates(AwaitStates),
}

/// A worker begins to use a server.
#[derive(Clone, PartialEq, Message)]
pub struct Join {
    #[prost(uint32, tag = "1")]
    pub version: u32,
    #[prost(uint64, tag = "2")]
    pub session: u64,
    #[prost(uint32, tag = "3")]
    pub rank: u32,
    #[prost(uint32, tag = "4")]
    pub n_workers: u32,
    #[prost(uint32, tag = "5")]
    pub server: u32,
    #[prost(uint32, tag = "6")]
    pub n_servers: u32,
    /// The secret text by which a worker proves that it belongs to the job.
    #[prost(string, tag = "7")]
    pub token: String,
    /// How far the worker is in the collections; `None` if server 0 has not sent it the number of its first one yet.
    #[prost(message, optional, tag = "8")]
    pub progress: Option<Progress>,
}

/// How far a worker is in the collections.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Progress {
    /// The number of the collection that the worker makes next, or in which it waits. It has the results of the earlier ones.
    #[prost(uint64, tag = "1")]
    pub next: u64,
    /// As the worker knows, all workers have given their bytes to the collections with smaller numbers than this.
    #[prost(uint64, tag = "2")]
    pub complete: u64,
}

/// A sign of life.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Beat {
    #[prost(uint64, tag = "1")]
    pub session: u64,
}

/// The rule by which values are updated.
#[derive(Clone, PartialEq, Message)]
pub struct SetUpdater {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "3")]
    pub settings: Vec<Setting>,
}

/// A setting of an updater.
#[derive(Clone, PartialEq, Message)]
pub struct Setting {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A worker gives bytes to a collection, for all workers or only for worker 0.
#[derive(Clone, PartialEq, Message)]
pub struct Collect {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(uint64, tag = "2")]
    pub number: u64,
    #[prost(bool, tag = "3")]
    pub to_all: bool,
    #[prost(bytes = "bytes", tag = "4")]
    pub bytes: Bytes,
    /// Whether the bytes are given again, to a restarted server. The worker then knows the result already, or asks for it
    /// later.
    #[prost(bool, tag = "5")]
    pub again: bool,
}

/// Asks for a snapshot now.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Snapshot {
    #[prost(uint64, tag = "1")]
    pub session: u64,
}

/// A worker needs the server no more.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Leave {
    #[prost(uint64, tag = "1")]
    pub session: u64,
}

/// Asks server 0 for the number of the collection in which the worker takes part next. The answer waits until all workers have
/// joined.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct NextCollection {
    #[prost(uint64, tag = "1")]
    pub session: u64,
}

/// Waits until worker 0 has given the states of the updater, or until an update was made.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct AwaitStates {
    #[prost(uint64, tag = "1")]
    pub session: u64,
}

/// The answer to a [`CallRequest`].
#[derive(Clone, PartialEq, Message)]
pub struct CallReply {
    /// Changes when the server is started again.
    #[prost(uint64, tag = "1")]
    pub incarnation: u64,
    /// The number of complete snapshots.
    #[prost(uint64, tag = "2")]
    pub n_snapshots: u64,
    /// In the answer to [`Join`]: whether the server writes snapshots.
    #[prost(bool, tag = "3")]
    pub keeps_snapshots: bool,
    /// In the answer to [`Join`]: for each key, the last push of this session that was applied.
    #[prost(message, repeated, tag = "4")]
    pub applied: Vec<Applied>,
    /// In the answer to [`NextCollection`]: the number of the next [`Collect`].
    #[prost(uint64, tag = "5")]
    pub next_collect: u64,
    /// In the answer to [`Collect`]: the bytes of all workers by rank.
    #[prost(bytes = "bytes", repeated, tag = "6")]
    pub collected: Vec<Bytes>,
}

/// The last push of a session to a key.
#[derive(Clone, PartialEq, Message)]
pub struct Applied {
    #[prost(message, optional, tag = "1")]
    pub key: Option<KeyText>,
    #[prost(uint64, tag = "2")]
    pub push: u64,
}

/// A key.
#[derive(Clone, PartialEq, Message)]
pub struct KeyText {
    #[prost(oneof = "KeyKind", tags = "1, 2")]
    pub kind: Option<KeyKind>,
}

/// The kinds of keys.
#[derive(Clone, PartialEq, Oneof)]
pub enum KeyKind {
    #[prost(sint64, tag = "1")]
    Int(i64),
    #[prost(string, tag = "2")]
    Text(String),
}

/// A frame of a value. Only the first one of a stream has a head.
#[derive(Clone, PartialEq, Message)]
pub struct Frame {
    #[prost(message, optional, tag = "1")]
    pub head: Option<Head>,
    #[prost(bytes = "bytes", tag = "2")]
    pub data: Bytes,
}

/// What a stream of frames is for.
#[derive(Clone, PartialEq, Message)]
pub struct Head {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(enumeration = "Verb", tag = "2")]
    pub verb: i32,
    #[prost(message, optional, tag = "3")]
    pub key: Option<KeyPart>,
    /// The number of the push among those of this session and key, from 1.
    #[prost(uint64, tag = "4")]
    pub push: u64,
    /// The number of bytes in all frames of this stream.
    #[prost(uint64, tag = "5")]
    pub n_bytes: u64,
    /// The version of the value from which the gradient was computed, for statistics of staleness.
    #[prost(uint64, tag = "6")]
    pub base_version: u64,
    /// Bits per element of a compressed gradient; 0: it is not compressed.
    #[prost(uint32, tag = "7")]
    pub code_bits: u32,
    #[prost(float, tag = "8")]
    pub threshold: f32,
    /// Whether the value is wanted as the answer to a push.
    #[prost(bool, tag = "9")]
    pub wants_value: bool,
}

/// What a transfer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum Verb {
    Unknown = 0,
    /// Gives the first value of a key, or waits for it if there are no bytes.
    Init = 1,
    /// Updates a value by a gradient.
    Push = 2,
    /// Asks for a value.
    Pull = 3,
    /// Asks for the states of the updater.
    GetStates = 4,
    /// Replaces the states of the updater.
    SetStates = 5,
}

/// A key, its value, and the part that this server has.
#[derive(Clone, PartialEq, Message)]
pub struct KeyPart {
    #[prost(message, optional, tag = "1")]
    pub key: Option<KeyText>,
    #[prost(sint64, tag = "2")]
    pub number: i64,
    #[prost(uint64, repeated, tag = "3")]
    pub shape: Vec<u64>,
    /// MXNet's number of the type.
    #[prost(int32, tag = "4")]
    pub dtype: i32,
    /// The first element of the part.
    #[prost(uint64, tag = "5")]
    pub begin: u64,
    /// The element after the last one of the part.
    #[prost(uint64, tag = "6")]
    pub end: u64,
}

/// A frame of an answer. Only the first one of a stream has a head.
#[derive(Clone, PartialEq, Message)]
pub struct ReplyFrame {
    #[prost(message, optional, tag = "1")]
    pub head: Option<ReplyHead>,
    #[prost(bytes = "bytes", tag = "2")]
    pub data: Bytes,
}

/// The answer to a transfer.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct ReplyHead {
    #[prost(uint64, tag = "1")]
    pub incarnation: u64,
    /// The number of complete snapshots.
    #[prost(uint64, tag = "2")]
    pub n_snapshots: u64,
    /// The number of the first snapshot that has this push.
    #[prost(uint64, tag = "3")]
    pub in_snapshot: u64,
    /// The version of the value: the number of updates so far.
    #[prost(uint64, tag = "4")]
    pub version: u64,
    /// The number of bytes in all frames of this stream.
    #[prost(uint64, tag = "5")]
    pub n_bytes: u64,
}

impl From<&Key> for KeyText {
    fn from(key: &Key) -> Self {
        let kind = match key {
            Key::Int(number) => KeyKind::Int(*number),
            Key::Text(text) => KeyKind::Text(text.to_string()),
        };
        Self { kind: Some(kind) }
    }
}

impl KeyText {
    /// The key, if it has a kind.
    pub fn key(&self) -> Option<Key> {
        match self.kind.as_ref()? {
            KeyKind::Int(number) => Some(Key::Int(*number)),
            KeyKind::Text(text) => Some(Key::from(text.as_str())),
        }
    }
}

impl SetUpdater {
    pub fn new(session: u64, settings: &UpdaterSettings) -> Self {
        let setting = |(name, value): &(String, String)| Setting { name: name.clone(), value: value.clone() };
        Self { session, name: settings.name.clone(), settings: settings.settings.iter().map(setting).collect() }
    }

    pub fn settings(&self) -> UpdaterSettings {
        let pair = |setting: &Setting| (setting.name.clone(), setting.value.clone());
        UpdaterSettings { name: self.name.clone(), settings: self.settings.iter().map(pair).collect() }
    }
}

/// The fields `code_bits` and `threshold` of a head.
pub fn code_fields(compression: Option<Compression>) -> (u32, f32) {
    match compression {
        None => (0, 0.0),
        Some(Compression::OneBit { threshold }) => (1, threshold),
        Some(Compression::TwoBit { threshold }) => (2, threshold),
    }
}
