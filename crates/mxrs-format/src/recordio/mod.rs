//! RecordIO (`.rec`), a sequence of byte records, with its index (`.idx`), image lists (`.lst`) and image headers.
//!
//! A record consists of one or more parts, each `magic, flag << 29 | length, data, padding to 4`. If the payload contains
//! the magic number at an offset divisible by 4, the record is split there and the four bytes are dropped; reading inserts
//! them again. So the magic number at an aligned offset of the file always starts a part. This is what makes it correct to
//! split a file among readers ([`part_range`]) and to find the next record after damage (lenient reading).
//!
//! ```
//! use mxrs_format::{Options, recordio::{RecordReader, RecordWriter}};
//! let mut writer = RecordWriter::new(Vec::new());
//! writer.write(b"first")?;
//! writer.write(b"second")?;
//! let file = writer.into_inner();
//! let mut reader = RecordReader::from_slice(&file, &Options::default());
//! assert_eq!(reader.next_record()?.as_deref(), Some(&b"first"[..]));
//! assert_eq!(reader.next_record()?.as_deref(), Some(&b"second"[..]));
//! assert_eq!(reader.next_record()?, None);
//! # Ok::<(), mxrs_types::Error>(())
//! ```

mod image;
mod index;
mod indexed;
mod list;
mod part;
mod reader;
mod split;
mod writer;

pub use image::{Detection, ImageRecord};
pub use index::Index;
pub use indexed::{IndexedReader, IndexedWriter};
pub use list::{ImageList, ListEntry};
pub use reader::RecordReader;
pub use split::part_range;
pub use writer::RecordWriter;

/// Magic number, the first word of every part.
pub const MAGIC: u32 = 0xced7_230a;
/// Length in bytes of the longest payload of a part.
pub const MAX_PART: usize = (1 << 29) - 1;
