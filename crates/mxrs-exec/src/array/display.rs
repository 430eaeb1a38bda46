//! Arrays as text in NumPy's format: aligned columns, at most 8 digits after the point, lines of at most 75 characters. An
//! array of more than 1000 elements shows only the first and last three positions of each axis.

use super::Array;
use mxrs_types::{DType, Result};
use std::fmt;

/// Number of positions of an abbreviated axis that are shown on each side of `...`.
const EDGE: usize = 3;
/// An array with more elements than this is abbreviated with `...`.
const THRESHOLD: usize = 1000;
const LINE: usize = 75;
const PRECISION: usize = 8;

impl fmt::Display for Array {
    /// Waits for the elements. An array that could not be computed prints its error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "<no array: {error}>"),
        }
    }
}

impl Array {
    fn text(&self) -> Result<String> {
        let array = self.as_nd()?;
        let shape: Vec<usize> = array.shape().to_vec();
        let is_elided = shape.iter().product::<usize>() > THRESHOLD;
        let shown = shown(&shape, is_elided);
        let words = match array.dtype() {
            DType::F32 => floats(&pick(&array.to_vec::<f32>()?, &shown)),
            DType::F64 => floats(&pick(&array.to_vec::<f64>()?, &shown)),
            DType::F16 | DType::BF16 => floats(&pick(&self.cast(DType::F32)?.to_vec::<f32>()?, &shown)),
            DType::I64 => integers(&pick(&array.to_vec::<i64>()?, &shown)),
            _ => integers(&pick(&self.cast(DType::I64)?.to_vec::<i64>()?, &shown)),
        };
        let mut words = words.into_iter();
        Ok(Layout { shape: &shape, is_elided }.nested(0, " ", LINE, &mut words))
    }
}

/// Positions of an axis that are shown.
fn positions(size: usize, is_elided: bool) -> Vec<usize> {
    if is_elided && size > 2 * EDGE { (0..EDGE).chain(size - EDGE..size).collect() } else { (0..size).collect() }
}

/// Offsets of the elements that are shown, in row-major order.
fn shown(shape: &[usize], is_elided: bool) -> Vec<usize> {
    shape.iter().fold(vec![0], |offsets, size| {
        let axis = positions(*size, is_elided);
        offsets.iter().flat_map(|offset| axis.iter().map(move |position| offset * size + position)).collect()
    })
}

fn pick<T: Copy>(elements: &[T], shown: &[usize]) -> Vec<T> {
    shown.iter().filter_map(|i| elements.get(*i).copied()).collect()
}

fn integers(values: &[i64]) -> Vec<String> {
    let texts: Vec<String> = values.iter().map(i64::to_string).collect();
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    texts.into_iter().map(|text| format!("{text:>width$}")).collect()
}

/// A float type that prints each number with the fewest digits that parse back to it.
trait Float: Copy + fmt::Display + fmt::LowerExp + Into<f64> {}
impl Float for f32 {}
impl Float for f64 {}

/// A finite number as text in three parts: the digits before the point, the digits after it without zeros at the end, and
/// the exponent.
struct Parts {
    whole: String,
    fraction: String,
    exponent: String,
}

impl Parts {
    fn of<T: Float>(value: T, is_scientific: bool) -> Self {
        let shortest = if is_scientific { format!("{value:e}") } else { value.to_string() };
        let parts = Self::read(&shortest);
        match (parts.fraction.len() > PRECISION, is_scientific) {
            (false, _) => parts,
            (true, true) => Self::read(&format!("{value:.PRECISION$e}")),
            (true, false) => Self::read(&format!("{value:.PRECISION$}")),
        }
    }

    fn read(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, ""));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
        let exponent = if digits.is_empty() { String::new() } else { format!("e{sign}{digits:0>2}") };
        Self { whole: whole.to_owned(), fraction: fraction.trim_end_matches('0').to_owned(), exponent }
    }
}

fn floats<T: Float>(values: &[T]) -> Vec<String> {
    let sizes: Vec<f64> = values.iter().map(|v| (*v).into().abs()).filter(|v| v.is_finite() && *v != 0.0).collect();
    let (most, least) = sizes.iter().fold((0.0f64, f64::INFINITY), |(a, b), v| (a.max(*v), b.min(*v)));
    let is_scientific = !sizes.is_empty() && (most >= 1e8 || least < 1e-4 || most / least > 1000.0);
    let parts: Vec<Option<Parts>> =
        values.iter().map(|v| (*v).into().is_finite().then(|| Parts::of(*v, is_scientific))).collect();
    let n_digits = parts.iter().flatten().map(|parts| parts.fraction.len()).max().unwrap_or(0);
    // Padding that aligns the decimal points: blanks after a plain number, zeros before an exponent.
    let fill = if is_scientific { "0" } else { " " };
    let words = values.iter().zip(&parts).map(|(value, parts)| match parts {
        Some(Parts { whole, fraction, exponent }) => {
            format!("{whole}.{fraction}{}{exponent}", fill.repeat(n_digits - fraction.len()))
        }
        None => (*value).into().to_string().to_lowercase(),
    });
    let words: Vec<String> = words.collect();
    let width = words.iter().map(String::len).max().unwrap_or(0);
    words.into_iter().map(|word| format!("{word:>width$}")).collect()
}

struct Layout<'a> {
    shape: &'a [usize],
    is_elided: bool,
}

impl Layout<'_> {
    /// The array in brackets. All lines after the first begin with `indent`.
    fn nested(&self, axis: usize, indent: &str, width: usize, words: &mut impl Iterator<Item = String>) -> String {
        let Some(&size) = self.shape.get(axis) else { return words.next().unwrap_or_default() };
        let shown = positions(size, self.is_elided).len();
        let gap = (shown < size).then_some(EDGE);
        let mut text = String::new();
        if axis + 1 == self.shape.len() {
            let mut line = indent.to_owned();
            let mut put = |line: &mut String, word: &str| {
                if line.len() + word.len() >= width && line.len() > indent.len() {
                    text.push_str(line.trim_end());
                    text.push('\n');
                    line.clear();
                    line.push_str(indent);
                }
                line.push_str(word);
                line.push(' ');
            };
            for i in 0..shown {
                if gap == Some(i) {
                    put(&mut line, "...");
                }
                put(&mut line, &words.next().unwrap_or_default());
            }
            text.push_str(line.strip_suffix(' ').filter(|_| shown > 0).unwrap_or(&line));
        } else {
            let deeper = format!("{indent} ");
            let separator = "\n".repeat(self.shape.len() - axis - 1);
            for i in 0..shown {
                if i > 0 {
                    text.push_str(&separator);
                }
                if gap == Some(i) {
                    text.push_str(indent);
                    text.push_str("...");
                    text.push_str(&separator);
                }
                text.push_str(indent);
                text.push_str(&self.nested(axis + 1, &deeper, width - 1, words));
            }
        }
        format!("[{}]", text.get(indent.len()..).unwrap_or_default())
    }
}
