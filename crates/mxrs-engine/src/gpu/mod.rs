//! GPU tasks: which stream each runs on, and how events replace waits of the host.
//!
//! A worker that runs tasks of a GPU owns a stream on it ([`WorkerStreams`]). The body of a task enqueues work and
//! returns. [`GpuSync`] decides when that counts as done:
//!
//! - [`GpuSync::Host`]: the worker blocks until its stream is empty. Later tasks find the work done, so the engine's
//!   order of tasks is sufficient.
//! - [`GpuSync::Event`]: the task is complete once its work is enqueued. Its variables keep an event ([`VarEvents`]),
//!   and later users of the variables wait for that event ([`Waits`]): GPU tasks wait on the device, callers on the
//!   host, and threads of [`crate::PoolId::GpuWait`] on behalf of CPU tasks.
//!
//! Rules of event mode:
//!
//! 1. Before a body runs, its stream (or the host, for a CPU task) waits for the writer event of each variable that it
//!    reads, and for the writer and reader events of each variable that it writes.
//! 2. After a body ran, even if it failed, an event is recorded on its stream. For each variable that the task reads,
//!    the event becomes a reader event. For each variable that the task writes, it becomes the writer event and
//!    replaces all other events of the variable, because it implies them.
//! 3. A task whose body did not run leaves the events of its variables as they are.
//! 4. Rules 1 and 2 are applied to a variable while it is granted to the task. So a writer has the events of the
//!    variable to itself, and a reader shares them only with other readers.
//! 5. An event has shared ownership, and is never reused for another position in a stream.
//! 6. A failure of device work is reported to the next wait that covers it: a wait for everything, or for a variable
//!    that the work wrote or that was computed from such a variable. A wait reports it at most once, and after a wait
//!    for everything has reported it, no later wait does ([`ReportedFailures`]). A task that would use the result of
//!    failed work fails too if the failure is known when the task starts; otherwise the device passes the failure on to
//!    the task's own work. The error names the task whose event has failed, and the task in or before
//!    which the failure began, as far as that is known.
//! 7. When a variable is deleted, its events go to the code that frees its memory. A new variable for that memory may take
//!    them over ([`crate::Engine::new_var_after`]): then each access up to the first write waits for them, and does not fail
//!    because of them.
//!
//! This module does not know CUDA: devices are passed in as [`GpuDevice`].

mod device;
mod gpus;
mod recent;
mod reported;
mod streams;
mod task_event;
mod task_streams;
mod var_events;
mod waits;

pub use device::{GpuDevice, StreamUse};
pub use gpus::Gpus;
pub(crate) use gpus::OnUse;
pub use mxrs_types::GpuSync;
pub use reported::ReportedFailures;
pub use streams::{GpuStreams, StreamLayout, StreamOwner};
pub(crate) use task_event::TaskEvent;
pub use task_streams::{TaskStreams, WorkerStreams};
pub use var_events::VarEvents;
pub use waits::{EventList, Waits};
