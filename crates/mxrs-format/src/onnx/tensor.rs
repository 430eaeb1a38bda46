//! Converts the arrays of a model to [`Tensor`] and back.

use super::external::EXTERNAL;
use super::{Bytes, DataType, TensorProto};
use crate::tensor::size_bytes;
use crate::{AlignedBytes, Limits, Tensor, byte_order, fault};
use mxrs_types::{DType, Error, FormatErrorKind, Result, ResultExt, Shape};

/// Each element type with its number in ONNX files.
const TYPES: [(DType, DataType); 13] = [
    (DType::F32, DataType::Float),
    (DType::F64, DataType::Double),
    (DType::F16, DataType::Float16),
    (DType::U8, DataType::Uint8),
    (DType::I32, DataType::Int32),
    (DType::I8, DataType::Int8),
    (DType::I64, DataType::Int64),
    (DType::Bool, DataType::Bool),
    (DType::I16, DataType::Int16),
    (DType::U16, DataType::Uint16),
    (DType::U32, DataType::Uint32),
    (DType::U64, DataType::Uint64),
    (DType::BF16, DataType::Bfloat16),
];

/// The ONNX number of an element type.
pub fn data_type(dtype: DType) -> DataType {
    // Every type is in the list; the test `every_type_has_its_number` checks it.
    TYPES.iter().find(|(own, _)| *own == dtype).map_or(DataType::Undefined, |(_, theirs)| *theirs)
}

/// The element type for an ONNX number. `None` for text, complex numbers and 8-bit or narrower types without a counterpart.
pub fn dtype(data_type: i32) -> Option<DType> {
    TYPES.iter().find(|(_, theirs)| *theirs as i32 == data_type).map(|(own, _)| *own)
}

fn unsupported(name: &str, what: impl AsRef<str>) -> Error {
    fault::whole(FormatErrorKind::UnsupportedFeature, format!("array `{name}`: {}", what.as_ref()))
}

/// Converts an array to a message with this name. The bytes of the array are moved, not copied.
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::InvalidValue`] for sparse arrays and "none" arrays.
pub fn from_tensor(name: impl Into<String>, tensor: Tensor) -> Result<TensorProto> {
    let name = name.into();
    let Tensor::Dense(dense) = tensor else {
        return Err(Error::invalid(format!("array `{name}`"), tensor.storage_type(), "a dense array with values"));
    };
    let (dtype, shape, mut bytes) = dense.into_parts();
    byte_order::little_to_host(&mut bytes, dtype.size_of());
    let dims = shape.iter().map(|size| {
        i64::try_from(*size).map_err(|_| fault::whole(FormatErrorKind::Overflow, format!("shape {shape} of `{name}`")))
    });
    Ok(TensorProto {
        dims: dims.collect::<Result<_>>()?,
        data_type: data_type(dtype) as i32,
        raw_data: Some(Bytes::from_owner(Owned(bytes))),
        name,
        ..TensorProto::default()
    })
}

/// Lets `Bytes` own the buffer of an array.
struct Owned(AlignedBytes);

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Converts a message to an array.
///
/// # Errors
/// Returns `UnsupportedFeature` for text, parts of arrays and elements in another file, which [`super::open`] reads;
/// `Overflow` for negative sizes and for arrays larger than the address space; `Inconsistent` if the number of elements
/// differs from the product of the sizes.
pub fn to_tensor(message: &TensorProto, limits: &Limits) -> Result<Tensor> {
    let (dtype, shape) = check_tensor(message, limits)?;
    let bytes = match &message.raw_data {
        Some(raw) => {
            let mut bytes = AlignedBytes::copy_of(raw);
            byte_order::little_to_host(&mut bytes, dtype.size_of());
            bytes
        }
        None => typed_bytes(message, dtype)?,
    };
    Tensor::dense(dtype, shape, bytes).context(|| format!("reading array `{}`", message.name))
}

/// Makes all checks of [`to_tensor`] before anything is copied; returns element type and shape.
pub(super) fn check_tensor(message: &TensorProto, limits: &Limits) -> Result<(DType, Shape)> {
    let name = message.name.as_str();
    if message.data_location == EXTERNAL {
        let what =
            "its elements are in another file; a model in memory has no folder, so read its file by `onnx::open`";
        return Err(unsupported(name, what));
    }
    if message.data_location != 0 || !message.external_data.is_empty() {
        let location = message.data_location;
        let what = format!("data_location is {location}; expected 0 without `external_data`, or {EXTERNAL} with it");
        return Err(fault::whole(FormatErrorKind::Inconsistent, format!("array `{name}`: {what}")));
    }
    let (dtype, shape) = described(message, limits)?;
    match &message.raw_data {
        Some(raw) => {
            let need = size_bytes(&shape, dtype).context(|| format!("reading array `{name}`"))?;
            require_count(message, raw.len(), need, "bytes")?;
        }
        None => require_count(message, typed_len(message, dtype), shape.n_elements(), "elements")?,
    }
    Ok((dtype, shape))
}

/// Element type and shape of an array whose elements need not be in the message. Their size in bytes fits in memory addresses.
pub(super) fn described(message: &TensorProto, limits: &Limits) -> Result<(DType, Shape)> {
    let name = message.name.as_str();
    if message.segment.is_some() {
        return Err(unsupported(name, "it is a part of a larger array, which is not read"));
    }
    let dtype = dtype(message.data_type)
        .ok_or_else(|| unsupported(name, format!("element type {}, which has no counterpart", message.data_type)))?;
    let shape = shape_of(message, limits)?;
    size_bytes(&shape, dtype).context(|| format!("reading array `{name}`"))?;
    Ok((dtype, shape))
}

fn shape_of(message: &TensorProto, limits: &Limits) -> Result<Shape> {
    let name = &message.name;
    let n_dims = message.dims.len() as u64;
    let max = limits.max_ndim.min(Shape::MAX_NDIM as u64);
    if n_dims > max {
        let kind = FormatErrorKind::LimitExceeded { value: n_dims, max };
        return Err(fault::whole(kind, format!("axes of array `{name}`")));
    }
    let size = |dim: &i64| {
        usize::try_from(*dim)
            .map_err(|_| fault::whole(FormatErrorKind::Overflow, format!("size {dim} of array `{name}`")))
    };
    message.dims.iter().map(size).collect()
}

fn require_count(message: &TensorProto, have: usize, need: usize, unit: &str) -> Result<()> {
    if have == need {
        return Ok(());
    }
    let context = format!("array `{}` has {have} {unit}, its sizes {:?} ask for {need}", message.name, message.dims);
    Err(fault::whole(FormatErrorKind::Inconsistent, context))
}

/// Number of elements in the field of the message that holds elements of this type, such as `float_data`.
fn typed_len(message: &TensorProto, dtype: DType) -> usize {
    match dtype {
        DType::F32 => message.float_data.len(),
        DType::F64 => message.double_data.len(),
        DType::I64 => message.int64_data.len(),
        DType::U32 | DType::U64 => message.uint64_data.len(),
        _ => message.int32_data.len(),
    }
}

/// The elements in the field of the message for this type (such as `float_data`), in the host's byte order.
fn typed_bytes(message: &TensorProto, dtype: DType) -> Result<AlignedBytes> {
    let outside = |value: &dyn std::fmt::Display| {
        let context = format!("array `{}`: element {value} does not fit {dtype}", message.name);
        fault::whole(FormatErrorKind::InvalidValue, context)
    };
    fn narrowed<T: bytemuck::Pod + TryFrom<i32>>(
        values: &[i32],
        outside: impl Fn(&dyn std::fmt::Display) -> Error,
    ) -> Result<AlignedBytes> {
        let narrow = |value: &i32| T::try_from(*value).map_err(|_| outside(value));
        let values: Vec<T> = values.iter().map(narrow).collect::<Result<_>>()?;
        Ok(AlignedBytes::copy_of(bytemuck::cast_slice(&values)))
    }
    let ints = &message.int32_data;
    Ok(match dtype {
        DType::F32 => AlignedBytes::copy_of(bytemuck::cast_slice(&message.float_data)),
        DType::F64 => AlignedBytes::copy_of(bytemuck::cast_slice(&message.double_data)),
        DType::I64 => AlignedBytes::copy_of(bytemuck::cast_slice(&message.int64_data)),
        DType::U64 => AlignedBytes::copy_of(bytemuck::cast_slice(&message.uint64_data)),
        DType::U32 => {
            let narrow = |value: &u64| u32::try_from(*value).map_err(|_| outside(value));
            let values: Vec<u32> = message.uint64_data.iter().map(narrow).collect::<Result<_>>()?;
            AlignedBytes::copy_of(bytemuck::cast_slice(&values))
        }
        DType::I32 => AlignedBytes::copy_of(bytemuck::cast_slice(ints)),
        DType::I16 => narrowed::<i16>(ints, outside)?,
        DType::I8 => narrowed::<i8>(ints, outside)?,
        DType::U8 | DType::Bool => narrowed::<u8>(ints, outside)?,
        DType::U16 | DType::F16 | DType::BF16 => narrowed::<u16>(ints, outside)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx::StringStringEntryProto;

    #[test]
    fn every_type_has_its_number() {
        for own in DType::ALL {
            assert_ne!(data_type(own), DataType::Undefined, "{own}");
            assert_eq!(dtype(data_type(own) as i32), Some(own));
        }
        assert_eq!(dtype(DataType::String as i32), None);
    }

    #[test]
    fn elements_may_be_in_the_list_of_their_type() {
        let limits = Limits::default();
        let floats = TensorProto { dims: vec![2], data_type: 1, float_data: vec![1.5, -2.0], ..TensorProto::default() };
        assert_eq!(to_tensor(&floats, &limits).unwrap(), Tensor::from_slice([2], &[1.5f32, -2.0]).unwrap());
        // 0x3c00 is 1 in float16.
        let half = TensorProto { dims: vec![1], data_type: 10, int32_data: vec![0x3c00], ..TensorProto::default() };
        assert_eq!(to_tensor(&half, &limits).unwrap().to_f32_vec().unwrap(), [1.0]);
        let wide = TensorProto { dims: vec![1], data_type: 3, int32_data: vec![128], ..TensorProto::default() };
        assert!(to_tensor(&wide, &limits).unwrap_err().to_string().contains("128"));
    }

    #[test]
    fn elements_in_another_file_are_refused_in_memory() {
        let limits = Limits::default();
        let place = StringStringEntryProto { key: "location".into(), value: "w.bin".into() };
        let external_data = vec![place];
        let outside = TensorProto { data_type: 1, data_location: 1, external_data, ..TensorProto::default() };
        assert!(to_tensor(&outside, &limits).unwrap_err().to_string().contains("`onnx::open`"));
        for data_location in [0, 2, -1] {
            let error = to_tensor(&TensorProto { data_location, ..outside.clone() }, &limits).unwrap_err().to_string();
            assert!(error.contains(&format!("data_location is {data_location}")), "{error}");
        }
    }

    #[test]
    fn sizes_that_lie_are_refused() {
        let limits = Limits::default();
        let raw = |dims: &[i64], len: usize| TensorProto {
            dims: dims.to_vec(),
            data_type: 1,
            raw_data: Some(vec![0; len].into()),
            ..TensorProto::default()
        };
        assert!(to_tensor(&raw(&[2, 3], 24), &limits).is_ok());
        assert!(to_tensor(&raw(&[0, 3], 0), &limits).is_ok());
        for (dims, len) in [(&[2, 3][..], 23), (&[2, 3], 28), (&[-1], 0), (&[i64::MAX, 4], 0), (&[1; 33], 4)] {
            assert!(to_tensor(&raw(dims, len), &limits).is_err(), "{dims:?} {len}");
        }
    }
}
