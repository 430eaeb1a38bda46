//! Connects oneDNN's C++ thread pool interface with a [`ThreadPool`](super::ThreadPool). The C++ part is compiled only with
//! feature `static`; without this feature, no adapter can be made.

#[cfg(not(feature = "static"))]
mod disabled;
#[cfg(feature = "static")]
mod enabled;
#[cfg(feature = "static")]
mod once_each;

#[cfg(not(feature = "static"))]
pub(super) use disabled::Adapter;
#[cfg(feature = "static")]
pub(super) use enabled::Adapter;
