//! An ONNX model as a network with named inputs and outputs of any element type.

mod fit;
mod inputs;

pub use inputs::OnnxInput;

use crate::model::log_file_warnings;
use crate::{BoundModel, Model, Runtime};
use inputs::Inputs;
use mxrs_format::onnx::{self, Dimension, ModelProto, TensorShapeProto};
use mxrs_format::{Options, Tensor};
use mxrs_types::{DType, Error, Result, ResultExt, Shape};
use std::path::Path;

/// A model of an ONNX file. Its operators become those of mxrs when the shapes of its inputs are known, so sizes that the
/// model leaves open may differ from call to call.
///
/// ```
/// use mxrs::format::Tensor;
/// use mxrs::format::onnx::{Dimension, GraphProto, ModelProto, NodeProto, ValueInfoProto, from_tensor};
/// use mxrs::types::DType;
/// use mxrs::{OnnxModel, Runtime};
///
/// // A model that looks up rows of a table. `OnnxModel::open` reads one from a file.
/// let table = Tensor::from_slice([3, 2], &[0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0])?;
/// let graph = GraphProto {
///     node: vec![NodeProto::new("Gather", "gather", ["table", "ids"], ["rows"])],
///     initializer: vec![from_tensor("table", table)?],
///     input: vec![ValueInfoProto::with_dims("ids", DType::I64, vec![Dimension::unknown()])],
///     output: vec![ValueInfoProto::with_dims("rows", DType::F32, vec![Dimension::unknown(), Dimension::size(2)])],
///     ..GraphProto::default()
/// };
/// let model = OnnxModel::new(&Runtime::builder().build()?, ModelProto::of(graph, 13))?;
/// assert_eq!(model.inputs()[0].to_string(), "`ids` int64 (?,)");
///
/// let outputs = model.forward([("ids", Tensor::from_slice([2], &[2_i64, 0])?)])?;
/// assert_eq!(outputs[0].0, "rows");
/// assert_eq!(outputs[0].1.to_f32_vec()?, [4.0, 5.0, 0.0, 1.0]);
/// # Ok::<(), mxrs::Error>(())
/// ```
pub struct OnnxModel {
    runtime: Runtime,
    message: ModelProto,
    inputs: Inputs,
    outputs: Vec<String>,
}

impl OnnxModel {
    /// Reads a model file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is malformed (the error names it), and the errors of [`Self::new`].
    pub fn open(runtime: &Runtime, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let loaded = onnx::open(path, &Options::default())?;
        log_file_warnings(path, &loaded.warnings);
        Self::new(runtime, loaded.value).context(|| format!("reading {}", path.display()))
    }

    /// A model from the message of a file.
    ///
    /// # Errors
    /// Returns an error if the message has no graph, or if an input is not a dense array of numbers.
    pub fn new(runtime: &Runtime, message: ModelProto) -> Result<Self> {
        let graph = message.graph.as_ref().ok_or_else(|| Error::invalid("ONNX model", "no graph", "a graph"))?;
        let inputs = Inputs::of(graph)?;
        let outputs = graph.output.iter().map(|output| output.name.clone()).collect();
        Ok(Self { runtime: runtime.clone(), message, inputs, outputs })
    }

    /// The inputs that a caller feeds, in the order of the model.
    pub fn inputs(&self) -> &[OnnxInput] {
        self.inputs.list()
    }

    /// Names of the outputs, in the order of the model.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// Checks that these are the names of the inputs, each given once, in any order.
    ///
    /// # Errors
    /// Returns an error that names the inputs that are unknown, given twice or missing, and lists those of the model.
    pub fn expect_inputs<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<()> {
        self.inputs.expect_each(names)
    }

    /// Checks an array for the input `name`, and converts it to the element type of the input. Bools become integers or
    /// floats, and integers other integers or floats, if every element stays equal. Floats are rounded to other floats, but a
    /// finite one stays finite. Floats do not become integers.
    ///
    /// # Errors
    /// Returns an error if there is no such input, if the array is not dense, if its shape does not fit, or if the conversion
    /// would change its values. The error lists the inputs of the model.
    pub fn accept(&self, name: &str, tensor: Tensor) -> Result<Tensor> {
        self.inputs.accept(name, tensor)
    }

    /// Converts the operators, chooses kernels and plans memory for inputs of these shapes, for inference. Each call has
    /// parameters of its own in memory.
    ///
    /// # Errors
    /// Returns an error if not every input has one shape, if a shape does not fit the model, if mxrs cannot express a node
    /// (the error lists all of them), or if memory is exhausted.
    pub fn bind(&self, shapes: &[(&str, Shape)]) -> Result<BoundOnnxModel> {
        let inputs = self.inputs.with_shapes(shapes)?;
        let message = with_shapes(self.message.clone(), shapes);
        let imported = mxrs_onnx::import(&message, &Options::default())?;
        drop(message);
        // The imported graph does not have inputs that no node reads.
        let is_read = |name: &str| imported.graph.find(name).is_some_and(|id| imported.graph.node(id).is_variable());
        let read: Vec<(&str, Shape)> = shapes.iter().filter(|(name, _)| is_read(name)).cloned().collect();
        let is_typed = |input: &&OnnxInput| is_read(&input.name);
        let dtypes: Vec<(String, DType)> =
            inputs.list().iter().filter(is_typed).map(|input| (input.name.clone(), input.dtype)).collect();
        let model = Model::from_parts(&self.runtime, imported.graph, imported.params)?.with_dtypes(dtypes);
        let bound = model.freeze(&[read.as_slice()])?.pop();
        let bound = bound.ok_or_else(|| Error::invalid("bound models", 0, "one"))?;
        let read = read.into_iter().map(|(name, _)| name.to_owned()).collect();
        Ok(BoundOnnxModel { bound, inputs, read, outputs: self.outputs.clone() })
    }

    /// Runs the model once on these arrays, which are converted as by [`Self::accept`], and returns the outputs with their
    /// names. For several runs with the same shapes, [`Self::bind`] is faster.
    ///
    /// # Errors
    /// Returns the errors of [`Self::expect_inputs`], [`Self::accept`] and [`Self::bind`], and those of kernels.
    pub fn forward<'a>(&self, inputs: impl IntoIterator<Item = (&'a str, Tensor)>) -> Result<Vec<(String, Tensor)>> {
        let inputs: Vec<(&str, Tensor)> = inputs.into_iter().collect();
        self.expect_inputs(inputs.iter().map(|(name, _)| *name))?;
        let mut accepted = Vec::new();
        for (name, tensor) in inputs {
            accepted.push((name, self.accept(name, tensor)?));
        }
        let shape = |tensor: &Tensor| tensor.shape().cloned().unwrap_or_default();
        let shapes: Vec<(&str, Shape)> = accepted.iter().map(|(name, tensor)| (*name, shape(tensor))).collect();
        let given: Vec<(&str, &Tensor)> = accepted.iter().map(|(name, tensor)| (*name, tensor)).collect();
        self.bind(&shapes)?.forward(&given)
    }
}

/// The model with the sizes of its inputs stated.
fn with_shapes(mut message: ModelProto, shapes: &[(&str, Shape)]) -> ModelProto {
    for value in message.graph.iter_mut().flat_map(|graph| &mut graph.input) {
        let given = shapes.iter().find(|(name, _)| *name == value.name);
        let tensor = value.kind.as_mut().and_then(|kind| kind.tensor_type.as_mut());
        if let (Some((_, shape)), Some(tensor)) = (given, tensor) {
            tensor.shape = Some(TensorShapeProto { dim: shape.iter().map(|size| Dimension::size(*size)).collect() });
        }
    }
    message
}

/// An [`OnnxModel`] bound to shapes.
pub struct BoundOnnxModel {
    bound: BoundModel,
    /// The inputs with the shapes to which the model is bound.
    inputs: Inputs,
    /// Names of the inputs that the graph reads.
    read: Vec<String>,
    outputs: Vec<String>,
}

impl BoundOnnxModel {
    /// The inputs with the shapes to which the model is bound.
    pub fn inputs(&self) -> &[OnnxInput] {
        self.inputs.list()
    }

    /// Runs the model on these arrays, waits for it and returns the outputs with their names.
    ///
    /// # Errors
    /// Returns an error if not every input is given once, if the shape or the element type of an array differs from those of
    /// its input, or if a kernel fails. The array of an input that no node reads is not checked.
    pub fn forward(&self, inputs: &[(&str, &Tensor)]) -> Result<Vec<(String, Tensor)>> {
        self.inputs.expect_each(inputs.iter().map(|(name, _)| *name))?;
        let is_read = |(name, _): &(&str, &Tensor)| self.read.iter().any(|read| read == name);
        let read: Vec<(&str, &Tensor)> = inputs.iter().copied().filter(is_read).collect();
        let tensors = self.bound.forward_tensors(&read)?;
        Ok(self.outputs.iter().cloned().zip(tensors).collect())
    }

    /// The bound network, for reports and for arrays by name. Names of its outputs are those of nodes.
    pub fn bound(&self) -> &BoundModel {
        &self.bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_env::MapSource;
    use mxrs_format::onnx::{DataType, GraphProto, NodeProto, ValueInfoProto, from_tensor};

    /// `y = x * w + ids`-th rows of a table; `unread` is an input that no node reads.
    fn model() -> OnnxModel {
        let open = |name: &str, dtype, size: usize| {
            ValueInfoProto::with_dims(name, dtype, vec![Dimension::named("n"), Dimension::size(size)])
        };
        let constant = |name: &str, shape: [usize; 2], values: &[f32]| {
            from_tensor(name, Tensor::from_slice(shape, values).unwrap()).unwrap()
        };
        let graph = GraphProto {
            node: vec![
                NodeProto::new("MatMul", "product", ["x", "w"], ["h"]),
                NodeProto::new("Gather", "rows", ["table", "ids"], ["e"]),
                NodeProto::new("Add", "sum", ["h", "e"], ["y"]),
            ],
            initializer: vec![
                constant("w", [3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
                constant("table", [3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
            ],
            // Before version 4 of the format, constants are listed among the inputs.
            input: vec![
                open("x", DType::F32, 3),
                ValueInfoProto::of("w", DType::F32, &[3, 2].into()),
                ValueInfoProto::with_dims("ids", DType::I64, vec![Dimension::unknown()]),
                ValueInfoProto::of("unread", DType::Bool, &[1].into()),
            ],
            output: vec![open("y", DType::F32, 2), open("e", DType::F32, 2)],
            ..GraphProto::default()
        };
        let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
        OnnxModel::new(&runtime, ModelProto::of(graph, 13)).unwrap()
    }

    fn tensor<T: mxrs_format::Element>(shape: impl Into<Shape>, elements: &[T]) -> Tensor {
        Tensor::from_slice(shape, elements).unwrap()
    }

    fn unread() -> (&'static str, Tensor) {
        ("unread", tensor([1], &[0_u8]).cast(DType::Bool))
    }

    /// Any number of rows: (1 2 3) w = (22 28) and (0 0 1) w = (5 6); the rows of the table are added.
    #[test]
    fn open_sizes_are_those_of_the_arrays() {
        let model = model();
        let names: Vec<&str> = model.inputs().iter().map(|input| input.name.as_str()).collect();
        assert_eq!(names, ["x", "ids", "unread"]);
        assert_eq!(model.outputs(), ["y", "e"]);
        let (x, ids) = (tensor([2, 3], &[1.0_f64, 2.0, 3.0, 0.0, 0.0, 1.0]), tensor([2], &[2_i32, 0]));
        let outputs = model.forward([("x", x), unread(), ("ids", ids)]).unwrap();
        assert_eq!(outputs[0], ("y".to_owned(), tensor([2, 2], &[26.0_f32, 33.0, 5.0, 7.0])));
        assert_eq!(outputs[1], ("e".to_owned(), tensor([2, 2], &[4.0_f32, 5.0, 0.0, 1.0])));
        let one = [("ids", tensor([1], &[1_i64])), ("x", tensor([1, 3], &[1.0_f32, 2.0, 3.0])), unread()];
        assert_eq!(model.forward(one).unwrap()[0].1, tensor([1, 2], &[24.0_f32, 31.0]));
    }

    #[test]
    fn a_bound_model_runs_again() {
        let bound = model().bind(&[("ids", [1].into()), ("x", [1, 3].into()), ("unread", [1].into())]).unwrap();
        assert_eq!(bound.inputs()[1].to_string(), "`x` float32 (1, 3)");
        let (unread, ids) = (unread().1, tensor([1], &[1_i64]));
        for factor in [1.0_f32, 2.0] {
            let x = tensor([1, 3], &[factor, 2.0 * factor, 3.0 * factor]);
            let outputs = bound.forward(&[("x", &x), ("ids", &ids), ("unread", &unread)]).unwrap();
            assert_eq!(outputs[0].1, tensor([1, 2], &[22.0 * factor + 2.0, 28.0 * factor + 3.0]));
        }
        let x = tensor([1, 3], &[1.0_f64; 3]);
        let error = bound.forward(&[("x", &x), ("ids", &ids), ("unread", &unread)]).unwrap_err().to_string();
        assert!(error.contains("got float64, expected float32") && error.contains("`x`"), "{error}");
        assert!(bound.forward(&[("ids", &ids)]).unwrap_err().to_string().contains("nothing for `x`, `unread`"));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_inputs() {
        let model = model();
        let refused = |result: Result<Tensor>, words: &str| {
            let error = result.unwrap_err().to_string();
            let inputs = "the model has the inputs `x` float32 (?, 3), `ids` int64 (?,), `unread` bool (1,)";
            assert!(error.contains(words) && error.contains(inputs), "{error}");
        };
        refused(model.accept("w", tensor([3, 2], &[0.0_f32; 6])), "got `w`");
        refused(model.accept("x", tensor([2, 4], &[0.0_f32; 8])), "got (2, 4), expected (?, 3)");
        refused(model.accept("x", tensor([3], &[0.0_f32; 3])), "got (3,), expected (?, 3)");
        refused(model.accept("ids", tensor([1], &[1.0_f32])), "got float32, expected int64");
        refused(model.accept("ids", tensor([2], &[1, u64::MAX])), "got uint64 whose element 1");
        refused(model.accept("unread", tensor([1], &[1_u8])), "got uint8, expected bool");
        assert!(model.expect_inputs(["x", "ids", "x"]).unwrap_err().to_string().contains("`x` twice"));
        assert!(model.expect_inputs(["x", "unread"]).unwrap_err().to_string().contains("nothing for `ids`"));
    }

    #[test]
    fn an_input_that_is_not_an_array_of_numbers_is_refused() {
        let mut message = model().message;
        if let Some(tensor) = message.graph.iter_mut().flat_map(|graph| &mut graph.input[0].kind).next() {
            tensor.tensor_type.get_or_insert_default().elem_type = DataType::String as i32;
        }
        let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
        let error = OnnxModel::new(&runtime, message).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("`x`") && error.contains("element type 8"), "{error}");
    }
}
