//! NumPy's array file (`.npy`). Arrays of bfloat16 have the type name `<b2`, as in files of MXNet.

mod header;
mod read;
mod write;

use header::Header;
pub use read::{read_bytes, read_from_stream};
pub(crate) use read::{read_from, read_prelude};
pub use write::write;
pub(crate) use write::write_text;

/// First bytes of an npy file.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";
