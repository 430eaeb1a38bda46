//! Stores of several processes: `dist_sync`, `dist_sync_device`, `dist_device_sync`, `p3` and `horovod`.
//!
//! Every worker keeps a copy of each value. The elements of a key are divided into pieces, and each piece has an owner among
//! the workers (`plan.rs`). In a push, every worker sends its value of a piece to the owner. The owner adds the values in the
//! order of ranks, so the bits of a sum do not depend on which value arrives first. If the store updates weights, the owner
//! applies the updater to its own elements. Then it sends the result to all workers. The states of an optimizer are thus only
//! at the owners.
//!
//! [`Group`] is the connection of this process to the others, with one thread that sends and receives (`talker.rs`). What
//! carries the messages is behind the trait [`Wire`]: queues between threads ([`local_workers`]), sockets of one machine
//! ([`socket_worker`]), or another crate, such as MPI.

mod buffer;
mod collect;
mod group;
mod job;
mod lease;
mod liveness;
mod local;
mod outbox;
mod packet;
mod plan;
mod simulation;
#[cfg(unix)]
mod sockets;
mod store;
mod sum;
mod talker;
mod tasks;
mod wire;

pub use group::{AllReduce, Group};
pub use liveness::GroupOptions;
pub use local::local_workers;
pub use packet::Packet;
pub use simulation::{Machine, SimulatedKey, SimulatedStore, Step, simulate};
#[cfg(unix)]
pub use sockets::{SocketOptions, socket_worker};
pub use store::DistSync;
pub use wire::{Connect, Received, Waker, Wire};

pub(crate) use plan::part_ends;
pub(crate) use store::refuse_rows;
