//! One method for each common operator, implemented by [`Imperative::invoke`].

use super::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{DType, Error, Result, Shape};

/// The numbers as MXNet writes a tuple: `(2, 3)`.
fn tuple(items: &[i64]) -> String {
    let comma = if items.len() == 1 { "," } else { "" };
    let items: Vec<String> = items.iter().map(i64::to_string).collect();
    format!("({}{comma})", items.join(", "))
}

fn sizes(shape: &Shape) -> String {
    tuple(&shape.iter().map(|n| *n as i64).collect::<Vec<_>>())
}

macro_rules! with_two_inputs {
    ($($name:ident $op:literal $doc:literal),+ $(,)?) => { $(
        #[doc = $doc]
        ///
        /// # Errors
        /// Returns the errors of [`Self::invoke`].
        #[track_caller]
        pub fn $name(&self, lhs: &NdArray, rhs: &NdArray) -> Result<NdArray> {
            self.one($op, &Attrs::new(), &[lhs, rhs])
        }
    )+ };
}

macro_rules! with_scalar {
    ($($name:ident $op:literal $doc:literal),+ $(,)?) => { $(
        #[doc = $doc]
        ///
        /// # Errors
        /// Returns the errors of [`Self::invoke`].
        #[track_caller]
        pub fn $name(&self, data: &NdArray, scalar: f64) -> Result<NdArray> {
            self.one($op, &Attrs::from([("scalar", scalar.to_string())]), &[data])
        }
    )+ };
}

macro_rules! with_one_input {
    ($($name:ident $op:literal $doc:literal),+ $(,)?) => { $(
        #[doc = $doc]
        ///
        /// # Errors
        /// Returns the errors of [`Self::invoke`].
        #[track_caller]
        pub fn $name(&self, data: &NdArray) -> Result<NdArray> {
            self.one($op, &Attrs::new(), &[data])
        }
    )+ };
}

macro_rules! over_axes {
    ($($name:ident $op:literal $doc:literal),+ $(,)?) => { $(
        #[doc = $doc]
        /// Runs over these axes, or over all axes if the list is empty. If `keepdims`, the axes stay with size 1.
        ///
        /// # Errors
        /// Returns the errors of [`Self::invoke`].
        #[track_caller]
        pub fn $name(&self, data: &NdArray, axes: &[i64], keepdims: bool) -> Result<NdArray> {
            let mut attrs = Attrs::from([("keepdims", keepdims.to_string())]);
            if !axes.is_empty() {
                attrs.set("axis", tuple(axes));
            }
            self.one($op, &attrs, &[data])
        }
    )+ };
}

impl Imperative {
    with_two_inputs!(
        add "broadcast_add" "`lhs + rhs`, broadcasting.",
        sub "broadcast_sub" "`lhs - rhs`, broadcasting.",
        mul "broadcast_mul" "`lhs · rhs`, broadcasting.",
        div "broadcast_div" "`lhs / rhs`, broadcasting.",
    );
    with_scalar!(
        add_scalar "_plus_scalar" "`data + scalar`.",
        sub_scalar "_minus_scalar" "`data - scalar`.",
        rsub_scalar "_rminus_scalar" "`scalar - data`.",
        mul_scalar "_mul_scalar" "`data · scalar`.",
        div_scalar "_div_scalar" "`data / scalar`.",
        rdiv_scalar "_rdiv_scalar" "`scalar / data`.",
        power_scalar "_power_scalar" "`data` to the power `scalar`.",
        maximum_scalar "_maximum_scalar" "The larger of data and `scalar`.",
        minimum_scalar "_minimum_scalar" "The smaller of data and `scalar`.",
    );
    with_one_input!(
        exp "exp" "The exponential.",
        log "log" "The natural logarithm.",
        sqrt "sqrt" "The square root.",
        square "square" "The square.",
        abs "abs" "The absolute value.",
        negative "negative" "The negative.",
        relu "relu" "Zero where negative.",
        sigmoid "sigmoid" "`1 / (1 + exp(-data))`.",
        tanh "tanh" "The hyperbolic tangent.",
        flatten "Flatten" "All axes after the first as one.",
        zeros_like "zeros_like" "Zeros.",
        ones_like "ones_like" "Ones.",
    );
    over_axes!(
        sum "sum" "Sums.",
        mean "mean" "Means.",
        max "max" "Largest elements.",
    );

    /// The only visible output of a call.
    #[track_caller]
    pub(crate) fn one(&self, op: &str, attrs: &Attrs, inputs: &[&NdArray]) -> Result<NdArray> {
        let mut outputs = self.invoke(op, attrs, inputs)?;
        if outputs.is_empty() {
            return Err(Error::invalid(op, "a call without output", "one output"));
        }
        Ok(outputs.swap_remove(0))
    }

    /// Position of the largest element along `axis`, as a float.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn argmax(&self, data: &NdArray, axis: i64) -> Result<NdArray> {
        self.one("argmax", &Attrs::from([("axis", axis.to_string())]), &[data])
    }

    /// A copy of the elements in another shape; [`NdArray::reshape`] makes a view instead. MXNet's codes 0, -1, … apply.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn reshape(&self, data: &NdArray, shape: &[i64]) -> Result<NdArray> {
        self.one("Reshape", &Attrs::from([("shape", tuple(shape))]), &[data])
    }

    /// The array with its axes in another order. If `axes` is empty, the axes are reversed.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn transpose(&self, data: &NdArray, axes: &[i64]) -> Result<NdArray> {
        self.one("transpose", &Attrs::from([("axes", tuple(axes))]), &[data])
    }

    /// Concatenates arrays along an axis.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn concat(&self, arrays: &[&NdArray], axis: i64) -> Result<NdArray> {
        self.one("Concat", &Attrs::from([("dim", axis.to_string())]), arrays)
    }

    /// The positions `begin..end` of an axis. If `end` is `None`, the range extends to the end of the axis.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn slice_axis(&self, data: &NdArray, axis: i64, begin: i64, end: Option<i64>) -> Result<NdArray> {
        let end = end.map_or("None".into(), |end| end.to_string());
        let attrs = Attrs::from([("axis", axis.to_string()), ("begin", begin.to_string()), ("end", end)]);
        self.one("slice_axis", &attrs, &[data])
    }

    /// The array with a new axis of size 1.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn expand_dims(&self, data: &NdArray, axis: i64) -> Result<NdArray> {
        self.one("expand_dims", &Attrs::from([("axis", axis.to_string())]), &[data])
    }

    /// The array without these axes, whose size must be 1. If `axes` is empty, all axes of size 1 are removed.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn squeeze(&self, data: &NdArray, axes: &[i64]) -> Result<NdArray> {
        let attrs = if axes.is_empty() { Attrs::new() } else { Attrs::from([("axis", tuple(axes))]) };
        self.one("squeeze", &attrs, &[data])
    }

    /// Exponentials along an axis, scaled to sum to 1.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn softmax(&self, data: &NdArray, axis: i64) -> Result<NdArray> {
        self.one("softmax", &Attrs::from([("axis", axis.to_string())]), &[data])
    }

    /// `data · weightᵀ + bias`. Data is flattened to [N, features]; the weight is [hidden, features].
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn fully_connected(
        &self,
        data: &NdArray,
        weight: &NdArray,
        bias: Option<&NdArray>,
        num_hidden: usize,
    ) -> Result<NdArray> {
        let attrs = Attrs::from([("num_hidden", num_hidden.to_string()), ("no_bias", bias.is_none().to_string())]);
        let inputs: Vec<&NdArray> = [data, weight].into_iter().chain(bias).collect();
        self.one("FullyConnected", &attrs, &inputs)
    }

    /// Convolution of data [N, C, …] with weight [filters, C / groups, …]. `attrs` may set stride, pad, dilate and
    /// num_group. The kernel size and the number of filters are taken from the weight.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn convolution(
        &self,
        data: &NdArray,
        weight: &NdArray,
        bias: Option<&NdArray>,
        attrs: &Attrs,
    ) -> Result<NdArray> {
        let mut attrs = attrs.clone();
        let shape = weight.shape();
        let Some(filters) = shape.first() else {
            return Err(Error::shape("Convolution", "weight", "[filters, channels, …]", shape));
        };
        attrs.set("num_filter", filters.to_string());
        if attrs.get("kernel").is_none() {
            attrs.set("kernel", sizes(&Shape::from(shape.get(2..).unwrap_or_default())));
        }
        attrs.set("no_bias", bias.is_none().to_string());
        let inputs: Vec<&NdArray> = [data, weight].into_iter().chain(bias).collect();
        self.one("Convolution", &attrs, &inputs)
    }

    /// Pooling. `attrs` are the attributes of the operator (`kernel`, `pool_type`, `stride`, `pad`, `global_pool`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn pooling(&self, data: &NdArray, attrs: &Attrs) -> Result<NdArray> {
        self.one("Pooling", attrs, &[data])
    }

    /// Normalizes each channel. Updates the moving mean and variance in training. `attrs` are the attributes of the
    /// operator.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn batch_norm(
        &self,
        data: &NdArray,
        scale: (&NdArray, &NdArray),
        moving: (&NdArray, &NdArray),
        attrs: &Attrs,
    ) -> Result<NdArray> {
        self.one("BatchNorm", attrs, &[data, scale.0, scale.1, moving.0, moving.1])
    }

    /// In training, sets a random fraction `p` of the elements to zero and scales the rest by `1 / (1 - p)`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn dropout(&self, data: &NdArray, p: f64) -> Result<NdArray> {
        self.one("Dropout", &Attrs::from([("p", p.to_string())]), &[data])
    }

    /// The elements converted to another type.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`].
    #[track_caller]
    pub fn cast(&self, data: &NdArray, dtype: DType) -> Result<NdArray> {
        self.one("Cast", &Attrs::from([("dtype", dtype.name())]), &[data])
    }
}
