//! oneDNN 3 for x86-64 CPUs, as a static library that this crate's build script compiles.
//!
//! The crate has no functions: naming it (`use mxrs_onednn_src as _;`) links the library. The bindings are in
//! `mxrs-onednn-sys`. oneDNN is configured for the THREADPOOL runtime: it owns no threads and runs on the threads of
//! its caller.
//!
//! ```
//! use mxrs_onednn_src as _;
//! ```
//!
//! # What a build needs
//!
//! A build needs the feature `compile`, a C++11 compiler (GCC or Clang) and a target of the `x86_64` architecture. It needs
//! no CMake and no settings. Without the feature the build script does nothing, and there is nothing to link. The first
//! compilation takes about eight minutes on two cores. Most of oneDNN's code emits machine code when the program runs; such
//! code is compiled with little optimization. The library is kept in `mxrs-onednn` below cargo's target folder, or in the
//! folder that the variable `MXRS_ONEDNN_CACHE` names. Debug and release builds, and all workspaces that share the folder,
//! use the same file. An interrupted compile continues where it stopped.
//!
//! # What is left out
//!
//! `vendor/` contains, unchanged, only those files of oneDNN that this build reads. The code for GPUs, graphs and other
//! processors is left out, and so are the primitives that mxrs does not call, such as RNN and resampling: oneDNN reports
//! them as unimplemented. The script `vendor.py` writes that folder; a list in the script says which primitives are kept.

#![no_std]
