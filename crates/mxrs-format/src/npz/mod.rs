//! NumPy's archive of arrays (`.npz`). MXNet 2.0 writes this format under the name `.params`.
//!
//! Dense arrays are members `<name>.npy`; a sparse array is a folder `<name>/` with `data.npy`, `indices.npy`,
//! `shape.npy`, `format.npy` and, for csr, `indptr.npy`. Members `arr_0`, `arr_1`, ... are a list without names.

mod archive;
mod directory;
mod read;
mod write;

pub use read::{read, read_bytes};
pub use write::write;

/// Largest ratio of unpacked to packed size of a member.
pub(crate) const MAX_RATIO: u64 = 1000;
/// Magic number of a member's header.
pub(crate) const LOCAL: u32 = 0x0403_4b50;
/// Magic number of a directory entry.
pub(crate) const CENTRAL: u32 = 0x0201_4b50;
/// Magic number of the end record.
pub(crate) const END: u32 = 0x0605_4b50;
/// Magic number of the zip64 end record.
pub(crate) const END64: u32 = 0x0606_4b50;
/// Magic number of the zip64 locator, which points to the zip64 end record.
pub(crate) const LOCATOR64: u32 = 0x0706_4b50;
/// Tag of the zip64 extra field.
pub(crate) const EXTRA64: u16 = 1;
