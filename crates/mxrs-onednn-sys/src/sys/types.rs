//! Types of oneDNN's C interface.
//!
//! Written by `generate.py`; do not edit.

pub type dnnl_status_t = ::core::ffi::c_uint;
pub type dnnl_data_type_t = ::core::ffi::c_uint;
pub type dnnl_dim_t = i64;
pub type dnnl_dims_t = [dnnl_dim_t; 12usize];
pub type dnnl_fpmath_mode_t = ::core::ffi::c_uint;
pub type dnnl_accumulation_mode_t = ::core::ffi::c_uint;
pub type dnnl_engine_kind_t = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug)]
pub struct dnnl_engine {
    _unused: [u8; 0],
}
pub type dnnl_engine_t = *mut dnnl_engine;
pub type dnnl_stream_flags_t = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug)]
pub struct dnnl_stream {
    _unused: [u8; 0],
}
pub type dnnl_stream_t = *mut dnnl_stream;
pub type const_dnnl_stream_t = *const dnnl_stream;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct dnnl_version_t {
    pub major: ::core::ffi::c_int,
    pub minor: ::core::ffi::c_int,
    pub patch: ::core::ffi::c_int,
    pub hash: *const ::core::ffi::c_char,
    pub cpu_runtime: ::core::ffi::c_uint,
    pub gpu_runtime: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dnnl_version_t"][::core::mem::size_of::<dnnl_version_t>() - 32usize];
    ["Alignment of dnnl_version_t"][::core::mem::align_of::<dnnl_version_t>() - 8usize];
    ["Offset of field: dnnl_version_t::major"][::core::mem::offset_of!(dnnl_version_t, major) - 0usize];
    ["Offset of field: dnnl_version_t::minor"][::core::mem::offset_of!(dnnl_version_t, minor) - 4usize];
    ["Offset of field: dnnl_version_t::patch"][::core::mem::offset_of!(dnnl_version_t, patch) - 8usize];
    ["Offset of field: dnnl_version_t::hash"][::core::mem::offset_of!(dnnl_version_t, hash) - 16usize];
    ["Offset of field: dnnl_version_t::cpu_runtime"][::core::mem::offset_of!(dnnl_version_t, cpu_runtime) - 24usize];
    ["Offset of field: dnnl_version_t::gpu_runtime"][::core::mem::offset_of!(dnnl_version_t, gpu_runtime) - 28usize];
};
pub type dnnl_format_kind_t = ::core::ffi::c_uint;
pub type dnnl_sparse_encoding_t = ::core::ffi::c_uint;
pub type dnnl_format_tag_t = ::core::ffi::c_uint;
pub type dnnl_prop_kind_t = ::core::ffi::c_uint;
pub type dnnl_primitive_kind_t = ::core::ffi::c_uint;
pub type dnnl_alg_kind_t = ::core::ffi::c_uint;
pub type dnnl_normalization_flags_t = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug)]
pub struct dnnl_memory_desc {
    _unused: [u8; 0],
}
pub type dnnl_memory_desc_t = *mut dnnl_memory_desc;
pub type const_dnnl_memory_desc_t = *const dnnl_memory_desc;
#[repr(C)]
#[derive(Debug)]
pub struct dnnl_memory {
    _unused: [u8; 0],
}
pub type dnnl_memory_t = *mut dnnl_memory;
pub type const_dnnl_memory_t = *const dnnl_memory;
pub type dnnl_rnn_flags_t = ::core::ffi::c_uint;
pub type dnnl_rnn_direction_t = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug)]
pub struct dnnl_primitive_desc {
    _unused: [u8; 0],
}
pub type dnnl_primitive_desc_t = *mut dnnl_primitive_desc;
pub type const_dnnl_primitive_desc_t = *const dnnl_primitive_desc;
pub type dnnl_scratchpad_mode_t = ::core::ffi::c_uint;
pub type dnnl_rounding_mode_t = ::core::ffi::c_uint;
pub type dnnl_quantization_mode_t = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug)]
pub struct dnnl_primitive_attr {
    _unused: [u8; 0],
}
pub type dnnl_primitive_attr_t = *mut dnnl_primitive_attr;
pub type const_dnnl_primitive_attr_t = *const dnnl_primitive_attr;
#[repr(C)]
#[derive(Debug)]
pub struct dnnl_post_ops {
    _unused: [u8; 0],
}
pub type dnnl_post_ops_t = *mut dnnl_post_ops;
pub type const_dnnl_post_ops_t = *const dnnl_post_ops;
#[repr(C)]
#[derive(Debug)]
pub struct dnnl_primitive {
    _unused: [u8; 0],
}
pub type dnnl_primitive_t = *mut dnnl_primitive;
pub type const_dnnl_primitive_t = *const dnnl_primitive;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct dnnl_exec_arg_t {
    pub arg: ::core::ffi::c_int,
    pub memory: dnnl_memory_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dnnl_exec_arg_t"][::core::mem::size_of::<dnnl_exec_arg_t>() - 16usize];
    ["Alignment of dnnl_exec_arg_t"][::core::mem::align_of::<dnnl_exec_arg_t>() - 8usize];
    ["Offset of field: dnnl_exec_arg_t::arg"][::core::mem::offset_of!(dnnl_exec_arg_t, arg) - 0usize];
    ["Offset of field: dnnl_exec_arg_t::memory"][::core::mem::offset_of!(dnnl_exec_arg_t, memory) - 8usize];
};
pub type dnnl_query_t = ::core::ffi::c_uint;
pub type dnnl_cpu_isa_t = ::core::ffi::c_uint;
pub type dnnl_cpu_isa_hints_t = ::core::ffi::c_uint;
