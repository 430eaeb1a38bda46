//! Carries the messages of distributed key-value stores by MPI.
//!
//! The library is loaded when a store needs it, so nothing of MPI is needed to build mxrs, and one program runs with Open MPI
//! 4 and 5, with MPICH and the libraries that have its binary interface (Intel MPI, Cray MPI), and with libraries of the
//! standard interface of MPI 5. Handles and constants differ between these; [`Abi`] has a table of each.
//!
//! This crate does not know stores, arrays or the environment: it makes a [`Wire`](mxrs_kvstore::dist::Wire) from
//! [`MpiOptions`].
//!
//! ```no_run
//! use mxrs_kvstore::dist::{Group, GroupOptions};
//! use mxrs_kvstore_mpi::{MpiOptions, mpi_worker};
//!
//! let group = Group::start(mpi_worker(MpiOptions::default()), GroupOptions::default())?;
//! println!("worker {} of {}", group.rank(), group.size());
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! MPI neither encrypts messages nor checks who sends them. It is for networks whose machines trust each other.

// Unsafe code is needed to load a library and to call C functions, which read and write the memory of messages while the
// functions of `wire` keep it alive.
#![allow(unsafe_code)]

mod abi;
#[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
mod library;
#[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
mod wire;

pub use abi::Abi;

use mxrs_kvstore::dist::Connect;
use std::path::PathBuf;

/// Which library is loaded, and what is already known from the launcher about the workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MpiOptions {
    /// The path of the library (`MXRS_MPI_LIB`). Without one, the usual names are tried.
    pub library: Option<PathBuf>,
    /// The binary interface to try first. It is known from the environment variables that the launcher has set.
    pub first: Option<Abi>,
    /// The number of workers that the launcher was asked for. Another number in MPI is an error.
    pub n_workers: Option<usize>,
    /// The rank that the launcher gave to this process. Another rank in MPI is an error.
    pub rank: Option<usize>,
}

/// Connects this process to the other workers by MPI, which is initialized on the thread that communicates. A process can do
/// this once.
#[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
pub fn mpi_worker(options: MpiOptions) -> Connect {
    Box::new(move |_| Ok(Box::new(wire::MpiWire::start(&options)?) as Box<dyn mxrs_kvstore::dist::Wire>))
}

/// Returns an error: MPI libraries are loaded on 64-bit Linux only.
#[cfg(not(all(target_os = "linux", target_endian = "little", target_pointer_width = "64")))]
pub fn mpi_worker(_: MpiOptions) -> Connect {
    let reason = "MPI libraries are loaded on 64-bit little-endian Linux only".to_owned();
    Box::new(move |_| Err(mxrs_types::Error::not_built("workers that are connected by MPI", reason)))
}
