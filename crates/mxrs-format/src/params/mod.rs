//! MXNet's list container for `.params` and `.nd` files and mean images.
//!
//! Reads every version of the array record (V0, which starts with the number of axes, V1, V2, V3) and writes the versions of
//! MXNet 1.9.1: V2, or V3 for files with NumPy shape semantics. Loading and saving reproduces a file byte for byte, except
//! for the device fields, which have no meaning and are written as `cpu(0)`.

mod array;
mod checkpoint;
mod list;
mod matching;
mod names;
mod write;

pub use checkpoint::{Checkpoint, checkpoint_path, symbol_path};
pub(crate) use list::check_end;
pub use list::{read_array, read_bytes, read_list, read_stream};
pub use matching::{LoadPolicy, Matched, Wanted};
pub use names::{NameForm, statistics_alias};
pub use write::{write_array, write_list};

/// Magic number of a list file.
pub const LIST_MAGIC: u64 = 0x112;
/// Magic number of a V1 array.
pub(crate) const V1: u32 = 0xF993_FAC8;
/// Magic number of a V2 array.
pub(crate) const V2: u32 = 0xF993_FAC9;
/// Magic number of a V3 array.
pub(crate) const V3: u32 = 0xF993_FACA;
