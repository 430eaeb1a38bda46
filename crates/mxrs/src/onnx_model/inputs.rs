//! The inputs of an ONNX model with their shapes and element types, and checks of what a caller gives for them.

use super::fit::{converts, first_changed};
use mxrs_format::Tensor;
use mxrs_format::onnx::{DimensionValue, GraphProto, ValueInfoProto, dtype};
use mxrs_types::{DType, Error, PartialShape, Result, ResultExt, Shape};
use std::collections::HashSet;
use std::fmt;

/// Most inputs that a message lists. Their number comes from a file.
const MOST_LISTED: usize = 20;
/// Most characters of a name in a message.
const MOST_CHARACTERS: usize = 100;

/// An input of an [`OnnxModel`](crate::OnnxModel).
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxInput {
    /// Name of the input.
    pub name: String,
    /// Shape. Sizes that the model leaves open are unknown.
    pub shape: PartialShape,
    /// Element type.
    pub dtype: DType,
}

impl fmt::Display for OnnxInput {
    /// Prints name, element type and shape, such as `` `ids` int64 (?, 3) ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {} {}", shown(&self.name), self.dtype, self.shape)
    }
}

/// A name from a file as text for a message: not too long, and without control characters.
fn shown(name: &str) -> String {
    name.chars().take(MOST_CHARACTERS).flat_map(char::escape_debug).collect()
}

/// The inputs of a model.
pub struct Inputs(Vec<OnnxInput>);

impl Inputs {
    /// The inputs of a graph that a caller feeds. A graph may list constants among its inputs; they are left out.
    ///
    /// # Errors
    /// Returns an error if an input is not a dense array of numbers.
    pub fn of(graph: &GraphProto) -> Result<Self> {
        let constants: HashSet<&str> = graph.initializer.iter().map(|array| array.name.as_str()).collect();
        let fed = graph.input.iter().filter(|value| !constants.contains(value.name.as_str()));
        Ok(Self(fed.map(input).collect::<Result<_>>()?))
    }

    /// The inputs, in the order of the model.
    pub fn list(&self) -> &[OnnxInput] {
        &self.0
    }

    /// The same inputs with these shapes, in the order of the shapes.
    ///
    /// # Errors
    /// Returns an error if not every input has one shape, or if a shape does not fit the model.
    pub fn with_shapes(&self, shapes: &[(&str, Shape)]) -> Result<Self> {
        self.expect_each(shapes.iter().map(|(name, _)| *name))?;
        let with_shape = |(name, shape): &(&str, Shape)| {
            let input = self.get(name)?;
            self.expect_shape(input, shape)?;
            Ok(OnnxInput { shape: shape.into(), ..input.clone() })
        };
        Ok(Self(shapes.iter().map(with_shape).collect::<Result<_>>()?))
    }

    /// Checks that these are the names of the inputs, each given once, in any order.
    ///
    /// # Errors
    /// Returns an error that names the inputs that are unknown, given twice or missing.
    pub fn expect_each<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let mut given = HashSet::new();
        for name in names {
            self.get(name)?;
            if !given.insert(name) {
                let got = format!("`{}` twice", shown(name));
                return Err(self.wrong("inputs of the ONNX model", got, "each input once"));
            }
        }
        let missing = self.0.iter().filter(|input| !given.contains(input.name.as_str()));
        let missing: Vec<String> = missing.take(MOST_LISTED).map(|input| format!("`{}`", shown(&input.name))).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => {
                let got = format!("nothing for {}", missing.join(", "));
                Err(self.wrong("inputs of the ONNX model", got, "each input once"))
            }
        }
    }

    /// Checks an array for the input `name`, and converts it to the element type of the input.
    ///
    /// # Errors
    /// Returns an error if there is no such input, if the array is not dense, if its shape does not fit, or if a conversion
    /// would change its values.
    pub fn accept(&self, name: &str, tensor: Tensor) -> Result<Tensor> {
        let input = self.get(name)?;
        let dense = tensor.as_dense().context(|| format!("reading input `{}`", shown(name)))?;
        self.expect_shape(input, dense.shape())?;
        let (from, to) = (dense.dtype(), input.dtype);
        if from == to {
            return Ok(tensor);
        }
        let wrong = |got: String, how: &str| {
            let expected = match to {
                // NumPy does not have this type.
                DType::BF16 => to.to_string(),
                _ => format!("{to}; in NumPy, `array.astype(\"{to}\")` converts it{how}"),
            };
            self.wrong(format!("element type of input `{}`", shown(name)), got, expected)
        };
        if !converts(from, to) {
            return Err(wrong(from.to_string(), ""));
        }
        let cast = dense.cast(to);
        match first_changed(dense, &cast)? {
            None => Ok(Tensor::Dense(Box::new(cast))),
            Some(index) => {
                let got = format!("{from} whose element {index} (row-major, from 0) is not a number of type {to}");
                Err(wrong(got, ", and changes this element"))
            }
        }
    }

    fn get(&self, name: &str) -> Result<&OnnxInput> {
        self.0.iter().find(|input| input.name == name).ok_or_else(|| {
            self.wrong("name of an input", format!("`{}`", shown(name)), "the name of an input of the ONNX model")
        })
    }

    fn expect_shape(&self, input: &OnnxInput, shape: &Shape) -> Result<()> {
        match input.shape.clone().merge(&shape.into()) {
            Ok(_) => Ok(()),
            Err(()) => Err(self.wrong(format!("shape of input `{}`", shown(&input.name)), shape, &input.shape)),
        }
    }

    /// An error that also lists the inputs.
    fn wrong(&self, what: impl Into<String>, got: impl ToString, expected: impl fmt::Display) -> Error {
        let mut listed: Vec<String> = self.0.iter().take(MOST_LISTED).map(ToString::to_string).collect();
        if self.0.len() > MOST_LISTED {
            listed.push(format!("and {} more", self.0.len() - MOST_LISTED));
        }
        let listed = if listed.is_empty() { "no inputs".into() } else { format!("the inputs {}", listed.join(", ")) };
        Error::invalid(what, got, format!("{expected}; the model has {listed}"))
    }
}

fn input(value: &ValueInfoProto) -> Result<OnnxInput> {
    let what = || format!("type of input `{}`", shown(&value.name));
    let wrong = |got: String| Error::invalid(what(), got, "a dense array of numbers or bools");
    let tensor = value.tensor_type().ok_or_else(|| wrong("none".into()))?;
    let dtype = dtype(tensor.elem_type).ok_or_else(|| wrong(format!("element type {}", tensor.elem_type)))?;
    let shape = match &tensor.shape {
        None => PartialShape::unknown(),
        Some(shape) => PartialShape::new(shape.dim.iter().map(|dim| match &dim.value {
            Some(DimensionValue::Size(size)) => usize::try_from(*size).ok(),
            _ => None,
        })),
    };
    Ok(OnnxInput { name: value.name.clone(), shape, dtype })
}
