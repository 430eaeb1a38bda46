//! A file of arrays in one of three formats: MXNet list (`.params`), npy or npz.

use crate::options::Warnings;
use crate::reader::Reader;
use crate::{Loaded, Options, Tensor, fault, npy, npz, params, write_atomically};
use indexmap::IndexMap;
use mxrs_types::{Error, FormatErrorKind, Result};
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// The arrays of one file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ArrayFile {
    /// The arrays, in file order.
    pub arrays: Arrays,
    /// Whether lists are written with NumPy shape semantics (array records of version 3, which can be scalars or empty).
    /// Reading a file sets this field to the semantics of the file. A file that contains a scalar is always written with
    /// NumPy semantics.
    pub np_shape: bool,
}

/// Arrays with or without names.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrays {
    /// A list without names. An empty file is read as an empty list.
    Unnamed(Vec<Tensor>),
    /// Arrays by name, in file order.
    Named(IndexMap<String, Tensor>),
}

impl Default for Arrays {
    fn default() -> Self {
        Self::Unnamed(Vec::new())
    }
}

impl Arrays {
    /// Number of arrays.
    pub fn len(&self) -> usize {
        match self {
            Self::Unnamed(list) => list.len(),
            Self::Named(map) => map.len(),
        }
    }

    /// Whether there are no arrays.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over all arrays, each with its name if it has one.
    pub fn iter(&self) -> impl Iterator<Item = (Option<&str>, &Tensor)> {
        let (list, map) = match self {
            Self::Unnamed(list) => (list.as_slice(), None),
            Self::Named(map) => (&[][..], Some(map)),
        };
        let named = map.into_iter().flatten().map(|(name, tensor)| (Some(name.as_str()), tensor));
        list.iter().map(|tensor| (None, tensor)).chain(named)
    }

    /// The arrays by name. An empty list becomes an empty map.
    ///
    /// # Errors
    /// Returns `Inconsistent` if the arrays have no names.
    pub fn into_named(self) -> Result<IndexMap<String, Tensor>> {
        match self {
            Self::Named(map) => Ok(map),
            Self::Unnamed(list) if list.is_empty() => Ok(IndexMap::new()),
            Self::Unnamed(list) => {
                let context = format!("{} arrays without names, expected named arrays", list.len());
                Err(fault::whole(FormatErrorKind::Inconsistent, context))
            }
        }
    }
}

/// The format of an array file, detected from its first four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// MXNet 1.x list.
    List,
    /// One array of NumPy.
    Npy,
    /// Zip archive of npy members.
    Npz,
}

impl FileKind {
    /// The format of a file that starts with the bytes `start`. `None` if it is none of the three formats.
    pub fn of(start: &[u8]) -> Option<Self> {
        match start.get(..4)? {
            [0x12, 0x01, 0, 0] => Some(Self::List),
            [0x93, b'N', b'U', b'M'] => Some(Self::Npy),
            [b'P', b'K', 3, 4] | [b'P', b'K', 5, 6] => Some(Self::Npz),
            _ => None,
        }
    }
}

impl ArrayFile {
    /// Arrays with names.
    pub fn named(arrays: impl IntoIterator<Item = (String, Tensor)>) -> Self {
        Self { arrays: Arrays::Named(arrays.into_iter().collect()), np_shape: false }
    }

    /// Arrays without names.
    pub fn unnamed(arrays: impl IntoIterator<Item = Tensor>) -> Self {
        Self { arrays: Arrays::Unnamed(arrays.into_iter().collect()), np_shape: false }
    }

    /// Reads a list, npy or npz from memory.
    ///
    /// # Errors
    /// Returns format errors with the offset. `BadMagic` says what the bytes look like instead.
    pub fn from_bytes(bytes: &[u8], options: &Options) -> Result<Loaded<Self>> {
        read_any(Cursor::new(bytes), bytes.len() as u64, options)
    }

    /// Reads a list, npy or npz from a file.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_bytes`] with the path, and I/O errors.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Loaded<Self>> {
        let path = path.as_ref();
        Self::read(File::open(path).map_err(|e| Error::io(path, &e))?, options).map_err(|e| e.with_path(path))
    }

    /// Reads a list, npy or npz from an open file. Reading starts at the beginning, regardless of the current position.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_bytes`], and I/O errors.
    pub fn read(mut file: File, options: &Options) -> Result<Loaded<Self>> {
        let len = file.metadata().map_err(|e| fault::io(&e))?.len();
        file.rewind().map_err(|e| fault::io(&e))?;
        read_any(BufReader::with_capacity(64 << 10, file), len, options)
    }

    /// The bytes of an MXNet 1.x list.
    ///
    /// # Errors
    /// Returns `Overflow` if the size of an axis is too large for its field in the file.
    pub fn to_params_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        params::write_list(&mut bytes, self)?;
        Ok(bytes)
    }

    /// Writes an MXNet 1.x list file, atomically.
    ///
    /// # Errors
    /// Returns the errors of [`Self::to_params_bytes`], and I/O errors with the path.
    pub fn save_params(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path, |sink| params::write_list(sink, self))
    }

    /// Writes an npz file without compression, atomically. Arrays without names are called `arr_0`, `arr_1`, ...
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] for names that an archive cannot hold and for "none" arrays, and I/O
    /// errors.
    pub fn save_npz(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path, |sink| npz::write(sink, &self.arrays))
    }
}

fn read_any<R: Read + Seek>(mut source: R, len: u64, options: &Options) -> Result<Loaded<ArrayFile>> {
    let mut head = Reader::bounded(&mut source, 0, len);
    let mut start = [0; 16];
    let have = start.len().min(usize::try_from(len).unwrap_or(usize::MAX));
    head.fill(&mut start[..have], "first bytes")?;
    source.seek(SeekFrom::Start(0)).map_err(|e| fault::io(&e))?;
    match FileKind::of(&start[..have]) {
        Some(FileKind::Npz) => npz::read(source, len, options),
        Some(FileKind::Npy) => {
            let mut warnings = Warnings::default();
            let tensor = npy::read_from(&mut Reader::bounded(source, 0, len), options, &mut warnings)?;
            Ok(warnings.with(ArrayFile::unnamed([tensor])))
        }
        Some(FileKind::List) | None => params::read_list(&mut Reader::bounded(source, 0, len).passing(), options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AlignedBytes, Lender, Lent};
    use mxrs_types::DType;

    #[test]
    fn kinds_by_the_first_bytes() {
        assert_eq!(FileKind::of(&0x112u64.to_le_bytes()), Some(FileKind::List));
        assert_eq!(FileKind::of(b"\x93NUMPY"), Some(FileKind::Npy));
        assert_eq!(FileKind::of(b"PK\x05\x06"), Some(FileKind::Npz));
        assert_eq!(FileKind::of(b"{\"no"), None);
        assert_eq!(FileKind::of(b"PK"), None);
    }

    /// Lent memory. If it has more than 8 bytes, its owner reads the array into it later ([`Lent::read_later`]).
    struct Late(Vec<u64>, Option<u64>);

    impl Lent for Late {
        fn bytes(&self) -> &[u8] {
            bytemuck::cast_slice(&self.0)
        }
        fn bytes_mut(&mut self) -> &mut [u8] {
            bytemuck::cast_slice_mut(&mut self.0)
        }
        fn read_later(&mut self, offset: u64) -> bool {
            self.1 = (self.0.len() > 1).then_some(offset);
            self.1.is_some()
        }
    }

    #[test]
    fn what_its_owner_reads_is_passed_over() {
        let numbers = |n: usize| (0..n).map(|i| i as f32).collect::<Vec<_>>();
        let tensor = |n: usize| Tensor::from_slice([n], &numbers(n)).unwrap();
        let flags = Tensor::dense(DType::Bool, [16], AlignedBytes::copy_of(&[1; 16])).unwrap();
        let named = [("late", tensor(40_000)), ("small", tensor(2)), ("flags", flags), ("last", tensor(6))];
        let file = ArrayFile::named(named.map(|(name, tensor)| (name.to_owned(), tensor)));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.params");
        file.save_params(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let lender = Lender::new(|len| Ok(Box::new(Late(vec![0; len / 8], None))));
        let options = Options { lender: Some(lender), ..Options::default() };

        let mut opened = File::open(&path).unwrap();
        opened.seek(SeekFrom::Start(5)).unwrap();
        let read = ArrayFile::read(opened, &options).unwrap().value.arrays.into_named().unwrap();
        let original = file.arrays.into_named().unwrap();
        for (name, tensor) in read {
            let (_, _, memory) = tensor.into_dense().unwrap().into_parts();
            let expected = original[&name].clone().into_dense().unwrap();
            let memory = memory.into_lent::<Late>().map_err(|_| ()).unwrap();
            match memory.1 {
                // Elements are read immediately if they need a check, or if the owner of the memory refuses to read them
                // later.
                None => assert!(["small", "flags"].contains(&&*name) && memory.bytes() == expected.bytes(), "{name}"),
                Some(offset) => {
                    let offset = usize::try_from(offset).unwrap();
                    assert!(["late", "last"].contains(&&*name) && memory.0.iter().all(|word| *word == 0), "{name}");
                    assert_eq!(&bytes[offset..offset + expected.bytes().len()], expected.bytes(), "{name}");
                }
            }
        }
        // Missing bytes are noticed even if the owner of the memory would read them later.
        for len in [100, 100_000, bytes.len() - 1] {
            assert!(ArrayFile::from_bytes(&bytes[..len], &options).is_err(), "{len}");
        }
    }

    #[test]
    fn iteration_names_what_has_a_name() {
        let t = || Tensor::from_slice([1], &[1u8]).unwrap();
        let named = ArrayFile::named([("a".to_string(), t())]);
        assert_eq!(named.arrays.iter().map(|(n, _)| n).collect::<Vec<_>>(), [Some("a")]);
        let list = ArrayFile::unnamed([t(), Tensor::None]);
        assert_eq!(list.arrays.iter().map(|(n, _)| n).collect::<Vec<_>>(), [None, None]);
        assert!(list.arrays.into_named().is_err());
    }
}
