//! Which workers are alive, and errors about those that are not.

use mxrs_types::{Error, ErrorKind};
use std::io;
use std::time::{Duration, Instant};

/// How failures of other workers are found, and how much is sent at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOptions {
    /// Time between two signs of life (`PS_HEARTBEAT_INTERVAL`); `None` means that none are sent.
    pub heartbeat: Option<Duration>,
    /// Time without a sign of life after which a worker counts as dead (`PS_HEARTBEAT_TIMEOUT`); `None` means never.
    pub silence: Option<Duration>,
    /// The longest wait for something that a living worker should send, such as its gradient of a key. Must be longer than
    /// the longest computation of a worker between two messages.
    pub patience: Duration,
    /// The most messages that the transport gets for one worker at a time (`DMLC_PS_WATER_MARK`). Further messages wait in a
    /// queue, in which a more urgent message overtakes others.
    pub window: usize,
}

impl Default for GroupOptions {
    /// A heartbeat every 5 seconds, death after 30 seconds of silence, 300 seconds of patience, 4 messages at a time.
    fn default() -> Self {
        Self {
            heartbeat: Some(Duration::from_secs(5)),
            silence: Some(Duration::from_secs(30)),
            patience: Duration::from_secs(300),
            window: 4,
        }
    }
}

/// When each worker was last heard of, and when it last got a message.
pub(super) struct Liveness {
    heard: Vec<Instant>,
    sent: Vec<Instant>,
    /// The workers that have said that they send nothing more.
    left: Vec<bool>,
    options: GroupOptions,
}

impl Liveness {
    pub fn new(n_workers: usize, options: &GroupOptions) -> Self {
        let now = Instant::now();
        let (heard, sent) = (vec![now; n_workers], vec![now; n_workers]);
        Self { heard, sent, left: vec![false; n_workers], options: options.clone() }
    }

    pub fn heard(&mut self, from: usize) {
        self.heard[from] = Instant::now();
    }

    pub fn sent(&mut self, to: usize) {
        self.sent[to] = Instant::now();
    }

    pub fn set_left(&mut self, rank: usize) {
        self.left[rank] = true;
    }

    pub fn has_left(&self, rank: usize) -> bool {
        self.left[rank]
    }

    pub fn any_left(&self) -> bool {
        self.left.contains(&true)
    }

    pub fn patience(&self) -> Duration {
        self.options.patience
    }

    /// The workers to which a sign of life is due.
    pub fn due(&self, own: usize) -> Vec<usize> {
        let Some(interval) = self.options.heartbeat else { return Vec::new() };
        (0..self.sent.len()).filter(|&to| to != own && !self.left[to] && self.sent[to].elapsed() >= interval).collect()
    }

    /// The error for a worker that is silent for too long, if there is one.
    pub fn silent(&self, own: usize) -> Option<Error> {
        let limit = self.options.silence?;
        let rank = (0..self.heard.len())
            .find(|&rank| rank != own && !self.left[rank] && self.heard[rank].elapsed() > limit)?;
        let silent = self.heard[rank].elapsed().as_secs_f64();
        let message = format!(
            "worker {rank} is silent for {silent:.1} s, more than the {:.1} s that are allowed: it is stopped, or the network \
             is cut",
            limit.as_secs_f64()
        );
        Some(lost(io::ErrorKind::TimedOut, message))
    }
}

/// The error that another worker is lost or silent.
pub(super) fn lost(kind: io::ErrorKind, message: String) -> Error {
    Error::new(ErrorKind::Io { path: None, message, kind })
}
