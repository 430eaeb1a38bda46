//! Pads an array: `_npi_pad` with a constant, the nearest element (`edge`), the elements mirrored without the first (`reflect`) or
//! with it (`symmetric`), or the largest or smallest element along the axis (`maximum`, `minimum`).
//!
//! `pad_width` holds the numbers of elements before and after each axis: ((1, 2), (0, 1)). MXNet gives those of a vector as ((1,),
//! (2,)).
//!
//! Gradient: each element gets the `ograd` of its copies. That of MXNet leaves out the copies in every mode.
//!
//! Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::indexing::{flat, for_each_index};
use crate::families::moved::{self, Move, by_index};
use crate::inference::{OP, bad_attribute, learn};
use crate::numeric;
use mxrs_op::param::{Field, ShapeAttr};
use mxrs_op::{OpDef, RefInput, Sample, op_enum, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_enum! {
    /// What the new elements are.
    pub enum NpPadMode {
        Constant = "constant",
        Edge = "edge",
        Reflect = "reflect",
        Symmetric = "symmetric",
        Maximum = "maximum",
        Minimum = "minimum",
    }
}

/// Tuples of integers in a tuple, such as ((1, 2), (0, 1)).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs(pub Vec<ShapeAttr>);

impl Field for Pairs {
    fn type_name() -> String {
        "tuple of <Shape(tuple)>".into()
    }
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let wrong = || "tuples of integers such as ((1, 2), (0, 1))".to_string();
        let outer = text.trim().replace('[', "(").replace(']', ")");
        let inner = outer.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(wrong)?;
        let mut pairs = Vec::new();
        let mut rest = inner.trim();
        while !rest.is_empty() {
            let end = rest.find(')').ok_or_else(wrong)?;
            if !rest.starts_with('(') {
                return Err(wrong());
            }
            pairs.push(ShapeAttr::parse(&rest[..=end]).map_err(|_| wrong())?);
            rest = rest[end + 1..].trim_start();
            rest = match rest.strip_prefix(',') {
                Some(rest) => rest.trim_start(),
                None if rest.is_empty() => rest,
                None => return Err(wrong()),
            };
        }
        Ok(Self(pairs))
    }
    fn default_text(&self) -> String {
        format!("[{}]", self.0.iter().map(ShapeAttr::default_text).collect::<Vec<_>>().join(","))
    }
}

op_params! {
    /// Parameters of `_npi_pad`.
    pub struct NpPadParams for "_npi_pad" {
        /// Numbers of elements before and after each axis.
        pad_width: Pairs,
        /// What the new elements are.
        mode: NpPadMode = NpPadMode::Constant,
        /// The constant.
        constant_value: f64 = 0.0,
        /// How `reflect` and `symmetric` mirror: only `even`, without a change of sign.
        reflect_type: String = "even".into(),
    }
}

impl NpPadParams {
    /// The numbers of elements before and after each axis.
    fn widths(&self, ndim: usize) -> Result<Vec<[usize; 2]>> {
        let wrong = || {
            let got: Vec<String> = self.pad_width.0.iter().map(ShapeAttr::to_text).collect();
            let expected = format!("two numbers that are not negative for each of {ndim} axes");
            bad_attribute("_npi_pad", "pad_width", expected, format!("({})", got.join(", ")))
        };
        if matches!(self.mode, NpPadMode::Reflect | NpPadMode::Symmetric) && self.reflect_type != "even" {
            return Err(bad_attribute("_npi_pad", "reflect_type", "even", &self.reflect_type));
        }
        let pair = |numbers: &[i64]| match numbers {
            [before, after] => Some([usize::try_from(*before).ok()?, usize::try_from(*after).ok()?]),
            _ => None,
        };
        let pairs: Option<Vec<[usize; 2]>> = match (ndim, self.pad_width.0.as_slice()) {
            (1, [before, after]) => match (before.0.as_slice(), after.0.as_slice()) {
                ([before], [after]) => pair(&[*before, *after]).map(|pair| vec![pair]),
                _ => None,
            },
            (_, pairs) => pairs.iter().map(|numbers| pair(&numbers.0)).collect(),
        };
        pairs.filter(|pairs| pairs.len() == ndim).ok_or_else(wrong)
    }
}

/// The element of an axis of `size` elements that is at `distance` (1, 2, …) before its first element.
fn mirrored(mode: NpPadMode, distance: usize, size: usize) -> usize {
    let period = match mode {
        NpPadMode::Reflect => size - 1,
        NpPadMode::Symmetric => size,
        _ => return 0,
    };
    if period == 0 {
        return 0;
    }
    let (round, position) = ((distance - 1) / period, (distance - 1) % period);
    // Far before the axis, its elements repeat in rounds: even rounds run from the first element to the last, odd rounds
    // back from the last to the first. `reflect` does not repeat the element at which a round begins, so each round starts
    // one element later.
    let step = position + usize::from(mode == NpPadMode::Reflect);
    if round.is_multiple_of(2) { step } else { size - 1 - step }
}

struct NpPad;

impl Move for NpPad {
    type Params = NpPadParams;
    const NAME: &'static str = "_npi_pad";
    const SUMMARY: &'static str = "an array with elements added at its sides";
    const BACKWARD: &'static str = "_backward_npi_pad";
    const IGNORED_IN_BACKWARD: &'static [usize] = &[];
    const CONSTANT: Option<&'static str> = Some("constant_value");

    fn infer_shape(params: &NpPadParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let Some(dims) = inputs[0].dims() else { return Ok(()) };
        let widths = params.widths(dims.len())?;
        let is_impossible = |(size, width): (&Option<usize>, &[usize; 2])| *size == Some(0) && *width != [0, 0];
        if params.mode != NpPadMode::Constant && dims.iter().zip(&widths).any(is_impossible) {
            return Err(Error::shape(OP, "data", "padded axes with elements", &inputs[0]));
        }
        let size = |(size, [before, after]): (&Option<usize>, &[usize; 2])| {
            size.and_then(|size| size.checked_add(*before)?.checked_add(*after))
        };
        let out = PartialShape::new(dims.iter().zip(&widths).map(size));
        learn(&mut outputs[0], &out, "output")
    }

    fn sources(params: &NpPadParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        let data = &inputs[0].desc.shape;
        let widths = params.widths(data.ndim())?;
        let extreme = matches!(params.mode, NpPadMode::Maximum | NpPadMode::Minimum);
        let values = if extreme { numeric::read(&inputs[0]) } else { Vec::new() };
        Ok(by_index(out, |index| {
            let mut at = Vec::with_capacity(index.len());
            let mut outside = Vec::new();
            for (axis, (i, [before, _])) in index.iter().zip(&widths).enumerate() {
                let size = data[axis];
                at.push(match (i.checked_sub(*before), params.mode) {
                    (Some(i), _) if i < size => i,
                    (_, NpPadMode::Constant) => return None,
                    (None, mode) => mirrored(mode, before - i, size),
                    (Some(i), mode) => size - 1 - mirrored(mode, i - size + 1, size),
                });
                if *i < *before || i - before >= size {
                    outside.push(axis);
                }
            }
            if extreme && !outside.is_empty() {
                return Some(extreme_place(data, &values, &at, &outside, params.mode == NpPadMode::Maximum));
            }
            Some(flat(data, &at))
        }))
    }

    fn constant(params: &NpPadParams) -> f64 {
        params.constant_value
    }

    fn samples() -> Vec<Sample> {
        let of = |name, mode, width, shape: &[usize]| {
            Sample::new(name, [("mode", mode), ("pad_width", width), ("constant_value", "0.5")], &[shape])
        };
        let width = "((1, 2), (0, 1))";
        vec![
            of("constant", "constant", width, &[3, 4]),
            of("edge", "edge", width, &[3, 4]),
            of("reflect", "reflect", "((3, 0), (1, 2), (2, 5))", &[2, 3, 2]),
            of("symmetric", "symmetric", "((7,), (8,))", &[3]),
            of("maximum", "maximum", width, &[2, 3]),
            of("minimum", "minimum", width, &[2, 3]),
            of("empty", "constant", "((0, 0), (1, 1))", &[0, 3]),
        ]
    }
}

/// The position of the first largest or smallest element along some axes.
fn extreme_place(data: &Shape, values: &[f64], at: &[usize], axes: &[usize], is_largest: bool) -> usize {
    let sizes: Vec<usize> = axes.iter().map(|axis| data[*axis]).collect();
    let (mut index, mut best) = (at.to_vec(), None);
    for_each_index(&sizes, |along| {
        axes.iter().zip(along).for_each(|(axis, i)| index[*axis] = *i);
        let place = flat(data, &index);
        let is_better = |best: usize| match is_largest {
            true => values[place] > values[best],
            false => values[place] < values[best],
        };
        if best.is_none_or(is_better) {
            best = Some(place);
        }
    });
    best.unwrap_or(0)
}

/// Defines the operator `_npi_pad`.
pub fn define() -> OpDef {
    moved::define::<NpPad>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_and_nonsense_is_refused() {
        let pairs = |text| Pairs::parse(text).map(|pairs| pairs.0.iter().map(|p| p.0.to_vec()).collect::<Vec<_>>());
        assert_eq!(pairs("((1, 2), (0, 1))"), Ok(vec![vec![1, 2], vec![0, 1]]));
        assert_eq!(pairs("[[1,], [2,],]"), Ok(vec![vec![1], vec![2]]));
        assert_eq!(pairs("()"), Ok(vec![]));
        for bad in ["1", "(1, 2)", "((1, 2)", "((1, 2) (3, 4))", "((a, b))", "((1), 2)", ""] {
            assert!(pairs(bad).is_err(), "{bad}");
        }
    }
}
