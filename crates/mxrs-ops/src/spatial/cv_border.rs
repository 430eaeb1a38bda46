//! Adds a border to an image `[h, w, c]`: `top`, `bot`, `left` and `right` are its sizes. `type` is OpenCV's number: 0 for a constant;
//! 1 for the nearest pixel of the image; 2 for the mirrored image, 4 for that without a second copy of its edge; 3 for the image
//! again. OpenCV's flag 16 makes no difference.
//!
//! The constants of up to four channels are `values`, or `value` for the first three channels. Other channels get 0; MXNet reads what
//! lies in memory behind `values`. With more channels, OpenCV wants four equal numbers.
//!
//! Gradient: of float images, each pixel gets the sum of the gradients of its copies. MXNet has none.
//!
//! MXNet: `_cvcopyMakeBorder`. Dtypes: f32 f64 u8 i32; constants are rounded to the nearest integer, and limited to the type.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::matrices::LINALG;
use crate::inference::{OP, bad_attribute, learn, require_ndim};
use mxrs_op::param::{Field, Floats, missing, parse_field};
use mxrs_op::{Accuracy, Attrs, OpDef, ParamSpec, Parameters, Sample};
use mxrs_types::{DType, Error, PartialShape, Result};

const NAME: &str = "_cvcopyMakeBorder";

/// A tuple of numbers of 64 bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Doubles(pub Vec<f64>);

impl Field for Doubles {
    fn type_name() -> String {
        "tuple of <double>".into()
    }
    fn parse(text: &str) -> std::result::Result<Self, String> {
        // This checks the notation and the number of items, so what follows only splits.
        Floats::parse(text)?;
        let inner = text.trim().trim_start_matches(['(', '[']).trim_end_matches([')', ']']);
        inner
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(f64::parse)
            .collect::<std::result::Result<_, _>>()
            .map(Self)
    }
    fn default_text(&self) -> String {
        format!("[{}]", self.0.iter().map(f64::to_string).collect::<Vec<_>>().join(","))
    }
}

/// Parameters of `_cvcopyMakeBorder`. They are written out because the name of one, `type`, is a keyword.
#[derive(Clone, Debug, PartialEq)]
pub struct BorderParams {
    /// Rows above the image.
    pub top: i32,
    /// Rows below the image.
    pub bot: i32,
    /// Columns to the left of the image.
    pub left: i32,
    /// Columns to the right of the image.
    pub right: i32,
    /// The parameter `type`: what the border holds.
    pub kind: i32,
    /// The constant of the first three channels.
    pub value: f64,
    /// The constants of the channels, in place of `value`.
    pub values: Doubles,
}

impl Parameters for BorderParams {
    const OP: &'static str = NAME;

    fn parse(attrs: &Attrs) -> Result<Self> {
        fn read<F: Field>(attrs: &Attrs, name: &str, default: Option<F>) -> Result<F> {
            match (attrs.get(name), default) {
                (Some(text), _) => parse_field(NAME, name, text),
                (None, Some(default)) => Ok(default),
                (None, None) => Err(missing(NAME, name, &F::type_text(None))),
            }
        }
        Ok(Self {
            top: read(attrs, "top", None)?,
            bot: read(attrs, "bot", None)?,
            left: read(attrs, "left", None)?,
            right: read(attrs, "right", None)?,
            kind: read(attrs, "type", Some(0))?,
            value: read(attrs, "value", Some(0.0))?,
            values: read(attrs, "values", Some(Doubles::default()))?,
        })
    }

    fn specs() -> Vec<ParamSpec> {
        let spec = |name, type_text, doc| ParamSpec { name, type_text, doc };
        vec![
            spec("top", i32::type_text(None), "Rows above the image."),
            spec("bot", i32::type_text(None), "Rows below the image."),
            spec("left", i32::type_text(None), "Columns to the left of the image."),
            spec("right", i32::type_text(None), "Columns to the right of the image."),
            spec("type", i32::type_text(Some(&0)), "What the border holds, as a number of OpenCV."),
            spec("value", f64::type_text(Some(&0.0)), "The constant of the first three channels."),
            spec(
                "values",
                Doubles::type_text(Some(&Doubles::default())),
                "The constants of the channels, in place of value.",
            ),
        ]
    }
}

/// What a border holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Border {
    Constant,
    Nearest,
    Mirrored,
    Again,
    MirroredWithoutEdge,
}

impl Border {
    /// The position of the image whose pixel goes to this position, of an axis with `size` pixels; `None` for the constant.
    fn place(self, position: i64, size: usize) -> Option<usize> {
        let n = size as i64;
        if n == 0 {
            return None;
        }
        let place = match self {
            _ if (0..n).contains(&position) => position,
            Self::Constant => return None,
            Self::Nearest => position.clamp(0, n - 1),
            Self::Again => position.rem_euclid(n),
            Self::Mirrored => match position.rem_euclid(2 * n) {
                place if place < n => place,
                place => 2 * n - 1 - place,
            },
            Self::MirroredWithoutEdge if n == 1 => 0,
            Self::MirroredWithoutEdge => match position.rem_euclid(2 * n - 2) {
                place if place < n => place,
                place => 2 * n - 2 - place,
            },
        };
        Some(place as usize)
    }
}

impl BorderParams {
    fn border(&self) -> Result<Border> {
        const IGNORED: i32 = 16;
        Ok(match self.kind & !IGNORED {
            0 => Border::Constant,
            1 => Border::Nearest,
            2 => Border::Mirrored,
            3 => Border::Again,
            4 => Border::MirroredWithoutEdge,
            _ => {
                let expected = "0 constant, 1 nearest, 2 mirrored, 3 again or 4 mirrored without the edge";
                return Err(bad_attribute(NAME, "type", expected, self.kind));
            }
        })
    }

    /// Sizes of the border: top, bottom, left and right.
    fn margins(&self) -> Result<[usize; 4]> {
        let read = |name: &str, value: i32| {
            usize::try_from(value).map_err(|_| bad_attribute(NAME, name, "no negative number", value))
        };
        Ok([read("top", self.top)?, read("bot", self.bot)?, read("left", self.left)?, read("right", self.right)?])
    }

    /// The constants of four channels.
    fn constants(&self) -> [f64; 4] {
        match self.values.0.as_slice() {
            [] => [self.value, self.value, self.value, 0.0],
            values => [0, 1, 2, 3].map(|channel| values.get(channel).copied().unwrap_or(0.0)),
        }
    }
}

struct MakeBorder;

impl Formula for MakeBorder {
    type Params = BorderParams;
    const NAME: &'static str = NAME;
    const SUMMARY: &'static str = "an image with a border";
    const BACKWARD: &'static str = "_backward_cvcopyMakeBorder";
    const INPUTS: &'static [&'static str] = &["src"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "src"];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    const DTYPES: &'static [DType] = &[DType::F32, DType::F64, DType::U8, DType::I32];
    const BACKWARD_DTYPES: Option<&'static [DType]> = Some(LINALG);
    const ACCURACY: Accuracy = Accuracy::Elementwise;

    fn infer_shape(params: &BorderParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let border = params.border()?;
        let [top, bottom, left, right] = params.margins()?;
        require_ndim(&mut inputs[0], 3, "src")?;
        let [height, width, channels] = [0, 1, 2].map(|axis| inputs[0].dim(axis));
        if border != Border::Constant && [height, width].contains(&Some(0)) {
            return Err(Error::shape(OP, "src", "an image with pixels", &inputs[0]));
        }
        let [first, others @ ..] = params.constants();
        let are_equal = others.iter().all(|other| *other == first);
        if border == Border::Constant && channels.is_some_and(|n| n > 4) && !are_equal {
            let expected = "four equal numbers, for an image with more than four channels";
            return Err(bad_attribute(NAME, "values", expected, params.values.default_text()));
        }
        // A sum that is too large is refused with the shape of the result.
        let grown = |size: Option<usize>, before: usize, after: usize| {
            size.map(|size| size.saturating_add(before).saturating_add(after))
        };
        let result = PartialShape::new([grown(height, top, bottom), grown(width, left, right), channels]);
        learn(&mut outputs[0], &result, "output")
    }

    fn part<T: Number>(params: &BorderParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (src, out) = (&tensors.inputs[0], &tensors.outputs[0]);
        let (border, [top, _, left, _]) = (params.border()?, params.margins()?);
        let (pixel, channel) = (part / out[2], part % out[2]);
        let row = border.place((pixel / out[1]) as i64 - top as i64, src[0]);
        let column = border.place((pixel % out[1]) as i64 - left as i64, src[1]);
        let value = match (row, column) {
            (Some(row), Some(column)) => tensors.at(0, (row * src[1] + column) * src[2] + channel),
            _ => {
                let constant = params.constants()[channel.min(3)];
                T::of(if tensors.dtype.is_float() { constant } else { constant.round_ties_even() })
            }
        };
        emit(0, part, value);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, [top, bot, left, right]: [&str; 4], kind: &str, shape: &[usize]| {
            let margins = [("top", top), ("bot", bot), ("left", left), ("right", right)];
            let attrs = margins.into_iter().chain([("type", kind), ("values", "(1.5, 2.5, 3)")]).collect();
            Sample { attrs, ..Sample::plain(name, &[shape]) }
        };
        vec![
            of("constant", ["1", "2", "0", "1"], "0", &[2, 3, 3]),
            of("nearest", ["1", "0", "2", "1"], "1", &[2, 3, 1]),
            of("mirrored", ["3", "1", "0", "4"], "2", &[2, 3, 2]),
            of("again", ["3", "1", "2", "4"], "3", &[2, 3, 1]),
            of("without_edge", ["1", "3", "2", "4"], "4", &[2, 3, 1]),
            of("empty", ["0", "0", "1", "1"], "0", &[0, 2, 3]),
        ]
    }
}

/// Defines the operator `_cvcopyMakeBorder`.
pub fn define() -> OpDef {
    formula::define::<MakeBorder>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_types::Shape;

    /// Folds a position back into the image step by step.
    fn folded(mut position: i64, n: i64, has_edge: bool) -> i64 {
        let edge = i64::from(!has_edge);
        while !(0..n).contains(&position) {
            position = if position < 0 { edge - 1 - position } else { 2 * n - 1 - edge - position };
        }
        position
    }

    #[test]
    fn mirrors_fold_as_often_as_needed() {
        for size in 2..5 {
            for position in -13..13 {
                for (border, has_edge) in [(Border::Mirrored, true), (Border::MirroredWithoutEdge, false)] {
                    let expected = folded(position, size as i64, has_edge) as usize;
                    assert_eq!(border.place(position, size), Some(expected), "{border:?} {position} of {size}");
                }
            }
        }
        for border in [Border::Nearest, Border::Mirrored, Border::Again, Border::MirroredWithoutEdge] {
            assert_eq!([-5, 0, 5].map(|position| border.place(position, 1)), [Some(0); 3], "{border:?}");
            assert_eq!(border.place(i64::from(i32::MIN), 0), None);
        }
        assert_eq!(Border::Constant.place(-1, 3), None);
    }

    #[test]
    fn tuples_of_numbers() {
        assert_eq!(Doubles::parse("(1.5, -2,)"), Ok(Doubles(vec![1.5, -2.0])));
        assert_eq!(Doubles::parse("[0.1]"), Ok(Doubles(vec![0.1])));
        assert_eq!(Doubles::parse("()"), Ok(Doubles::default()));
        assert!(["(1", "(a)", "1,,2", ""].iter().all(|text| Doubles::parse(text).is_err()));
    }

    #[test]
    fn impossible_borders_are_refused() {
        let op = define();
        let infer = |key: &str, value: &str, shape: [usize; 3]| {
            let mut attrs = Attrs::from([("top", "1"), ("bot", "1"), ("left", "1"), ("right", "1")]);
            attrs.set(key, value);
            let params = op.parse(&attrs)?;
            let mut outputs = [PartialShape::unknown()];
            op.infer_shapes(&params, &mut [PartialShape::from(Shape::from(shape))], &mut outputs)?;
            Ok::<_, Error>(outputs[0].to_string())
        };
        assert_eq!(infer("type", "17", [2, 3, 1]).unwrap(), "(4, 5, 1)");
        assert_eq!(infer("values", "(7, 7, 7, 7)", [2, 3, 5]).unwrap(), "(4, 5, 5)");
        for (key, value, shape, expected) in [
            ("top", "-1", [2, 3, 1], "no negative number"),
            ("type", "5", [2, 3, 1], "type"),
            ("type", "-1", [2, 3, 1], "type"),
            ("type", "1", [0, 3, 1], "an image with pixels"),
            ("values", "(7,)", [2, 3, 5], "four equal numbers"),
            ("top", "2147483647", [2, 1 << 20, 1], "the number of elements"),
        ] {
            let error = infer(key, value, shape).unwrap_err().to_string();
            assert!(error.contains(expected), "{key}={value}: {error}");
        }
        let error = op.parse(&Attrs::from([("top", "1")])).unwrap_err().to_string();
        assert!(error.contains("bot"), "{error}");
    }
}
