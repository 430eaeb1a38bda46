//! Arrays of the whole batch from the arrays of its parts.

use mxrs_exec::{Imperative, autograd};
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{Error, Result};

/// A new array for the concatenation of `parts` along axis 0, on the device of the first part. `what` names it in errors.
///
/// # Errors
/// Returns an error if the parts have no axes or differ in other axes than the first, or if memory is short.
pub fn array_for(nd: &Imperative, parts: &[&NdArray], what: &str) -> Result<NdArray> {
    let Some(first) = parts.first() else {
        return Err(Error::invalid(what, "no parts", "one per context"));
    };
    let mut shape = first.shape().clone();
    let mut n_rows = 0;
    for part in parts {
        let Some((rows, others)) = part.shape().split_first() else {
            return Err(Error::invalid(what, "no axes", "rows to concatenate over the contexts"));
        };
        if *others != shape[1..] {
            let expected = format!("{}, as on {}, in all axes but the first", first.shape(), first.device());
            return Err(Error::shape("merge", what, expected, part.shape()));
        }
        n_rows += rows;
    }
    shape.dims_mut()[0] = n_rows;
    NdArray::empty(nd.context(), shape, first.dtype(), first.device(), "merge")
}

/// Writes the concatenation of `parts` to `whole`, an array of [`array_for`]. One task reads all parts, so if any part
/// failed, `whole` fails with the same error.
///
/// # Errors
/// Returns an error if memory is short or an operator fails.
pub fn concatenate(nd: &Imperative, parts: &[&NdArray], whole: &NdArray) -> Result<()> {
    let _paused = autograd::pause();
    let here = parts.iter().map(|part| part.detach().as_in_context(nd.context(), whole.device()));
    let here = here.collect::<Result<Vec<NdArray>>>()?;
    let attrs = Attrs::from([("dim", "0".to_owned()), ("num_args", here.len().to_string())]);
    nd.invoke_into("Concat", &attrs, &here.iter().collect::<Vec<_>>(), &[whole])
}
