//! A GPU that exists only in tests: its memory and its streams.
//!
//! - [`SimulatedMemory`] has any size, fails on command, and records its calls. Its addresses can fault when the host
//!   touches them.
//! - [`SimulatedGpu`] has streams whose threads run closures in order. It slows them down, holds them back or makes them
//!   fail on command.
//! - [`SimulatedDevice`] joins the two and copies between them and the host, at a chosen speed. [`Timeline`] shows what ran
//!   when.
//! - [`SimulatedBackend`] runs the kernels of any backend of the host on the streams of a device.
//! - [`Checker`] finds conflicting accesses of launches and of the host that nothing orders, even if they did not overlap in
//!   time. [`Reachability`] finds them by brute force, to test the checker.
//!
//! This crate does not know arrays, single operators or graphs. It is a dependency of tests only: no crate of a program uses
//! it.
//!
//! ```
//! use mxrs_simulated_gpu::SimulatedMemory;
//! use mxrs_storage::{Storage, StorageConfig, Tag};
//! use mxrs_types::Device;
//! use std::sync::Arc;
//!
//! let memory = Arc::new(SimulatedMemory::new(Device::gpu(0), 1 << 20));
//! let storage = Storage::builder(StorageConfig::default()).device(memory.clone()).build()?;
//! memory.fail_on_request(1);
//! // The pool requests the memory a second time after it has returned its cached blocks.
//! assert!(storage.allocate(Device::gpu(0), 4096, Tag::default()).is_ok());
//! assert_eq!(memory.n_requests(), 2);
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: [`mxrs_storage::DeviceMemory`] and [`mxrs_engine::gpu::GpuDevice`], the two interfaces of a device.
#![allow(unsafe_code)]
// Unsafe code is needed because `DeviceMemory` and `DeviceCopies` are unsafe traits, and running a kernel is unsafe.
// `memory` implements `DeviceMemory` on memory of the host, on addresses that nothing accesses, or on two mappings: one
// provides the addresses of the device, the other holds the bytes. `device` implements `DeviceCopies` by launches that copy
// and fill memory. `backend` runs kernels of the host in launches.

mod backend;
mod checker;
mod clock;
mod device;
mod event;
mod gate;
mod gpu;
mod lane;
mod log;
mod memory;
mod reachability;
mod stream;
mod timeline;

pub use backend::SimulatedBackend;
pub use checker::{Checker, HostAccess, Site, Touch, Violation};
pub use device::{CopyCount, CopyCounters, SimulatedDevice};
pub use event::SimulatedEvent;
pub use gate::{Gate, Hold};
pub use gpu::SimulatedGpu;
pub use log::{EventId, SimulatedGpuCall, SimulatedGpuCounters};
pub use memory::{SimulatedCall, SimulatedCounters, SimulatedMemory};
pub use reachability::Reachability;
pub use stream::SimulatedStream;
pub use timeline::{Span, Timeline};
