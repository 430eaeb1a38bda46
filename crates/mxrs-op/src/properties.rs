//! Properties that an operator declares: whether it makes a view, works element by element or combines its inputs, and how
//! accurate its kernels are.

/// Whether the output of an operator is the memory of its first input, with another name or shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Not a view.
    No,
    /// Same shape, any layout: `_copy`, and `Dropout` at inference.
    Identity,
    /// Same elements in row-major order: `Reshape`, `Flatten`.
    Reshape,
}

/// Whether an operator works element by element, so that calls of several such operators can be one kernel
/// ([`Fused`](crate::Fused)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointwise {
    /// The operator is not pointwise, or only with some parameters.
    No,
    /// The operator is pointwise with all parameters, in training and at inference: all inputs and outputs have the
    /// same shape, and element `i` of every output depends only on element `i` of each input, the parameters and the
    /// element types. It draws no random numbers and rewrites no input.
    Yes,
}

/// Whether an operator only adds or concatenates its inputs. Binding can leave out a call of such an operator, if the steps
/// that make its inputs can write to its output instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combines {
    /// The operator does something else.
    No,
    /// The output is the sum of all inputs, element by element. All inputs have the same shape.
    Sum,
    /// The operator is like [`Self::Sum`], and the inputs are terms of a gradient. Usually, only this sum reads a term, so
    /// the sum may be made in the memory of a term.
    GradientSum,
    /// The output holds the inputs one after another along an axis.
    Concatenation,
}

/// How closely the kernels of an operator agree with its reference on floats. `mxrs-testkit` has the tolerance for each
/// class and element type. Integers agree exactly, except in the class [`Self::Quantum`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accuracy {
    /// Equal bit for bit, because elements are only moved.
    Exact,
    /// One or two roundings per element: sums, products, activations.
    Elementwise,
    /// A reduction of moderate length: pooling, normalization, softmax.
    Reduction,
    /// Long sums of products: convolution, matrix product.
    Product,
    /// Special functions.
    Special,
    /// Results of quantized operators: 8-bit integers, or sums of products of such integers. Integers may differ by 1
    /// from the reference; floats agree as in [`Self::Product`].
    Quantum,
}
