//! Stores whose values are kept and updated by servers: `dist_async` and its aliases.
//!
//! A worker sends its gradient of a key to the servers of the key, which update the value at once, whatever the other
//! workers do. [`DistAsync`] is the store of one worker. The connection to the servers is behind the trait [`Servers`],
//! which another crate implements, such as `mxrs-kvstore-grpc`. [`divide`] says which server keeps which elements.

mod division;
mod servers;
mod store;
mod tasks;

pub use division::{Part, divide};
pub use servers::{Reply, Request, ServedKey, Servers};
pub use store::DistAsync;
