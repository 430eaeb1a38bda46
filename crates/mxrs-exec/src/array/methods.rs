//! Methods of `Array` that call the methods of [`Imperative`](crate::Imperative) with the same names.

use super::{Array, Axes};
use crate::GradReq;
use crate::imperative::{BackwardOptions, autograd};
use mxrs_ndarray::NdArray;
use mxrs_op::Layer;
use mxrs_types::{DType, Error, Result};
use std::ops::{Bound, RangeBounds};

macro_rules! elementwise {
    ($($name:ident $doc:literal),+ $(,)?) => { $(
        #[doc = $doc]
        ///
        /// # Errors
        /// Returns the error that the array carries, or an error if the operator does not support the element type.
        #[track_caller]
        pub fn $name(&self) -> Result<Self> {
            self.by(|nd, array| nd.$name(array))
        }
    )+ };
}

macro_rules! reductions {
    ($($name:ident $doc:literal),+ $(,)?) => { $(
        #[doc = $doc]
        ///
        /// The reduction runs over `axes`: `..` for all axes, one axis, or several. The result does not have these axes.
        ///
        /// # Errors
        /// Returns the error that the array carries, or an error if the array has no such axis.
        #[track_caller]
        pub fn $name(&self, axes: impl Axes) -> Result<Self> {
            self.by(|nd, array| nd.$name(array, axes.axes(), false))
        }
    )+ };
}

impl Array {
    #[track_caller]
    fn by(&self, call: impl FnOnce(&crate::Imperative, &NdArray) -> Result<NdArray>) -> Result<Self> {
        Ok(Self::new(&self.nd, Ok(call(&self.nd, self.as_nd()?)?)))
    }

    elementwise!(
        exp "The exponential.",
        log "The natural logarithm.",
        sqrt "The square root.",
        square "The square.",
        abs "The absolute value.",
        relu "Zero where it is negative.",
        sigmoid "`1 / (1 + exp(-x))`.",
        tanh "The hyperbolic tangent.",
        flatten "All axes after the first as one.",
    );
    reductions!(
        sum "The sum",
        mean "The mean",
        max "The largest element",
    );

    /// The output of a layer. The array is its first input; `others` are the inputs after it, such as weights, biases and
    /// labels.
    ///
    /// ```
    /// # use mxrs_exec::{Array, Imperative};
    /// use mxrs_ops::layers::{Activation, FullyConnected};
    ///
    /// fn dense(x: &Array, weight: &Array, bias: &Array) -> mxrs_types::Result<Array> {
    ///     x.apply(&FullyConnected::new(10), &[weight, bias])?.apply(&Activation::relu(), &[])
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns the error that an input carries, or an error if the operator refuses the attributes or the inputs.
    #[track_caller]
    pub fn apply<L: Layer>(&self, layer: &L, others: &[&Self]) -> Result<Self> {
        let mut inputs = vec![self.as_nd()?];
        for other in others {
            inputs.push(other.as_nd()?);
        }
        self.by(|nd, _| nd.one(L::OP, &layer.attrs(), &inputs))
    }

    /// Positions of the largest elements along an axis, as floats.
    ///
    /// # Errors
    /// Returns the error that the array carries, or an error if the array has no such axis.
    #[track_caller]
    pub fn argmax(&self, axis: i64) -> Result<Self> {
        self.by(|nd, array| nd.argmax(array, axis))
    }

    /// Exponentials along an axis, scaled to sum to 1.
    ///
    /// # Errors
    /// Returns the error that the array carries, or an error if the array has no such axis.
    #[track_caller]
    pub fn softmax(&self, axis: i64) -> Result<Self> {
        self.by(|nd, array| nd.softmax(array, axis))
    }

    /// The elements in another shape. In `shape`, -1 stands for the size that makes the number of elements right, and 0 for
    /// the size of the same axis of this array.
    ///
    /// # Errors
    /// Returns the error that the array carries, or an error if the shape has another number of elements.
    #[track_caller]
    pub fn reshape(&self, shape: impl AsRef<[i64]>) -> Result<Self> {
        self.by(|nd, array| nd.reshape(array, shape.as_ref()))
    }

    /// The array with its axes in another order. An empty order reverses the axes.
    ///
    /// # Errors
    /// Returns the error that the array carries, or an error if the order does not name each axis once.
    #[track_caller]
    pub fn transpose(&self, axes: impl AsRef<[i64]>) -> Result<Self> {
        self.by(|nd, array| nd.transpose(array, axes.as_ref()))
    }

    /// A range of positions of one axis: `x.slice(0, 1..3)`, `x.slice(1, ..-1)`. Negative positions count from the end.
    ///
    /// # Errors
    /// Returns the error that the array carries. Returns an error if the array has no such axis, or if the range is empty
    /// or exceeds the axis.
    #[track_caller]
    pub fn slice(&self, axis: i64, range: impl RangeBounds<i64>) -> Result<Self> {
        let begin = match range.start_bound() {
            Bound::Unbounded => 0,
            Bound::Included(&begin) => begin,
            Bound::Excluded(&before) => before.saturating_add(1),
        };
        let end = match range.end_bound() {
            Bound::Unbounded | Bound::Included(-1) => None,
            Bound::Included(&last) => Some(last.saturating_add(1)),
            Bound::Excluded(&end) => Some(end),
        };
        self.by(|nd, array| nd.slice_axis(array, axis, begin, end))
    }

    /// One position of the first axis. The result does not have this axis: `x.at(0)` is the first row of a matrix. Negative
    /// positions count from the end.
    ///
    /// # Errors
    /// Returns the error that the array carries, or an error if the first axis has no such position.
    #[track_caller]
    pub fn at(&self, position: i64) -> Result<Self> {
        self.slice(0, position..=position)?.by(|nd, row| {
            let shape: Vec<i64> = row.shape().iter().skip(1).map(|n| *n as i64).collect();
            // One position of a vector is a single number. It is returned as an array with one element.
            nd.reshape(row, if shape.is_empty() { &[1] } else { &shape })
        })
    }

    /// The elements converted to another type.
    ///
    /// # Errors
    /// Returns the error that the array carries, or an error if there is no conversion to the type.
    #[track_caller]
    pub fn cast(&self, dtype: DType) -> Result<Self> {
        self.by(|nd, array| nd.cast(array, dtype))
    }

    /// Tracks the array. If an array is computed from it while calls are recorded, [`Self::backward`] of that array fills
    /// [`Self::grad`].
    ///
    /// ```
    /// # use mxrs_exec::{Imperative, autograd};
    /// fn slope(nd: &Imperative) -> mxrs_types::Result<Vec<f32>> {
    ///     let x = nd.array([3], &[1.0f32, 2.0, 3.0])?;
    ///     x.attach_grad()?;
    ///     let y = {
    ///         let _recorded = autograd::record();
    ///         (&x * &x).sum(..)?
    ///     };
    ///     y.backward()?;
    ///     x.grad()?.to_vec() // 2 · x
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns the error that the array carries, or an error if memory runs out.
    pub fn attach_grad(&self) -> Result<()> {
        self.nd.attach_grad(self.as_nd()?, GradReq::Write)
    }

    /// The gradient that the last [`Self::backward`] computed.
    ///
    /// # Errors
    /// Returns the error that the array carries, or an error if the array is not tracked.
    pub fn grad(&self) -> Result<Self> {
        let grad = autograd::grad_of(self.as_nd()?)
            .ok_or_else(|| Error::invalid("gradient of an array", "an array that has none", "attach_grad first"))?;
        Ok(Self::new(&self.nd, Ok(grad)))
    }

    /// Computes the gradients of the sum of this array's elements with respect to every tracked array that it was computed
    /// from.
    ///
    /// # Errors
    /// Returns the error that the array carries, or an error if the array was not computed by a recorded call.
    pub fn backward(&self) -> Result<()> {
        self.nd.backward(&[self.as_nd()?], &[], BackwardOptions::default())
    }
}
