//! Owners of the objects that oneDNN creates. They destroy the objects on drop and return errors as values.

use mxrs_onednn_sys::result::{self, created};
use mxrs_onednn_sys::sys;
use mxrs_types::{DType, Error, Result, Shape};
use smallvec::SmallVec;
use std::ffi::{CStr, c_int, c_void};

/// Sizes of a tensor in the integer type of oneDNN.
pub type Dims = SmallVec<[i64; 6]>;

/// Converts sizes to the integer type of oneDNN.
pub fn dims(sizes: impl IntoIterator<Item = usize>) -> Dims {
    sizes.into_iter().map(|d| d as i64).collect()
}

/// oneDNN's code of a dtype; `None` if oneDNN does not have the dtype.
pub fn data_type(dtype: DType) -> Option<sys::dnnl_data_type_t> {
    Some(match dtype {
        DType::F32 => sys::dnnl_f32,
        DType::F16 => sys::dnnl_f16,
        DType::BF16 => sys::dnnl_bf16,
        DType::I32 => sys::dnnl_s32,
        DType::I8 => sys::dnnl_s8,
        DType::U8 => sys::dnnl_u8,
        _ => return None,
    })
}

macro_rules! owner {
    ($(#[$doc:meta])* $name:ident, $raw:ty, $destroy:path) => {
        $(#[$doc])*
        pub struct $name(pub(crate) $raw);
        // SAFETY: the object is owned and immutable after creation. Memory objects and streams are used by one thread
        // at a time; see `primitive.rs`. oneDNN binds no object to the thread that created it.
        unsafe impl Send for $name {}
        // SAFETY: shared use only reads the object, which is immutable after creation. Memory objects and streams are
        // used by one thread at a time; see `primitive.rs`.
        unsafe impl Sync for $name {}
        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: oneDNN created the object, this struct owns it, and drop runs once.
                if let Err(error) = unsafe { $destroy(self.0) } {
                    tracing::debug!(%error, "oneDNN object not destroyed");
                }
            }
        }
    };
}

owner!(
    /// A CPU engine.
    EngineObject, sys::dnnl_engine_t, result::engine_destroy
);
owner!(
    /// A memory descriptor.
    MemDesc, sys::dnnl_memory_desc_t, result::memory_desc_destroy
);
owner!(
    /// A primitive descriptor.
    PrimDesc, sys::dnnl_primitive_desc_t, result::primitive_desc_destroy
);
owner!(
    /// A primitive, ready to run.
    Primitive, sys::dnnl_primitive_t, result::primitive_destroy
);
owner!(
    /// Attributes of a primitive.
    Attributes, sys::dnnl_primitive_attr_t, result::primitive_attr_destroy
);
owner!(
    /// The epilogue of a primitive.
    PostOps, sys::dnnl_post_ops_t, result::post_ops_destroy
);
owner!(
    /// A memory object: a descriptor with a pointer to memory that it does not own.
    MemoryObject, sys::dnnl_memory_t, result::memory_destroy
);
owner!(
    /// A stream.
    StreamObject, sys::dnnl_stream_t, result::stream_destroy
);

impl MemDesc {
    /// A row-major descriptor.
    pub fn dense(sizes: &[i64], dtype: DType) -> Result<Self> {
        let mut strides: Dims = SmallVec::from_elem(1, sizes.len());
        for axis in (1..sizes.len()).rev() {
            strides[axis - 1] = strides[axis] * sizes[axis].max(1);
        }
        Self::strided(sizes, &strides, dtype)
    }

    /// A descriptor without blocks, with these strides in elements.
    pub fn strided(sizes: &[i64], strides: &[i64], dtype: DType) -> Result<Self> {
        let code = code(dtype)?;
        // SAFETY: callers pass one stride per size, so both arrays have `sizes.len()` items; the out pointer is valid.
        created(|out| unsafe {
            result::memory_desc_create_with_strides(out, sizes.len() as c_int, sizes.as_ptr(), code, strides.as_ptr())
        })
        .map(Self)
    }

    /// A descriptor that lets the primitive choose the layout.
    pub fn any(sizes: &[i64], dtype: DType) -> Result<Self> {
        Self::tagged(sizes, dtype, sys::dnnl_format_tag_any)
    }

    /// A descriptor with the arrangement that oneDNN's format tag `tag` names.
    pub fn tagged(sizes: &[i64], dtype: DType, tag: sys::dnnl_format_tag_t) -> Result<Self> {
        let code = code(dtype)?;
        // SAFETY: `sizes` has `sizes.len()` items; the out pointer is valid.
        created(|out| unsafe {
            result::memory_desc_create_with_tag(out, sizes.len() as c_int, sizes.as_ptr(), code, tag)
        })
        .map(Self)
    }

    /// Describes the same memory with other sizes; fails if the arrangement does not allow that.
    pub fn reshape(&self, sizes: &[i64]) -> Result<Self> {
        // SAFETY: `self` owns the descriptor, so it is alive; `sizes` has `sizes.len()` items, and the out pointer is
        // valid.
        created(|out| unsafe { result::memory_desc_reshape(out, self.0, sizes.len() as c_int, sizes.as_ptr()) })
            .map(Self)
    }

    /// Describes a part of the tensor: on each axis, `sizes` elements from `offsets` on. The part must consist of whole
    /// blocks.
    pub fn part(&self, sizes: &[i64], offsets: &[i64]) -> Result<Self> {
        debug_assert_eq!(sizes.len(), offsets.len());
        // SAFETY: `self` owns the descriptor, so it is alive; callers pass one size and one offset per axis of it, and
        // the out pointer is valid.
        created(|out| unsafe { result::memory_desc_create_submemory(out, self.0, sizes.as_ptr(), offsets.as_ptr()) })
            .map(Self)
    }

    /// Describes the same tensor as a part of a tensor with more channels: the distance from one image to the next is
    /// `image_bytes`. `None` if the tensor is not in blocks of 16 channels.
    ///
    /// # Errors
    /// Returns the error that oneDNN reports, for example if the channels do not fill their blocks.
    pub fn with_image_stride(&self, image_bytes: usize) -> Result<Option<Self>> {
        if self.number(sys::dnnl_query_ndims_s32)? != 4 {
            return Ok(None);
        }
        let (dtype, sizes) = (self.dtype()?, self.sizes(sys::dnnl_query_dims, 4)?);
        if !self.is_equal(&Self::tagged(&sizes, dtype, sys::dnnl_aBcd16b)?) {
            return Ok(None);
        }
        let plane_bytes = sizes[2] as usize * sizes[3] as usize * dtype.size_of();
        let channels = image_bytes / plane_bytes.max(1);
        if channels * plane_bytes != image_bytes || !channels.is_multiple_of(16) || channels < sizes[1] as usize {
            return Ok(None);
        }
        let whole = Self::tagged(&[sizes[0], channels as i64, sizes[2], sizes[3]], dtype, sys::dnnl_aBcd16b)?;
        whole.part(&sizes, &[0; 4]).map(Some)
    }

    /// Copies a descriptor that is owned elsewhere.
    pub fn copy_of(other: sys::const_dnnl_memory_desc_t) -> Result<Self> {
        // SAFETY: all callers pass a descriptor that a `MemDesc` or a primitive descriptor owns and that is alive; the
        // out pointer is valid.
        created(|out| unsafe { result::memory_desc_clone(out, other) }).map(Self)
    }

    /// Number of bytes of a tensor with this descriptor.
    pub fn size_bytes(&self) -> usize {
        // SAFETY: `self` owns the descriptor, so it is alive.
        unsafe { sys::dnnl_memory_desc_get_size(self.0) }
    }

    /// Whether both descriptors describe the same arrangement.
    pub fn is_equal(&self, other: &Self) -> bool {
        // SAFETY: `self` and `other` own the descriptors, so both are alive.
        unsafe { sys::dnnl_memory_desc_equal(self.0, other.0) != 0 }
    }

    /// Element type.
    pub fn dtype(&self) -> Result<DType> {
        let code = self.number(sys::dnnl_query_data_type)? as u32;
        let found = DType::ALL.into_iter().find(|d| data_type(*d) == Some(code));
        found.ok_or_else(|| backend_error(format!("element type {code}")))
    }

    /// Returns the number that oneDNN answers to the query `what`.
    pub fn number(&self, what: sys::dnnl_query_t) -> Result<i32> {
        let mut value = 0i32;
        // SAFETY: `self` owns the descriptor, so it is alive. Callers pass only queries for which oneDNN writes an
        // `i32`, and `value` is one.
        unsafe { result::memory_desc_query(self.0, what, (&raw mut value).cast::<c_void>())? };
        Ok(value)
    }

    /// Returns the `n` sizes that oneDNN answers to the query `what`.
    pub fn sizes(&self, what: sys::dnnl_query_t, n: usize) -> Result<Dims> {
        let mut pointer: *const sys::dnnl_dims_t = std::ptr::null();
        // SAFETY: `self` owns the descriptor, so it is alive. Callers pass only queries for which oneDNN writes a
        // pointer to sizes in the descriptor.
        unsafe { result::memory_desc_query(self.0, what, (&raw mut pointer).cast::<c_void>())? };
        if pointer.is_null() {
            return Err(backend_error("a memory descriptor has no sizes"));
        }
        // SAFETY: the pointer is not null, as checked above, and leads to the twelve sizes of a `dnnl_dims_t`, which
        // live as long as the descriptor.
        Ok(unsafe { &*pointer }.iter().take(n).copied().collect())
    }
}

impl PrimDesc {
    /// The descriptor of one argument; `None` if the primitive does not use it.
    pub fn md(&self, what: sys::dnnl_query_t, index: usize) -> Result<Option<MemDesc>> {
        // SAFETY: `self` owns the primitive descriptor, so it is alive. It owns the result, which is copied below.
        let raw = unsafe { sys::dnnl_primitive_desc_query_md(self.0, what, index as c_int) };
        if raw.is_null() {
            return Ok(None);
        }
        let md = MemDesc::copy_of(raw)?;
        Ok((md.size_bytes() > 0).then_some(md))
    }

    /// The descriptor of one argument, as [`Self::md`] returns it. Fails if the primitive does not use the argument.
    pub fn required_md(&self, what: sys::dnnl_query_t, index: usize) -> Result<MemDesc> {
        self.md(what, index)?.ok_or_else(|| backend_error("a primitive lacks an expected argument"))
    }

    /// oneDNN's name of the implementation, such as `brg_conv_fwd:avx512_core`.
    pub fn implementation(&self) -> String {
        let mut text: *const std::ffi::c_char = std::ptr::null();
        let what = sys::dnnl_query_impl_info_str;
        // SAFETY: `self` owns the descriptor, so it is alive. For this query oneDNN writes a pointer to a string that
        // lives as long as the descriptor.
        let found = unsafe { result::primitive_desc_query(self.0, what, 0, (&raw mut text).cast::<c_void>()) };
        if found.is_err() || text.is_null() {
            return "unknown".into();
        }
        // SAFETY: the pointer is not null, as checked above, and leads to a C string inside the descriptor, which is
        // alive.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// Whether the implementation is a plain loop over single numbers, and not code generated for this processor.
    pub fn is_plain_loop(&self) -> bool {
        self.implementation().starts_with("ref")
    }

    /// Creates the primitive that this descriptor describes; oneDNN compiles its code.
    pub fn primitive(&self) -> Result<Primitive> {
        // SAFETY: `self` owns the descriptor, so it is alive; the out pointer is valid.
        created(|out| unsafe { result::primitive_create(out, self.0) }).map(Primitive)
    }
}

impl Attributes {
    /// Attributes that leave the scratch memory to the caller.
    pub fn user_scratchpad() -> Result<Self> {
        // SAFETY: the out pointer is valid.
        let attributes = created(|out| unsafe { result::primitive_attr_create(out) }).map(Self)?;
        // SAFETY: `attributes` owns the object, so it is alive.
        unsafe { result::primitive_attr_set_scratchpad_mode(attributes.0, sys::dnnl_scratchpad_mode_user)? };
        Ok(attributes)
    }

    /// Adds a copy of the epilogue `post_ops`.
    pub fn with(self, post_ops: &PostOps) -> Result<Self> {
        // SAFETY: `self` and `post_ops` own their objects, so both are alive; oneDNN copies the list.
        unsafe { result::primitive_attr_set_post_ops(self.0, post_ops.0)? };
        Ok(self)
    }
}

impl PostOps {
    /// An epilogue without operations.
    pub fn new() -> Result<Self> {
        // SAFETY: the out pointer is valid.
        created(|out| unsafe { result::post_ops_create(out) }).map(Self)
    }
}

/// An error of this backend.
pub fn backend_error(message: impl Into<String>) -> Error {
    Error::new(mxrs_types::ErrorKind::Backend { backend: "onednn", message: message.into() })
}

fn code(dtype: DType) -> Result<sys::dnnl_data_type_t> {
    data_type(dtype).ok_or_else(|| Error::not_built(format!("oneDNN on {dtype}"), "it has no such element type"))
}

/// Converts the sizes of a shape to the integer type of oneDNN.
pub fn shape_dims(shape: &Shape) -> Dims {
    dims(shape.iter().copied())
}
