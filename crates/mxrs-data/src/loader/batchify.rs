//! Combines samples into a batch.

use mxrs_format::{AlignedBytes, Dense};
use mxrs_types::{Error, Result, Shape};

/// Stacks the tensors of samples: each tensor of the batch has one additional first axis, which counts the samples. All
/// samples must have tensors of the same shapes and types.
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::Shape`] or [`mxrs_types::ErrorKind::DType`], with the sample that differs from the
/// first; [`mxrs_types::ErrorKind::InvalidValue`] if there are no samples, or if two samples have different numbers of
/// tensors.
pub fn stack(samples: &[Vec<Dense>]) -> Result<Vec<Dense>> {
    let Some(first) = samples.first() else {
        return Err(Error::invalid("samples of a batch", 0, "at least 1"));
    };
    if let Some(odd) = samples.iter().position(|sample| sample.len() != first.len()) {
        let what = format!("tensors of sample {odd} of a batch");
        return Err(Error::invalid(what, samples[odd].len(), format!("{} as the first has", first.len())));
    }
    (0..first.len()).map(|tensor| stack_one(samples, tensor)).collect()
}

fn stack_one(samples: &[Vec<Dense>], tensor: usize) -> Result<Dense> {
    let first = &samples[0][tensor];
    let shape = Shape::new(std::iter::once(samples.len()).chain(first.shape().iter().copied()));
    let mut bytes = AlignedBytes::zeroed(shape.checked_size_bytes(first.dtype())?);
    let len = first.bytes().len();
    for (i, sample) in samples.iter().enumerate() {
        let sample = &sample[tensor];
        let arg = || format!("tensor {tensor} of sample {i}");
        if sample.dtype() != first.dtype() {
            return Err(Error::dtype("stack", arg(), first.dtype().name(), sample.dtype().name()));
        }
        if sample.shape() != first.shape() {
            return Err(Error::shape("stack", arg(), first.shape().to_string(), sample.shape()));
        }
        bytes[i * len..(i + 1) * len].copy_from_slice(sample.bytes());
    }
    Dense::new(first.dtype(), shape, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_format::{Element, Tensor};

    fn dense<T: Element>(shape: &[usize], values: &[T]) -> Dense {
        Tensor::from_slice(Shape::new(shape.iter().copied()), values).unwrap().into_dense().unwrap()
    }

    #[test]
    fn samples_of_one_kind_only() {
        let sample = |i: u8| vec![dense(&[2], &[i, i + 1]), dense(&[], &[f32::from(i)])];
        let batch = stack(&[sample(1), sample(5)]).unwrap();
        assert_eq!((batch[0].shape()[..].to_vec(), batch[0].bytes()), (vec![2, 2], &[1, 2, 5, 6][..]));
        assert_eq!(batch[1].as_slice::<f32>().unwrap(), [1.0, 5.0]);
        let message = |samples: &[Vec<Dense>]| stack(samples).unwrap_err().to_string();
        assert!(message(&[]).contains("at least 1"));
        assert!(message(&[sample(1), vec![]]).contains("sample 1"));
        assert!(message(&[vec![dense(&[1], &[1_u8])], vec![dense(&[2], &[1_u8, 2])]]).contains("tensor 0 of sample 1"));
        assert!(message(&[vec![dense(&[1], &[1_u8])], vec![dense(&[1], &[1_i8])]]).contains("int8"));
        assert_eq!(
            stack(&[vec![dense::<f32>(&[0], &[])], vec![dense::<f32>(&[0], &[])]]).unwrap()[0].shape()[..],
            [2, 0]
        );
    }
}
