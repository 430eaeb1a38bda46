//! Safetensors: a JSON header with names, types, shapes and positions, then the elements of all tensors without gaps.
//!
//! A file is `u64 n`, a JSON object of `n` bytes, and the data. Header entries are `"name": {"dtype", "shape",
//! "data_offsets"}` with offsets into the data; `"__metadata__"` holds texts. The reader checks that the tensors cover the
//! data to the end of the file without gap or overlap, and that each has the size of its shape. The writer sorts tensors by
//! decreasing element size, then by name, and pads the header with spaces so that the data starts at a multiple of 8.

use crate::byte_order::little_to_host;
use crate::reader::Reader;
use crate::tensor::size_bytes;
use crate::{AlignedBytes, Options, Tensor, fault, write_atomically};
use indexmap::IndexMap;
use mxrs_types::{DType, Error, FormatErrorKind, Result, Shape};
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;

/// The content of a file: named tensors and texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SafeTensors {
    /// Dense tensors, in the order of the header.
    pub tensors: IndexMap<String, Tensor>,
    /// Metadata texts by key.
    pub metadata: IndexMap<String, String>,
}

const METADATA: &str = "__metadata__";

/// Element types with their names in the header.
const DTYPES: &[(DType, &str)] = &[
    (DType::F64, "F64"),
    (DType::F32, "F32"),
    (DType::F16, "F16"),
    (DType::BF16, "BF16"),
    (DType::I64, "I64"),
    (DType::I32, "I32"),
    (DType::I16, "I16"),
    (DType::I8, "I8"),
    (DType::U64, "U64"),
    (DType::U32, "U32"),
    (DType::U16, "U16"),
    (DType::U8, "U8"),
    (DType::Bool, "BOOL"),
];

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

/// The header in file order, including repeated names. It is parsed directly into these types: general JSON values would
/// take many times the memory of their text.
#[derive(Default)]
struct Header {
    tensors: Vec<(String, Entry)>,
    metadata: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Header;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Header, A::Error> {
                let mut header = Header::default();
                while let Some(name) = map.next_key::<String>()? {
                    let in_context =
                        |e: A::Error, what: &str| A::Error::custom(format!("{what} {}: {e}", quoted(&name)));
                    if name == METADATA {
                        let texts = map.next_value::<BTreeMap<_, _>>().map_err(|e| in_context(e, "texts of"))?;
                        header.metadata.extend(texts);
                        continue;
                    }
                    let entry = map.next_value().map_err(|e| in_context(e, "tensor"))?;
                    header.tensors.push((name, entry));
                }
                Ok(header)
            }
        }
        from.deserialize_map(Pairs)
    }
}

fn invalid(context: impl Into<String>) -> Error {
    fault::at(8, FormatErrorKind::InvalidValue, context)
}

/// A name in quotes for an error message, cut at 120 characters.
fn quoted(name: &str) -> String {
    format!("`{}`", name.chars().take(120).collect::<String>())
}

impl SafeTensors {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// Returns a format error with its category for data that is cut or too long, a header that is not JSON of this form,
    /// repeated names, unknown types, positions with gaps or overlaps, and sizes that differ from those of the shapes.
    pub fn from_bytes(bytes: &[u8], options: &Options) -> Result<Self> {
        Self::read(&mut Reader::from_slice(bytes), options)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_bytes`] and I/O errors, with the path.
    pub fn load(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let path = path.as_ref();
        Self::read(&mut Reader::open(path)?, options).map_err(|e| e.with_path(path))
    }

    fn read<R: Read>(r: &mut Reader<R>, options: &Options) -> Result<Self> {
        let len = r.u64("length of the header")?;
        if len > options.limits.max_header {
            let max = options.limits.max_header;
            return Err(fault::at(0, FormatErrorKind::LimitExceeded { value: len, max }, "length of the header"));
        }
        let text = r.bytes(len, "header")?;
        if text.first() != Some(&b'{') {
            return Err(fault::at(8, FormatErrorKind::Syntax, "the header does not start with `{`"));
        }
        let header: Header = serde_json::from_slice(&text).map_err(|e| {
            let kind = if e.is_data() { FormatErrorKind::InvalidValue } else { FormatErrorKind::Syntax };
            fault::at(8, kind, format!("header: {e}"))
        })?;
        let n_tensors = header.tensors.len() as u64;
        if n_tensors > options.limits.max_tensors {
            let kind = FormatErrorKind::LimitExceeded { value: n_tensors, max: options.limits.max_tensors };
            return Err(fault::at(8, kind, "tensors of a header"));
        }
        let metadata: IndexMap<String, String> = header.metadata.into_iter().collect();
        let mut entries: IndexMap<String, Entry> = IndexMap::new();
        for (name, entry) in header.tensors {
            if entries.contains_key(&name) {
                return Err(fault::at(8, FormatErrorKind::Duplicate, format!("tensor {}", quoted(&name))));
            }
            entries.insert(name, entry);
        }
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|i| entries[*i].data_offsets);
        let mut made: Vec<Option<Tensor>> = vec![None; entries.len()];
        let mut place = 0;
        for i in order {
            let (name, entry) = entries.get_index(i).ok_or_else(|| invalid("an entry that is gone"))?;
            let tensor =
                tensor(r, name, entry, place).map_err(|e| e.context(format!("reading tensor {}", quoted(name))))?;
            place = entry.data_offsets[1];
            made[i] = Some(tensor);
        }
        match r.count_trailing()? {
            0 => {}
            n => return Err(r.fault(FormatErrorKind::TrailingData { bytes: n }, "behind the last tensor")),
        }
        let tensors = entries.into_keys().zip(made.into_iter().flatten()).collect();
        Ok(Self { tensors, metadata })
    }

    /// Returns the bytes of a file with these tensors and texts.
    ///
    /// # Errors
    /// Fails for a sparse or "none" array, and for a tensor called `__metadata__`.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes a file, atomically.
    ///
    /// # Errors
    /// Returns the errors of [`Self::to_bytes`], and I/O errors.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path, |mut to| self.write(&mut to))
    }

    fn write(&self, to: &mut dyn Write) -> Result<()> {
        let mut sorted: Vec<(&String, &crate::Dense)> = Vec::with_capacity(self.tensors.len());
        for (name, tensor) in &self.tensors {
            if name == METADATA {
                return Err(Error::invalid("name of a tensor", name, "any but __metadata__"));
            }
            sorted.push((name, tensor.as_dense()?));
        }
        sorted.sort_by(|(a, x), (b, y)| y.dtype().size_of().cmp(&x.dtype().size_of()).then(a.cmp(b)));
        let mut header = serde_json::Map::new();
        if !self.metadata.is_empty() {
            header.insert(METADATA.into(), serde_json::json!(self.metadata.iter().collect::<BTreeMap<_, _>>()));
        }
        let mut place = 0;
        for (name, dense) in &sorted {
            let word = DTYPES.iter().find(|(dtype, _)| *dtype == dense.dtype()).map(|(_, word)| *word);
            let word =
                word.ok_or_else(|| Error::not_built(format!("{} in safetensors", dense.dtype()), "no such type"))?;
            let end = place + dense.bytes().len() as u64;
            let shape: Vec<u64> = dense.shape().iter().map(|n| *n as u64).collect();
            header.insert(
                (*name).clone(),
                serde_json::json!(Entry { dtype: word.into(), shape, data_offsets: [place, end] }),
            );
            place = end;
        }
        let mut text = serde_json::to_vec(&header).map_err(|e| Error::invalid("header", e, "texts and numbers"))?;
        text.resize(text.len().next_multiple_of(8), b' ');
        let mut put = |bytes: &[u8]| to.write_all(bytes).map_err(|e| fault::io(&e));
        put(&(text.len() as u64).to_le_bytes())?;
        put(&text)?;
        for (_, dense) in sorted {
            let mut bytes = AlignedBytes::copy_of(dense.bytes());
            little_to_host(&mut bytes, dense.dtype().size_of());
            put(&bytes)?;
        }
        Ok(())
    }
}

/// Reads a tensor, which must start at the offset `place` of the data.
fn tensor<R: Read>(r: &mut Reader<R>, name: &str, entry: &Entry, place: u64) -> Result<Tensor> {
    let [begin, end] = entry.data_offsets;
    if begin != place || end < begin {
        let context = format!("{} is at {begin}..{end} of the data, expected to start at {place}", quoted(name));
        return Err(r.fault(FormatErrorKind::Inconsistent, context));
    }
    let Some((dtype, _)) = DTYPES.iter().find(|(_, word)| *word == entry.dtype) else {
        return Err(r.fault(FormatErrorKind::UnsupportedFeature, format!("element type {}", quoted(&entry.dtype))));
    };
    if entry.shape.len() > 32 {
        let (value, max) = (entry.shape.len() as u64, 32);
        return Err(r.fault(FormatErrorKind::LimitExceeded { value, max }, "number of axes"));
    }
    let sizes: Option<Shape> = entry.shape.iter().map(|n| usize::try_from(*n).ok()).collect();
    let shape = sizes.ok_or_else(|| r.fault(FormatErrorKind::Overflow, "a size"))?;
    let size = size_bytes(&shape, *dtype).map_err(|e| fault::place(e, r.position()))? as u64;
    if size != end - begin {
        let context = format!("shape {shape} {dtype} takes {size} bytes, its place has {}", end - begin);
        return Err(r.fault(FormatErrorKind::Inconsistent, context));
    }
    let mut bytes = r.aligned(size, "elements")?;
    little_to_host(&mut bytes, dtype.size_of());
    Tensor::dense(*dtype, shape, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn example() -> SafeTensors {
        let mut file = SafeTensors::default();
        file.tensors
            .insert("b".into(), Tensor::from_slice([2, 3], &[1.0f32, f32::NAN, -0.0, 4.0, 5.0, 6e-45]).unwrap());
        file.tensors.insert("a".into(), Tensor::from_slice([3], &[1u8, 2, 255]).unwrap());
        file.tensors.insert("empty".into(), Tensor::from_slice::<f64>([0, 4], &[]).unwrap());
        file.tensors.insert("scalar".into(), Tensor::from_slice::<i64>(Shape::scalar(), &[-7]).unwrap());
        file.metadata.insert("format".into(), "a \"text\"".into());
        file
    }

    #[test]
    fn what_is_written_comes_back_bit_for_bit() {
        let bytes = example().to_bytes().unwrap();
        let back = SafeTensors::from_bytes(&bytes, &Options::default()).unwrap();
        assert_eq!(back.metadata, example().metadata);
        assert_eq!(back.tensors.len(), 4);
        for (name, tensor) in example().tensors {
            assert_eq!(back.tensors[&name].stored_bytes(), tensor.stored_bytes(), "{name}");
            assert_eq!(back.tensors[&name].shape(), tensor.shape(), "{name}");
        }
        assert_eq!(back.to_bytes().unwrap(), bytes);
        let header = u64::from_le_bytes(bytes[..8].try_into().unwrap());
        assert_eq!(header % 8, 0);
    }

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
    }

    #[test]
    fn broken_headers_are_refused() {
        let one = |dtype: &str, shape: &str, offsets: &str| {
            format!(r#"{{"a":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#)
        };
        let good = one("F32", "[1]", "[0,4]");
        assert!(SafeTensors::from_bytes(&file(&good, &[0; 4]), &Options::default()).is_ok());
        let twice = good.replace("}}", r#"},"a":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}}"#);
        for (header, data) in [
            (one("F32", "[2]", "[0,4]"), 4),
            (one("F32", "[1]", "[4,8]"), 8),
            (one("F32", "[1]", "[4,0]"), 4),
            (one("F33", "[1]", "[0,4]"), 4),
            (one("F32", "[-1]", "[0,4]"), 4),
            (one("F32", "[9223372036854775807, 9223372036854775807]", "[0,4]"), 4),
            (good.clone(), 5),
            (good.clone(), 3),
            (twice, 4),
            (" ".to_string() + &good, 4),
            ("[]".into(), 0),
            ("{".into(), 0),
        ] {
            assert!(SafeTensors::from_bytes(&file(&header, &vec![0; data]), &Options::default()).is_err(), "{header}");
        }
    }

    #[test]
    fn errors_name_the_tensor() {
        let message = |header: &str| {
            SafeTensors::from_bytes(&file(header, &[0; 4]), &Options::default()).unwrap_err().to_string()
        };
        let text = message(r#"{"w1":{"dtype":"F32","shape":["x"],"data_offsets":[0,4]}}"#);
        assert!(text.contains("`w1`"), "{text}");
        let text = message(r#"{"__metadata__":{"a":1}}"#);
        assert!(text.contains("__metadata__"), "{text}");
    }

    proptest! {
        #[test]
        fn damage_is_an_error_or_harmless(at in 0usize..400, value: u8, cut in 0usize..400) {
            let mut bytes = example().to_bytes().unwrap();
            let n = bytes.len();
            bytes[at % n] = value;
            // Only panics matter; damaged element bytes are not an error.
            let _ = SafeTensors::from_bytes(&bytes, &Options::default());
            let _ = SafeTensors::from_bytes(&bytes[..cut % n], &Options::default());
            prop_assert!(SafeTensors::from_bytes(&example().to_bytes().unwrap()[..cut % n], &Options::default()).is_err());
        }
    }
}
