//! RecordIO (`.rec`): a sequence of byte records; with its index (`.idx`), image lists (`.lst`) and image headers.
//!
//! A record is one or more parts, each `magic, flag << 29 | length, data, padding to 4`. Where the payload holds the
//! magic at an offset divisible by 4, the record is cut there and the four bytes are dropped; reading puts them back.
//! So the magic at an aligned offset of the file always starts a part, which makes splitting a file among readers
//! ([`part_range`]) and finding the way again after damage (lenient reading) sound.
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

/// First word of every part.
pub const MAGIC: u32 = 0xced7_230a;
/// Longest payload of a part.
pub const MAX_PART: usize = (1 << 29) - 1;
