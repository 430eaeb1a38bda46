//! Chooses the arrangement of images: the arrangement that they have in the call, or one for which the library has faster
//! code.
//!
//! Other backends keep images in blocks of 16 channels. On processors without 512-bit vectors the library has only plain
//! loops for this arrangement, but fast code for channels last and for blocks of 8. So on these processors images are copied
//! to one of those arrangements.

use crate::library::Library;
use crate::objects::{MemDesc, PrimDesc, shape_dims};
use mxrs_onednn_sys::sys;
use mxrs_op::TensorDesc;
use mxrs_types::{Error, Layout, Result};
use std::sync::Arc;

/// An arrangement of a tensor's elements in memory, and the primitive for it.
pub struct Arranged {
    /// The arrangement, as oneDNN describes it.
    pub md: Arc<MemDesc>,
    /// The same arrangement, as the executor describes it.
    pub layout: Layout,
    /// The description of the primitive.
    pub pd: PrimDesc,
}

/// Returns the primitive that `describe` makes for images in the arrangement of the call. If this primitive is a plain loop,
/// tries other arrangements.
///
/// # Errors
/// The error that oneDNN reports.
pub fn arranged(
    library: &Library,
    images: &TensorDesc,
    describe: impl Fn(&Arc<MemDesc>) -> Result<PrimDesc>,
) -> Result<Arranged> {
    let md = library.md(images)?;
    let here = Arranged { pd: describe(&md)?, layout: images.layout.clone(), md };
    if !here.pd.is_plain_loop() || !matches!(here.layout, Layout::Blocked { .. }) {
        return Ok(here);
    }
    for tag in [sys::dnnl_acdb, sys::dnnl_aBcd8b].into_iter().filter(|_| images.shape.ndim() == 4) {
        let (md, layout) = tagged(library, images, tag)?;
        if let Ok(pd) = describe(&md)
            && !pd.is_plain_loop()
        {
            return Ok(Arranged { pd, layout, md });
        }
    }
    Ok(here)
}

/// The arrangement with channels last. Tensors that are not images are row-major.
///
/// # Errors
/// The error that oneDNN reports.
pub fn channels_last(library: &Library, desc: &TensorDesc) -> Result<(Arc<MemDesc>, Layout)> {
    let tag = match desc.shape.ndim() {
        3 => sys::dnnl_acb,
        4 => sys::dnnl_acdb,
        5 => sys::dnnl_acdeb,
        _ => return Ok((library.md(&desc.with_layout(Layout::RowMajor))?, Layout::RowMajor)),
    };
    tagged(library, desc, tag)
}

fn tagged(library: &Library, desc: &TensorDesc, tag: sys::dnnl_format_tag_t) -> Result<(Arc<MemDesc>, Layout)> {
    let md = MemDesc::tagged(&shape_dims(&desc.shape), desc.dtype, tag)?;
    let layout = library.registry.activation_layout(desc, MemDesc::copy_of(md.0)?)?;
    Ok((Arc::new(md), layout))
}

/// Returns an error for a plain loop, so that the caller uses another arrangement.
///
/// # Errors
/// [`mxrs_types::ErrorKind::NotBuilt`] if the primitive is a plain loop.
pub fn expect_code(pd: &PrimDesc) -> Result<()> {
    if pd.is_plain_loop() {
        return Err(Error::not_built("a kernel for this order of images", "oneDNN has one on other processors only"));
    }
    Ok(())
}
