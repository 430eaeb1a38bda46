//! Between oneDNN's C++ thread pool interface and a [`ThreadPool`](super::ThreadPool): with feature `static`, where the C++ side
//! is compiled, or refusing, where it is not.

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
