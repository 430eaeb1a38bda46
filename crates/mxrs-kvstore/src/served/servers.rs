//! What a worker can ask the servers to do.

use super::Part;
use crate::{Compression, Key, UpdaterSettings};
use mxrs_types::{DType, Result, Shape};
use std::sync::Arc;

/// A key whose value servers keep.
#[derive(Clone, Debug, PartialEq)]
pub struct ServedKey {
    /// The key.
    pub key: Key,
    /// The key itself if it is a number; for a text key, the number of keys that were added before it.
    pub number: i64,
    /// The shape of the value.
    pub shape: Shape,
    /// The type of the elements.
    pub dtype: DType,
    /// Which server keeps which elements. Each server has at most one part.
    pub parts: Arc<[Part]>,
}

impl ServedKey {
    /// The size of the elements of a part in bytes.
    pub fn part_bytes(&self, part: &Part) -> usize {
        part.elements.len() * self.dtype.size_of()
    }
}

/// A request for one key: a push, a pull, or both. The next request for the same key is made only after the reply to this
/// one.
#[derive(Clone, Debug)]
pub struct Request {
    /// The key.
    pub key: Arc<ServedKey>,
    /// The gradient, if this is a push: the bytes of each part, or their codes.
    pub gradient: Option<Vec<Vec<u8>>>,
    /// How the gradient is compressed, if it is.
    pub compression: Option<Compression>,
    /// Whether the reply shall have the value.
    pub wants_value: bool,
    /// Requests with larger numbers are sent first.
    pub priority: i32,
}

/// Called once with the bytes of each part of the value; with an empty list if the request did not want the value.
pub type Reply = Box<dyn FnOnce(Result<Vec<Vec<u8>>>) + Send>;

/// The servers of a training, as one worker sees them.
pub trait Servers: Send + Sync {
    /// The number of this worker, from 0.
    fn rank(&self) -> usize;

    /// The number of workers.
    fn n_workers(&self) -> usize;

    /// The number of servers.
    fn n_servers(&self) -> usize;

    /// Gives the first value of a key to its servers, unless they have one already. Worker 0 gives the value; the others give
    /// none and wait for it.
    ///
    /// # Errors
    /// Fails if the servers know the key with another shape, type or division, or if a server is lost.
    fn init(&self, key: &Arc<ServedKey>, value: Option<Vec<u8>>) -> Result<()>;

    /// Makes a request. Returns at once; `reply` is called on another thread.
    fn exchange(&self, request: Request, reply: Reply);

    /// Says how servers update values. The settings of worker 0 count; those of the others must be equal, except for
    /// numbers that move on in the course of a training, such as `begin_num_update`, `learning_rate` and `rescale_grad`.
    ///
    /// # Errors
    /// Fails if the servers refuse the settings, if other workers have others, or if a server is lost.
    fn set_updater(&self, settings: &UpdaterSettings) -> Result<()>;

    /// Gives bytes to all workers, and returns those of every worker by rank; without `to_all`, only worker 0 gets them, and
    /// the others do not wait. The first call of a worker always waits until all workers are connected to the servers.
    ///
    /// # Errors
    /// Fails if a worker does not call this function in time, or if a server is lost.
    fn collect(&self, bytes: &[u8], to_all: bool) -> Result<Option<Vec<Vec<u8>>>>;

    /// The states of the updaters, by server.
    ///
    /// # Errors
    /// Fails if a server is lost.
    fn updater_states(&self) -> Result<Vec<Vec<u8>>>;

    /// Replaces the states of the updaters. Every server takes its part of `states`.
    ///
    /// # Errors
    /// Fails if the states do not fit, or if a server is lost.
    fn set_updater_states(&self, states: &[u8]) -> Result<()>;

    /// Waits until every server that keeps a value has states that worker 0 has set, or has made an update.
    ///
    /// # Errors
    /// Fails if worker 0 neither sets states nor pushes in time, or if a server is lost.
    fn wait_for_updater_states(&self) -> Result<()>;

    /// Notes that this worker has failed. When it ends, servers do not treat it as a worker that is done: they wait for it,
    /// because it may be started again.
    fn fail(&self) {}
}
