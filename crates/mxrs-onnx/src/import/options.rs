//! The options of an import: sizes that the model leaves open, and limits on what a small file can ask for.

use indexmap::IndexMap;
use mxrs_format::Options;
use mxrs_types::Shape;

/// The options of an import.
///
/// A model may leave sizes of its inputs open, such as the number of examples in a batch. Most operators do not need to know
/// them. `Shape`, `Expand`, `Resize` and others do, because their counterparts in mxrs take sizes as parameters. For models
/// with such operators, give the sizes here; the graph is then for these sizes only. To run a model with several sizes, import
/// it once for each.
///
/// ```
/// use mxrs_format::onnx::{Dimension, GraphProto, ModelProto, NodeProto, ValueInfoProto};
/// use mxrs_onnx::{ImportOptions, import_with};
/// use mxrs_types::DType;
///
/// let dims = vec![Dimension::named("batch"), Dimension::size(3)];
/// let graph = GraphProto {
///     node: vec![NodeProto::new("Shape", "sizes", ["x"], ["y"])],
///     input: vec![ValueInfoProto::with_dims("x", DType::F32, dims)],
///     output: vec![ValueInfoProto::with_dims("y", DType::I64, vec![Dimension::size(2)])],
///     ..GraphProto::default()
/// };
/// let model = ModelProto::of(graph, 13);
/// let error = import_with(&model, &ImportOptions::default()).unwrap_err().to_string();
/// assert!(error.contains("axis 0 (`batch`) of the model's input `x`"));
///
/// let imported = import_with(&model, &ImportOptions::default().size("batch", 8))?;
/// assert_eq!(imported.inputs[0].shape.to_string(), "(8, 3)");
/// assert_eq!(imported.params["y"].as_slice::<i64>()?, [8, 3]);
/// # Ok::<(), mxrs_types::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// Limits on the arrays of the model.
    pub format: Options,
    /// Shapes of inputs, by the name of the input. A shape must agree with the sizes that the model states. It also gives the
    /// sizes that the model names: if the first axis of two inputs is `batch`, the shape of one of them is enough.
    pub shapes: IndexMap<String, Shape>,
    /// Open sizes, by the name that the model gives them.
    pub sizes: IndexMap<String, usize>,
    /// A call that reads only constants, or nothing, may make a constant that is larger than what it reads by this number of
    /// bytes. All such constants together may have 8 times this number, plus 8 times the bytes of the model's own arrays. The
    /// default is 1 GiB.
    pub max_constant_bytes: u64,
    /// The most bytes of any other value, if its sizes are known. Sizes that are open count as 1. The default is 16 GiB.
    pub max_value_bytes: u64,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            format: Options::default(),
            shapes: IndexMap::new(),
            sizes: IndexMap::new(),
            max_constant_bytes: 1 << 30,
            max_value_bytes: 1 << 34,
        }
    }
}

impl ImportOptions {
    /// Sets the shape of an input.
    #[must_use]
    pub fn shape(mut self, input: impl Into<String>, shape: impl Into<Shape>) -> Self {
        self.shapes.insert(input.into(), shape.into());
        self
    }

    /// Sets an open size, by the name that the model gives it.
    #[must_use]
    pub fn size(mut self, name: impl Into<String>, size: usize) -> Self {
        self.sizes.insert(name.into(), size);
        self
    }
}
