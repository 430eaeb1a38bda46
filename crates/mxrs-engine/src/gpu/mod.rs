//! GPU tasks: which stream each runs on, and how events take the place of host waits.
//!
//! A worker that runs tasks of a GPU owns a stream there ([`WorkerStreams`]). A task's body enqueues work and returns; when
//! that counts as done is [`GpuSync`]:
//!
//! - [`GpuSync::Host`]: the worker blocks until its stream is empty. Whoever runs after the task finds the work done, so
//!   the engine's order of tasks is all there is.
//! - [`GpuSync::Event`]: the task is complete once its work is enqueued. Its variables remember an event ([`VarEvents`]),
//!   and what uses them later waits for it ([`Waits`]): a stream on the device, a CPU task or a caller on the host.
//!
//! Rules of event mode:
//!
//! 1. Before a body runs, its stream (or the host, for a CPU task) waits for the writer event of each variable it reads, and
//!    for the writer and reader events of each variable it writes.
//! 2. After a body ran, whether it succeeded or not, an event is recorded on its stream, and becomes the writer event of
//!    each variable it writes (whose other events are forgotten, being implied) and a reader event of those it reads.
//! 3. A task whose body did not run leaves the events of its variables as they are.
//! 4. Rules 1 and 2 for a variable happen while the task is granted it, so a write is alone and reads only meet reads.
//! 5. An event is owned by all who refer to it, and never used again for another place.
//! 6. A failure of device work is told by whoever waits next: for everything, or for a variable that the work wrote or that
//!    was made from one. Each wait tells it at most once, and none after the wait for everything ([`Told`]). A task that
//!    would use what failed work made fails with it, if that is known when the task starts; else the device carries the
//!    failure on.
//! 7. When a variable is deleted its events go to whoever frees what it stood for.
//!
//! [`SimulatedGpu`] is a device for tests, which proves that no wait is missing instead of hoping that it shows.
//!
//! This module knows no CUDA: a device is a [`GpuDevice`], handed in.

mod device;
mod gpus;
pub(crate) mod simulated;
mod streams;
mod task_streams;
mod told;
mod var_events;
mod waits;

pub use device::{GpuDevice, GpuSync, StreamUse};
pub use gpus::Gpus;
pub(crate) use gpus::OnUse;
pub use simulated::{
    Checker, EventId, Gate, Hold, HostAccess, SimulatedEvent, SimulatedGpu, SimulatedGpuCall, SimulatedGpuCounters,
    SimulatedStream, Site, Touch, Violation,
};
pub use streams::{GpuStreams, Seat, StreamLayout};
pub use task_streams::{TaskStreams, WorkerStreams};
pub use told::Told;
pub use var_events::VarEvents;
pub use waits::{EventList, Waits};
