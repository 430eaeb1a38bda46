//! oneDNN's C interface: types, constants and functions under their C names.
//!
//! Written from the headers of oneDNN 3.14 by `generate.py` and committed, so building needs no libclang. The same functions
//! exist with every feature: with `static` they are linked, with `dynamic` they are called through a table. If there is no
//! library, or the loaded one is too old to have a function, calls return `dnnl_unimplemented`, zero or null.

// Names and grouping are those of the C headers, which have no docs; oneDNN's manual describes the functions.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case, missing_docs)]
// The contract of each function is on its page of oneDNN's manual.
#![allow(clippy::missing_safety_doc)]

mod constants;
mod functions;
mod types;

#[cfg(feature = "static")]
mod linked;
#[cfg(not(feature = "static"))]
mod table;

pub use constants::*;
#[cfg(feature = "static")]
pub use linked::*;
#[cfg(not(feature = "static"))]
pub use table::*;
pub use types::*;

pub(crate) use functions::all_functions;

// Constants for macros of the headers that bindgen leaves out, because they are not plain integers.

/// Memory object without a buffer.
pub const DNNL_MEMORY_NONE: *mut core::ffi::c_void = core::ptr::null_mut();
/// Memory object whose buffer oneDNN allocates.
pub const DNNL_MEMORY_ALLOCATE: *mut core::ffi::c_void = core::ptr::without_provenance_mut(usize::MAX);
/// Dimension that is known only at execution.
pub const DNNL_RUNTIME_DIM_VAL: dnnl_dim_t = i64::MIN;
/// Size that is known only at execution.
pub const DNNL_RUNTIME_SIZE_VAL: usize = DNNL_RUNTIME_DIM_VAL as usize;
/// `int` parameter that is known only at execution.
pub const DNNL_RUNTIME_S32_VAL: i32 = i32::MIN;
/// `float` parameter that is known only at execution: one particular NaN.
pub const DNNL_RUNTIME_F32_VAL: f32 = f32::from_bits(0x7fc0_00d0);
