//! A complete oneDNN computation through the raw interface.

use mxrs_onednn_sys::result::{self, created};
use mxrs_onednn_sys::{ThreadPoolHandle, sys};

/// `max(x, 0)` of a vector, computed by oneDNN on `pool`, or on oneDNN's own threads without a pool.
pub fn relu(x: &[f32], pool: Option<&ThreadPoolHandle>) -> mxrs_types::Result<Vec<f32>> {
    if let Some(pool) = pool {
        pool.set_max_concurrency()?;
    }
    let mut x = x.to_vec();
    let mut y = vec![f32::NAN; x.len()];
    // SAFETY: all objects are used between creation and destruction, and the memory objects' buffers are vectors of the
    // described size that outlive them. (An early return leaks objects, which is safe.)
    unsafe {
        let engine = created(|out| result::engine_create(out, sys::dnnl_cpu, 0))?;
        let stream = result::stream_on_pool(engine, pool)?;
        let dims = [x.len() as sys::dnnl_dim_t];
        let md = created(|out| result::memory_desc_create_with_tag(out, 1, dims.as_ptr(), sys::dnnl_f32, sys::dnnl_a))?;
        assert_eq!(sys::dnnl_memory_desc_get_size(md), 4 * x.len());
        let pd = created(|out| {
            result::eltwise_forward_primitive_desc_create(
                out,
                engine,
                sys::dnnl_forward_inference,
                sys::dnnl_eltwise_relu,
                md,
                md,
                0.0,
                0.0,
                std::ptr::null(),
            )
        })?;
        let primitive = created(|out| result::primitive_create(out, pd))?;
        let src = created(|out| result::memory_create(out, md, engine, x.as_mut_ptr().cast()))?;
        let dst = created(|out| result::memory_create(out, md, engine, y.as_mut_ptr().cast()))?;
        let args = [
            sys::dnnl_exec_arg_t { arg: sys::DNNL_ARG_SRC, memory: src },
            sys::dnnl_exec_arg_t { arg: sys::DNNL_ARG_DST, memory: dst },
        ];
        result::primitive_execute(primitive, stream, 2, args.as_ptr())?;
        result::stream_wait(stream)?;
        result::memory_destroy(dst)?;
        result::memory_destroy(src)?;
        result::primitive_destroy(primitive)?;
        result::primitive_desc_destroy(pd)?;
        result::memory_desc_destroy(md)?;
        result::stream_destroy(stream)?;
        result::engine_destroy(engine)?;
    }
    if let Some(pool) = pool {
        pool.check_panic()?;
    }
    Ok(y)
}

/// Returns `n` positive and negative numbers.
pub fn input(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i as f32 * 0.75).sin() * 3.0).collect()
}

/// The expected result, computed from the definition.
pub fn expected(x: &[f32]) -> Vec<f32> {
    x.iter().map(|v| v.max(0.0)).collect()
}
