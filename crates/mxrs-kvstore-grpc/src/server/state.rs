//! What a server knows: the values, the workers, and the updater.

use super::metrics::Gauges;
use crate::messages::Progress;
use indexmap::IndexMap;
use mxrs_kvstore::{Key, ServedValue, ServerUpdater, UpdaterSettings};
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Error, Shape};
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;
use tonic::Status;

/// What is known of a key besides its value.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    pub key: Key,
    pub number: i64,
    /// The shape of the whole value.
    pub shape: Shape,
    pub dtype: DType,
    /// The elements that this server has.
    pub part: std::ops::Range<usize>,
}

impl About {
    /// The bytes of the part.
    pub fn n_bytes(&self) -> usize {
        self.part.len() * self.dtype.size_of()
    }

    /// Whether the part is the whole value.
    pub fn is_whole(&self) -> bool {
        self.part.len() == self.shape.n_elements()
    }

    /// The shape of the array that has the part.
    pub fn own_shape(&self) -> Shape {
        if self.is_whole() { self.shape.clone() } else { Shape::from([self.part.len()]) }
    }

    /// The shape, the type and the part in words.
    pub fn words(&self) -> String {
        format!("{} {}, elements {} to {}", self.dtype, self.shape, self.part.start, self.part.end)
    }
}

/// A value that this server keeps.
pub struct Kept {
    pub about: About,
    pub value: NdArray,
    /// The number of updates so far.
    pub version: u64,
    /// The number of updates by each worker.
    pub clocks: Vec<u64>,
}

impl Kept {
    pub fn served(&self) -> ServedValue {
        let part = (!self.about.is_whole()).then(|| self.about.part.clone());
        ServedValue { key: self.about.key.clone(), value: self.value.clone(), part }
    }
}

/// The time from a worker's start to its end. A worker that is started again has a new session.
#[derive(Clone, Debug)]
pub struct Session {
    pub rank: usize,
    pub heard: Instant,
    /// Whether the worker has joined since this server process began. After a restart of the server, a worker must join
    /// again and send the pushes that the snapshot lacks, before it sends a later push. A later push that came first would
    /// make the server ignore them.
    pub joined: bool,
    /// Whether the worker has said that it needs the server no more.
    pub left: bool,
    /// Whether the worker was silent for too long.
    pub lost: bool,
    /// The number of the last push that was applied, by key.
    pub pushes: BTreeMap<Key, u64>,
    /// How far the worker was in the collections when it joined last.
    pub progress: Option<Progress>,
}

impl Session {
    pub fn new(rank: usize) -> Self {
        let (heard, pushes) = (Instant::now(), BTreeMap::new());
        Self { rank, heard, joined: true, left: false, lost: false, pushes, progress: None }
    }
}

/// The state of a server, behind one lock. Code that holds the lock may push tasks to the engine, but must not wait for
/// workers.
pub struct State {
    pub keys: IndexMap<Key, Kept>,
    /// The sessions, by the number that each worker has chosen at random.
    pub sessions: HashMap<u64, Session>,
    /// The session of each worker.
    pub by_rank: Vec<Option<u64>>,
    pub updater: Option<(UpdaterSettings, Box<dyn ServerUpdater>)>,
    /// Whether worker 0 has given states of the updater.
    pub are_states_given: bool,
    /// The failure that ends the training.
    pub fault: Option<(Error, Instant)>,
    /// The number of updates since the server was started.
    pub n_updates: u64,
    /// The number of changes since the server was started: updates, first values, settings, and ends of workers.
    pub n_changes: u64,
    /// The value of `n_changes` at the last snapshot; `None` before the first snapshot.
    pub n_saved: Option<u64>,
    /// The number of the last snapshot that was begun; `n_complete` is that of the last complete one.
    pub n_begun: u64,
    pub n_complete: u64,
}

impl State {
    pub fn new(n_workers: usize) -> Self {
        Self {
            keys: IndexMap::new(),
            sessions: HashMap::new(),
            by_rank: vec![None; n_workers],
            updater: None,
            are_states_given: false,
            fault: None,
            n_updates: 0,
            n_changes: 0,
            n_saved: None,
            n_begun: 0,
            n_complete: 0,
        }
    }

    /// Fails if the server has failed.
    pub fn check(&self) -> Result<(), Status> {
        match &self.fault {
            None => Ok(()),
            Some((error, _)) => Err(Status::failed_precondition(error.to_string())),
        }
    }

    /// Ends the training with an error. The first error counts.
    pub fn fail(&mut self, error: Error) {
        if self.fault.is_none() {
            tracing::error!("{error}");
            self.fault = Some((error, Instant::now()));
        }
    }

    /// The session with this number. Notes that its worker is alive.
    ///
    /// # Errors
    /// Fails if the server has failed, if there is no such session, or if another process has taken the place of the worker.
    pub fn session(&mut self, number: u64) -> Result<&mut Session, Status> {
        self.check()?;
        let Some(session) = self.sessions.get_mut(&number) else {
            return Err(Status::unauthenticated("this session has not joined the server"));
        };
        if self.by_rank.get(session.rank) != Some(&Some(number)) {
            let rank = session.rank;
            return Err(Status::aborted(format!("another process has taken the place of worker {rank}")));
        }
        if !session.joined {
            return Err(Status::unauthenticated(
                "the server was started again, and this session has not joined it since",
            ));
        }
        if session.lost {
            tracing::info!("worker {} is heard again", session.rank);
        }
        (session.heard, session.lost) = (Instant::now(), false);
        Ok(session)
    }

    /// The number of updates of a value that the slowest living worker has made; `None` if no worker is alive.
    pub fn slowest_clock(&self, kept: &Kept) -> Option<u64> {
        let clocks = self.by_rank.iter().zip(&kept.clocks).filter_map(|(session, clock)| {
            let session = self.sessions.get(&(*session)?)?;
            (!session.left && !session.lost).then_some(*clock)
        });
        clocks.min()
    }

    /// Whether a worker that resumes may push. Until worker 0 has given the states of the checkpoint, an update would be made
    /// without them. Worker 0 does not give them if an update was made before.
    pub fn has_states(&self) -> bool {
        self.are_states_given || self.keys.is_empty() || self.keys.values().any(|kept| kept.version > 0)
    }

    /// The workers that have neither joined since this server process began nor left.
    pub fn away(&self) -> Vec<usize> {
        let is_away = |number: &Option<u64>| {
            let session = number.and_then(|number| self.sessions.get(&number));
            session.is_none_or(|session| !session.joined && !session.left)
        };
        self.by_rank.iter().enumerate().filter(|(_, number)| is_away(number)).map(|(rank, _)| rank).collect()
    }

    /// The number of the first collection that is not finished, from what the workers have said when they joined. All workers
    /// have given their bytes to the earlier ones, and no worker waits for those bytes. The number can be too small: workers do
    /// not report later collections.
    pub fn first_open(&self) -> u64 {
        let sessions = self.by_rank.iter().filter_map(|number| self.sessions.get(&(*number)?));
        let said: Vec<Progress> =
            sessions.filter(|session| !session.left).filter_map(|session| session.progress).collect();
        let next = said.iter().map(|progress| progress.next).min();
        let complete = said.iter().map(|progress| progress.complete).max();
        next.zip(complete).map_or(0, |(next, complete)| next.min(complete))
    }

    pub fn gauges(&self, pending_bytes: u64) -> Gauges {
        let silent = |session: &Option<u64>| {
            let session = self.sessions.get(&(*session)?).filter(|session| !session.left)?;
            Some(session.heard.elapsed().as_secs_f64())
        };
        Gauges {
            n_keys: self.keys.len(),
            value_bytes: self.keys.values().map(|kept| kept.about.n_bytes() as u64).sum(),
            pending_bytes,
            silent_s: self.by_rank.iter().map(silent).collect(),
        }
    }

    /// The values that this server keeps, in the form that an updater needs.
    pub fn served(&self) -> Vec<ServedValue> {
        self.keys.values().map(Kept::served).collect()
    }
}
