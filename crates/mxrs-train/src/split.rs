//! Cuts arrays into one part per device, for imperative code.

use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{Device, Error, Result, ResultExt};

/// Cuts an array along `batch_axis` into `n_slices` parts, as Gluon's `split_data` does. If the axis cannot be divided evenly,
/// the first parts have one element more, unless `even_split` forbids it. Parts along axis 0 share the memory of `data`.
///
/// # Errors
/// Returns an error if `data` does not have the axis, if there are no parts, if a part would be empty, or if `even_split` is
/// set and the parts would differ.
pub fn split_data(
    nd: &Imperative,
    data: &NdArray,
    n_slices: usize,
    batch_axis: usize,
    even_split: bool,
) -> Result<Vec<NdArray>> {
    let Some(&size) = data.shape().get(batch_axis) else {
        return Err(Error::shape("split_data", "data", format!("an axis {batch_axis}"), data.shape()));
    };
    if n_slices == 0 || n_slices > size {
        return Err(Error::invalid(
            "number of slices",
            n_slices,
            format!("1 to {size}, the size of axis {batch_axis}"),
        ));
    }
    if even_split && !size.is_multiple_of(n_slices) {
        let expected = format!("a multiple of {n_slices} along axis {batch_axis}; even_split = false allows others");
        return Err(Error::shape("split_data", "data", expected, data.shape()));
    }
    let (each, n_larger) = (size / n_slices, size % n_slices);
    let mut begin = 0;
    let slice = |i: usize| {
        let end = begin + each + usize::from(i < n_larger);
        let part = if n_slices == 1 {
            Ok(data.clone())
        } else if batch_axis == 0 {
            data.slice(begin, end)
        } else {
            let attrs = [("axis", batch_axis), ("begin", begin), ("end", end)];
            let attrs = Attrs::from(attrs.map(|(key, number)| (key, number.to_string())));
            let made = nd.invoke("slice_axis", &attrs, &[data])?.into_iter().next();
            made.ok_or_else(|| Error::invalid("slice_axis", "no output", "one output"))
        };
        begin = end;
        part
    };
    (0..n_slices).map(slice).collect()
}

/// Cuts an array along `batch_axis` into one part for each context, and copies each part to its context, as Gluon's
/// `split_and_load` does. A part that is on its context already is not copied.
///
/// # Errors
/// Fails as [`split_data`] does; also if memory on a context is short.
pub fn split_and_load(
    nd: &Imperative,
    data: &NdArray,
    contexts: &[Device],
    batch_axis: usize,
    even_split: bool,
) -> Result<Vec<NdArray>> {
    let parts = split_data(nd, data, contexts.len(), batch_axis, even_split)?;
    let load = |(part, device): (NdArray, &Device)| {
        part.as_in_context(nd.context(), *device).context(|| format!("loading a part of a batch to {device}"))
    };
    parts.into_iter().zip(contexts).map(load).collect()
}
