//! Conversions between oneDNN's memory descriptors and [`Layout`].
//!
//! A layout that oneDNN chose is stored with its descriptor, so that a later call with a tensor in this layout finds the
//! descriptor. The descriptor of a layout that another backend chose is found if one of oneDNN's format tags names the
//! layout. Layouts that are neither plain nor blocked arrangements of the tensor's own axes, such as packed weights, become
//! [`Layout::Opaque`] with an id that is assigned here.

use crate::objects::{Dims, MemDesc, backend_error, shape_dims};
use dashmap::DashMap;
use mxrs_onednn_sys::sys;
use mxrs_op::TensorDesc;
use mxrs_types::{Layout, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The descriptors found so far, by layout.
#[derive(Default)]
pub struct Registry {
    blocked: DashMap<TensorDesc, Arc<MemDesc>>,
    opaque: DashMap<u64, Arc<MemDesc>>,
    next_id: AtomicU64,
}

impl Registry {
    /// The descriptor of a tensor.
    ///
    /// # Errors
    /// Fails if oneDNN has no arrangement for the layout.
    pub fn md(&self, desc: &TensorDesc) -> Result<Arc<MemDesc>> {
        match &desc.layout {
            Layout::RowMajor => MemDesc::dense(&at_least_1d(shape_dims(&desc.shape)), desc.dtype).map(Arc::new),
            Layout::Blocked { .. } => {
                if let Some(md) = self.blocked.get(desc) {
                    return Ok(md.clone());
                }
                self.learn(desc)?;
                self.blocked.get(desc).map(|md| md.clone()).ok_or_else(|| unknown(desc))
            }
            Layout::Opaque { backend: "onednn", id, .. } => {
                self.opaque.get(id).map(|md| md.clone()).ok_or_else(|| unknown(desc))
            }
            Layout::Opaque { .. } => Err(unknown(desc)),
        }
    }

    /// Whether oneDNN has an arrangement for the layout of the tensor.
    pub fn knows(&self, desc: &TensorDesc) -> bool {
        match &desc.layout {
            Layout::RowMajor => true,
            Layout::Blocked { .. } => self.md(desc).is_ok(),
            Layout::Opaque { backend, .. } => *backend == "onednn",
        }
    }

    /// Stores the descriptor of a layout that another backend chose, if one of oneDNN's format tags names the layout.
    fn learn(&self, desc: &TensorDesc) -> Result<()> {
        let tags: &[sys::dnnl_format_tag_t] = match desc.shape.ndim() {
            4 => &[sys::dnnl_aBcd16b, sys::dnnl_aBcd8b, sys::dnnl_acdb],
            _ => &[],
        };
        for &tag in tags {
            let md = MemDesc::tagged(&shape_dims(&desc.shape), desc.dtype, tag)?;
            if self.activation_layout(desc, md)? == desc.layout {
                return Ok(());
            }
        }
        // The tensor may be a part of a larger tensor in blocks of channels, with gaps between the images.
        if let (Layout::Blocked { strides, .. }, 4) = (&desc.layout, desc.shape.ndim()) {
            let dense = MemDesc::tagged(&shape_dims(&desc.shape), desc.dtype, sys::dnnl_aBcd16b)?;
            if let Ok(Some(md)) = dense.with_image_stride(strides[0] * desc.dtype.size_of()) {
                self.activation_layout(desc, md)?;
            }
        }
        Ok(())
    }

    /// The layout of the descriptor `md`, whose axes are those of `desc`.
    ///
    /// # Errors
    /// The error that oneDNN reports.
    pub fn activation_layout(&self, desc: &TensorDesc, md: MemDesc) -> Result<Layout> {
        let n = desc.shape.ndim();
        if n == 0 || is_dense(&md, &shape_dims(&desc.shape))? {
            return Ok(Layout::RowMajor);
        }
        if md.number(sys::dnnl_query_format_kind)? as u32 != sys::dnnl_blocked {
            return Ok(self.packed_layout(md));
        }
        let n_blocks = md.number(sys::dnnl_query_inner_nblks_s32)? as usize;
        let sizes = md.sizes(sys::dnnl_query_inner_blks, n_blocks)?;
        let axes = md.sizes(sys::dnnl_query_inner_idxs, n_blocks)?;
        let layout = Layout::Blocked {
            padded: md.sizes(sys::dnnl_query_padded_dims, n)?.iter().map(|&d| d as usize).collect(),
            strides: md.sizes(sys::dnnl_query_strides, n)?.iter().map(|&d| d as usize).collect(),
            blocks: axes.iter().zip(&sizes).map(|(&a, &s)| (a as u8, s as u16)).collect(),
        };
        self.blocked.entry(desc.with_layout(layout.clone())).or_insert_with(|| Arc::new(md));
        Ok(layout)
    }

    /// The layout of packed weights that have the descriptor `md`: row-major if `md` is, otherwise opaque.
    ///
    /// # Errors
    /// The error that oneDNN reports.
    pub fn weights_layout(&self, md: MemDesc, sizes: &[i64]) -> Result<Layout> {
        if is_dense(&md, sizes)? { Ok(Layout::RowMajor) } else { Ok(self.packed_layout(md)) }
    }

    fn packed_layout(&self, md: MemDesc) -> Layout {
        let known = self.opaque.iter().find(|entry| entry.value().is_equal(&md)).map(|entry| *entry.key());
        let size_bytes = md.size_bytes();
        let id = known.unwrap_or_else(|| {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            self.opaque.insert(id, Arc::new(md));
            id
        });
        Layout::Opaque { backend: "onednn", id, size_bytes }
    }
}

/// Sizes with at least one axis. oneDNN has no scalars; a scalar is one element on one axis.
pub fn at_least_1d(sizes: Dims) -> Dims {
    if sizes.is_empty() { Dims::from_elem(1, 1) } else { sizes }
}

/// Whether the elements are in row-major order without gaps. Strides of axes of size 1 do not matter.
fn is_dense(md: &MemDesc, sizes: &[i64]) -> Result<bool> {
    if md.number(sys::dnnl_query_format_kind)? as u32 != sys::dnnl_blocked
        || md.number(sys::dnnl_query_inner_nblks_s32)? != 0
    {
        return Ok(false);
    }
    let elements: i64 = sizes.iter().product();
    let strides = md.sizes(sys::dnnl_query_strides, sizes.len())?;
    let mut expected = 1;
    for (&size, &stride) in sizes.iter().zip(&strides).rev() {
        if size != 1 && stride != expected {
            return Ok(false);
        }
        expected *= size;
    }
    let dtype_bytes = element_size(md.number(sys::dnnl_query_data_type)? as u32);
    Ok(md.size_bytes() == elements as usize * dtype_bytes)
}

fn element_size(code: sys::dnnl_data_type_t) -> usize {
    // SAFETY: the function has no pointer arguments; its result depends only on the code.
    unsafe { sys::dnnl_data_type_size(code) }
}

fn unknown(desc: &TensorDesc) -> mxrs_types::Error {
    backend_error(format!("layout of {desc} was not made by this backend"))
}
