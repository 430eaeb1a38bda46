//! Quantized convolutions and fully-connected layers: 8-bit integers are multiplied and summed in 32 bits, and the
//! range of the sums follows from the ranges of data and weight.
//!
//! The quantum of the sums is `quantum(data) · quantum(weight)`, and their range is ±(2³¹ - 1) times this quantum. A bias,
//! int8 or float32, is divided by this quantum, truncated and added. Sums do not wrap but saturate at 2³¹.

use crate::families::products::{Product, operator};
use crate::families::quantized::{
    ACTIVATIONS, OUTPUTS, Range, learn_channel_ranges, learn_range_types, learn_ranges, levels, range, ranges,
    require_type, to_integer, write_ranges,
};
use crate::inference::{OP, bad_attribute, learn_dtype};
use crate::numeric;
use mxrs_op::{Accuracy, Gradient, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

/// A product that also has a form for 8-bit integers.
pub trait QuantizedProduct: Product {
    /// Refuses parameters that the product does not support for integers.
    ///
    /// # Errors
    /// Fails with [`mxrs_types::ErrorKind::Attribute`], which names the refused parameter.
    fn check(params: &Self::Params) -> Result<()>;
}

/// The positions of the inputs of a quantized product: data, weight, bias unless there is none, then ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Position of the bias.
    pub bias: Option<usize>,
    /// Position of `min_data`. The inputs `max_data`, `min_weight` and `max_weight` follow; `min_bias` and `max_bias` too if
    /// there is a bias.
    pub ranges: usize,
}

impl Places {
    /// The positions for a product with or without a bias, and with `n_between` inputs between bias and ranges.
    pub const fn new(no_bias: bool, n_between: usize) -> Self {
        let n_factors = if no_bias { 2 } else { 3 };
        Self { bias: if no_bias { None } else { Some(2) }, ranges: n_factors + n_between }
    }

    /// Position of the input `min_weight`.
    pub const fn weight_range(self) -> usize {
        self.ranges + 2
    }
}

/// Defines the quantized form of the product `P` under the name `name`, without summary and samples.
pub fn define<P: QuantizedProduct>(name: &'static str) -> OpDef {
    OpDef {
        inputs: InputNames::ByParams {
            all: &[
                "data",
                "weight",
                "bias",
                "min_data",
                "max_data",
                "min_weight",
                "max_weight",
                "min_bias",
                "max_bias",
            ],
            chosen: |params| {
                let mut names = vec!["data", "weight", "bias", "min_data", "max_data", "min_weight", "max_weight"];
                match P::no_bias(params.get()) {
                    true => drop(names.remove(2)),
                    false => names.extend(["min_bias", "max_bias"]),
                }
                names
            },
        },
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::Fixed(3),
        output_names: OUTPUTS,
        infer_shape: |params, inputs, outputs| {
            infer_shape::<P>(params.get(), Places::new(P::no_bias(params.get()), 0), inputs, outputs)
        },
        infer_dtype: |params, inputs, outputs| {
            infer_dtype(Places::new(P::no_bias(params.get::<P::Params>()), 0), inputs)?;
            learn_dtype(&mut outputs[0], DType::I32, "output")?;
            learn_range_types(&mut outputs[1..])
        },
        dtypes: ACTIVATIONS,
        is_costly: false,
        accuracy: Accuracy::Quantum,
        reference: Some(run::<P>),
        gradient: Gradient::Undefined,
        companions: Vec::new,
        name,
        ..operator::<P>()
    }
}

/// Infers the shapes of data, weight and bias with their ranges, and of the output with its range.
pub fn infer_shape<P: QuantizedProduct>(
    params: &P::Params,
    places: Places,
    inputs: &mut [PartialShape],
    outputs: &mut [PartialShape],
) -> Result<()> {
    P::check(params)?;
    let n_factors = if places.bias.is_some() { 3 } else { 2 };
    let [out, out_ranges @ ..] = outputs else { return Ok(()) };
    P::infer_shape(params, &mut inputs[..n_factors], std::slice::from_mut(out))?;
    let channels = inputs[1].dim(0);
    let ranges = &mut inputs[places.ranges..];
    learn_ranges(&mut ranges[..2])?;
    learn_ranges(&mut ranges[4..])?;
    let ranges = ranges[2..4].iter_mut().chain(out_ranges);
    learn_channel_ranges(ranges, channels)?;
    let weight_range = inputs[places.weight_range()].dim(0).unwrap_or(1);
    if let (true, Some(ndim)) = (weight_range > 1, out.ndim())
        && P::bias_axis(params, ndim) != 1
    {
        return Err(Error::shape(OP, "min_weight", "one element, where channels are not axis 1 of out", weight_range));
    }
    Ok(())
}

/// Infers the types of the inputs.
pub fn infer_dtype(places: Places, inputs: &mut [Option<DType>]) -> Result<()> {
    require_type(inputs[0], ACTIVATIONS, "data")?;
    learn_dtype(&mut inputs[1], DType::I8, "weight")?;
    if let Some(bias) = places.bias {
        require_type(inputs[bias], &[DType::I8, DType::F32], "bias")?;
        if inputs[bias].is_none() {
            inputs[bias] = Some(DType::I8);
        }
    }
    learn_range_types(&mut inputs[places.ranges..])
}

/// The result of a quantized product before the bias is added: sums counted in quanta, the real value of a quantum, and the
/// bias.
pub struct Sums {
    /// The sums, in the row-major order of the output.
    pub sums: Vec<f64>,
    /// Real value of one unit of the sums: a single quantum, or one per output channel.
    pub quanta: Vec<f64>,
    /// The bias as real numbers.
    pub bias: Option<Vec<f64>>,
}

/// Multiplies data and weight and sums the products.
///
/// # Errors
/// Fails if the parameters contradict the shapes, or if a range has no element.
pub fn sums<P: QuantizedProduct>(
    params: &P::Params,
    places: Places,
    inputs: &[RefInput<'_>],
    out: &Shape,
) -> Result<Sums> {
    let sums = P::values(params, &inputs[..2], out)?;
    let at = places.ranges;
    let of_data = range(&inputs[at], &inputs[at + 1])?.quantum(inputs[0].desc.dtype);
    let of_weight = ranges(&inputs[at + 2], &inputs[at + 3]);
    let quanta = of_weight.iter().map(|r| of_data * r.quantum(DType::I8)).collect();
    let bias = places.bias.map(|bias| {
        let values = numeric::read(&inputs[bias]);
        if inputs[bias].desc.dtype.is_float() {
            return Ok(values);
        }
        let quantum = range(&inputs[at + 4], &inputs[at + 5])?.quantum(DType::I8);
        Ok::<_, Error>(values.into_iter().map(|b| b * quantum).collect())
    });
    Ok(Sums { sums, quanta, bias: bias.transpose()? })
}

fn run<P: QuantizedProduct>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let params = params.get::<P::Params>();
    let shape = &outputs[0].desc.shape;
    let Sums { mut sums, quanta, bias } = sums::<P>(params, Places::new(P::no_bias(params), 0), inputs, shape)?;
    if let Some(bias) = bias {
        let channels = Channels::of::<P>(params, shape);
        for (i, sum) in sums.iter_mut().enumerate() {
            let c = channels.at(i);
            let quantum = quanta[c.min(quanta.len() - 1)];
            *sum += if quantum > 0.0 { (bias[c] / quantum).trunc() } else { 0.0 };
        }
    }
    sums.iter_mut().for_each(|sum| *sum = to_integer(DType::I32, *sum));
    numeric::write(&mut outputs[0], &sums);
    let reach = |quantum: &f64| quantum * levels(DType::I32);
    let ranges: Vec<Range> = quanta.iter().map(|q| Range { min: -reach(q), max: reach(q) }).collect();
    write_ranges(outputs, &ranges);
    Ok(())
}

/// Maps an element of the output to its channel.
#[derive(Clone, Copy, Debug)]
pub struct Channels {
    inner: usize,
    n: usize,
}

impl Channels {
    /// Makes the mapping for an output of shape `out`.
    pub fn of<P: Product>(params: &P::Params, out: &Shape) -> Self {
        let axis = P::bias_axis(params, out.ndim());
        Self { inner: out.iter().skip(axis + 1).product::<usize>().max(1), n: out.get(axis).map_or(1, |n| *n).max(1) }
    }

    /// The channel of element `i`.
    pub fn at(self, i: usize) -> usize {
        i / self.inner % self.n
    }
}

/// Makes the error for a layout with channels last, which quantized products do not support.
pub fn channels_last(op: &str, layout: &str) -> Error {
    bad_attribute(op, "layout", "channels before space, where tensors are quantized", layout)
}
