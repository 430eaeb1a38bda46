//! Einstein's summation: `_npi_einsum` multiplies arrays whose axes have letters, and sums over the letters that the output does
//! not have: `ij,jk->ik`. Without `->` the output has the letters that occur once, in alphabetical order. An ellipsis stands for the
//! remaining axes, which broadcast; an axis of size 1 broadcasts too. Spaces are ignored.
//!
//! Gradient: of every array.
//!
//! MXNet: `_npi_einsum`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64, the same for all arrays; integers wrap.

use crate::dtypes::NUMBERS;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::indexing::for_each_index;
use crate::inference::{OP, bad_attribute, learn};
use mxrs_op::{Accuracy, OpDef, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};
use std::collections::BTreeMap;

op_params! {
    /// Parameters of `_npi_einsum`.
    pub struct EinsumParams for "_npi_einsum" {
        /// Number of arrays.
        num_args: i32,
        /// Letters of the axes.
        subscripts: String = String::new(),
        /// Read and ignored: the order in which MXNet multiplies.
        optimize: i32 = 0,
    }
}

/// A name of an axis: a letter, or the number of an axis of the ellipsis, counted from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Ellipsis(usize),
    Letter(char),
}

/// The names of the axes of all arrays and of the output, and their sizes.
struct Plan {
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
    sizes: BTreeMap<Label, usize>,
}

fn wrong(expected: impl Into<String>, got: impl ToString) -> Error {
    bad_attribute("_npi_einsum", "subscripts", expected, got)
}

/// The letters before and after the ellipsis; the latter are `None` without an ellipsis.
fn letters(text: &str) -> Result<(Vec<char>, Option<Vec<char>>)> {
    let read = |part: &str| match part.chars().find(|c| !c.is_ascii_alphabetic()) {
        Some(other) => Err(wrong("letters, at most one ellipsis `...` in each term, commas and one `->`", other)),
        None => Ok(part.chars().collect::<Vec<char>>()),
    };
    match text.split_once("...") {
        None => Ok((read(text)?, None)),
        Some((before, after)) => Ok((read(before)?, Some(read(after)?))),
    }
}

impl Plan {
    fn new(params: &EinsumParams, shapes: &[Shape]) -> Result<Self> {
        let text: String = params.subscripts.chars().filter(|c| !c.is_whitespace()).collect();
        let (terms, output) = match text.split_once("->") {
            Some((terms, output)) => (terms, Some(output)),
            None => (text.as_str(), None),
        };
        let terms: Vec<&str> = terms.split(',').collect();
        if terms.len() != shapes.len() {
            return Err(wrong(format!("{} terms, one for each array", shapes.len()), terms.len()));
        }
        let (mut inputs, mut sizes, mut n_ellipsis) = (Vec::new(), BTreeMap::new(), 0);
        for (term, shape) in terms.iter().zip(shapes) {
            let (mut labels, after) = letters(term).map(|(before, after)| (of_letters(&before), after))?;
            let named = labels.len() + after.as_ref().map_or(0, Vec::len);
            let Some(n) = shape.ndim().checked_sub(named).filter(|n| *n == 0 || after.is_some()) else {
                return Err(Error::shape(OP, "data", format!("the axes of `{term}`"), shape));
            };
            labels.extend((0..n).rev().map(Label::Ellipsis));
            labels.extend(of_letters(&after.unwrap_or_default()));
            n_ellipsis = n_ellipsis.max(n);
            for (label, size) in labels.iter().zip(shape.iter()) {
                let known = sizes.entry(*label).or_insert(*size);
                match (*known, *size) {
                    (1, size) => *known = size,
                    (known, size) if known != size && size != 1 => {
                        return Err(Error::shape(OP, "data", format!("size {known} of an axis of `{term}`"), shape));
                    }
                    _ => {}
                }
            }
            inputs.push(labels);
        }
        let ellipsis = || (0..n_ellipsis).rev().map(Label::Ellipsis);
        let output = match output {
            Some(text) => {
                let (before, after) = letters(text)?;
                let mut labels = of_letters(&before);
                if let Some(after) = after {
                    labels.extend(ellipsis().chain(of_letters(&after)));
                }
                labels
            }
            None => {
                let count = |label: &Label| inputs.iter().flatten().filter(|other| *other == label).count();
                let once = sizes.keys().filter(|label| matches!(label, Label::Letter(_)) && count(label) == 1);
                ellipsis().chain(once.copied()).collect()
            }
        };
        for (i, label) in output.iter().enumerate() {
            if output[..i].contains(label) || !sizes.contains_key(label) {
                return Err(wrong("an output with each letter once, which an array has", &params.subscripts));
            }
        }
        Ok(Self { inputs, output, sizes })
    }

    fn shape(&self) -> PartialShape {
        PartialShape::new(self.output.iter().map(|label| Some(self.sizes[label])))
    }
}

fn of_letters(letters: &[char]) -> Vec<Label> {
    letters.iter().copied().map(Label::Letter).collect()
}

/// The most products of one call: every combination of the indices of all letters gives one.
const MOST_PRODUCTS: usize = 1 << 36;

struct Einsum;

impl Formula for Einsum {
    type Params = EinsumParams;
    const NAME: &'static str = "_npi_einsum";
    const SUMMARY: &'static str = "sums of products of arrays whose axes have letters";
    const BACKWARD: &'static str = "_backward_npi_einsum";
    const INPUTS: &'static [&'static str] = &[];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd"];
    const VARIABLE: Option<[&'static str; 3]> = Some(["arg", "data", "num_args"]);
    const DTYPES: &'static [DType] = NUMBERS;
    const IS_WHOLE: bool = true;
    const ACCURACY: Accuracy = Accuracy::Product;

    fn n_inputs(params: &EinsumParams) -> usize {
        usize::try_from(params.num_args).unwrap_or(0)
    }

    fn infer_shape(params: &EinsumParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        if inputs.is_empty() {
            return Err(bad_attribute("_npi_einsum", "num_args", "at least one array", params.num_args));
        }
        let shapes: Option<Vec<Shape>> = inputs.iter().map(PartialShape::known).collect();
        let Some(shapes) = shapes else { return Ok(()) };
        let plan = Plan::new(params, &shapes)?;
        let n_products = plan.sizes.values().fold(1, |n: usize, size| n.saturating_mul(*size));
        if n_products > MOST_PRODUCTS {
            let got = format!("{n_products} products of elements for {}", params.subscripts);
            return Err(Error::invalid(
                "_npi_einsum",
                got,
                format!("at most {MOST_PRODUCTS}; call it for two arrays at a time"),
            ));
        }
        learn(&mut outputs[0], &plan.shape(), "output")
    }

    /// There is one part for the whole output, so that the letters are parsed only once.
    fn n_parts(_: &EinsumParams, _: &[Shape], outputs: &[Shape]) -> usize {
        usize::from(outputs[0].n_elements() > 0)
    }

    fn part<T: Number>(params: &EinsumParams, tensors: &Tensors<'_, T>, _: usize, emit: Emit<'_, T>) -> Result<()> {
        let plan = Plan::new(params, tensors.inputs)?;
        let labels: Vec<Label> = plan.sizes.keys().copied().collect();
        let place = |label: &Label| labels.iter().position(|other| other == label).unwrap_or(0);
        // For each array, the stride of each letter: how far apart in the array are two elements whose index differs by 1.
        let steps = |(names, shape): (&Vec<Label>, &Shape)| {
            let mut steps = vec![0; labels.len()];
            let axes = names.iter().zip(shape.iter().zip(shape.strides()));
            axes.for_each(|(name, (size, stride))| steps[place(name)] += if *size == 1 { 0 } else { stride });
            steps
        };
        let steps: Vec<Vec<usize>> = plan.inputs.iter().zip(tensors.inputs).map(steps).collect();
        let summed: Vec<usize> = (0..labels.len()).filter(|i| !plan.output.contains(&labels[*i])).collect();
        let sizes: Vec<usize> = summed.iter().map(|i| plan.sizes[&labels[*i]]).collect();
        let free: Vec<usize> = plan.output.iter().map(place).collect();
        let mut at = 0;
        for_each_index(&tensors.outputs[0], |index| {
            let mut all = vec![0; labels.len()];
            free.iter().zip(index).for_each(|(place, i)| all[*place] = *i);
            let mut sum = T::of(0.0);
            for_each_index(&sizes, |inner| {
                summed.iter().zip(inner).for_each(|(place, i)| all[*place] = *i);
                let factor = |(input, steps): (usize, &Vec<usize>)| {
                    tensors.at(input, steps.iter().zip(&all).map(|(step, i)| step * i).sum())
                };
                let product = steps.iter().enumerate().map(factor).reduce(|product, factor| product * factor);
                sum = sum + product.unwrap_or(T::of(1.0));
            });
            emit(0, at, sum);
            at += 1;
        });
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, subscripts, shapes: &[&[usize]]| {
            let n = shapes.len().to_string();
            Sample::new(name, [("num_args", n.as_str()), ("subscripts", subscripts)], shapes)
        };
        vec![
            of("product", "ij,jk->ik", &[&[2, 3], &[3, 4]]),
            of("diagonal", "ii->i", &[&[3, 3]]),
            of("implicit", "ba", &[&[2, 3]]),
            of("ellipsis", "...ij,...jk->...ik", &[&[2, 2, 3], &[3, 2]]),
            of("three", "ij,jk,kl->il", &[&[2, 3], &[3, 2], &[2, 2]]),
            of("stretched", "ij,ij->", &[&[2, 3], &[1, 3]]),
            of("empty", "ij,jk->ik", &[&[0, 3], &[3, 2]]),
        ]
    }
}

/// Defines the operator `_npi_einsum`.
pub fn define() -> OpDef {
    formula::define::<Einsum>()
}
