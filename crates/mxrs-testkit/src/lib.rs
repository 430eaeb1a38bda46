//! Tools for tests of kernels: tolerances, comparison, seeded inputs, the [`conformance`] runner, and checks of declared
//! [`gradient`]s. All tests may report by [`skipped`] what they leave out.
//!
//! The runner takes any [`mxrs_op::Backend`] and any [`mxrs_op::OpDef`], runs the operator's samples on the backend and
//! on the reference kernel, and reports differences. This crate does not know concrete operators, graphs or vendor
//! libraries.
//!
//! ```
//! use mxrs_op::{Accuracy, Attrs, OpDef, ReferenceBackend, Sample};
//! use mxrs_testkit::conformance;
//!
//! let op = OpDef {
//!     reference: Some(|_, inputs, outputs, _| {
//!         outputs[0].bytes.copy_from_slice(inputs[0].bytes);
//!         Ok(())
//!     }),
//!     accuracy: Accuracy::Exact,
//!     samples: || vec![Sample::new("small", [] as [(&str, &str); 0], &[&[2, 3]])],
//!     ..OpDef::new("copy")
//! };
//! let report = conformance::run(&ReferenceBackend, &op, &mxrs_sync::Team::serial());
//! report.assert_ok();
//! assert!(report.n_compared() > 0);
//! ```
//!
//! Read next: [`tolerance`] for the tolerances, [`conformance`] for the checks of one case; `mxrs-ops` for the samples.
#![allow(unsafe_code)]
// Unsafe code is needed because it is unsafe to run a kernel. `run_kernel.rs` does so on buffers of tests, and test kernels
// with planted faults run the kernels that they wrap.

pub mod aligned;
pub mod compare;
pub mod conformance;
pub mod fill;
pub mod gradient;
mod run_kernel;
mod skips;
pub mod tolerance;

pub use aligned::AlignedBuffer;
pub use compare::{Mismatch, compare};
pub use fill::{Seeded, fill_input, fill_inputs};
pub use run_kernel::run_kernel;
pub use skips::skipped;
pub use tolerance::Tolerance;
