//! Inputs and outputs of any element type: arrays that state their shape and type themselves.

use crate::{BoundModel, Model};
use mxrs_format::{AlignedBytes, Tensor};
use mxrs_ndarray::NdArray;
use mxrs_trace::api_call;
use mxrs_types::{DType, Error, Result, ResultExt};

impl Model {
    /// The same model with these element types of inputs. The type of any other input is inferred from the parameters, or is
    /// float32. [`Self::bind`] fails if the graph does not have one of these inputs.
    ///
    /// ```
    /// use mxrs::format::Tensor;
    /// use mxrs::graph::{NameManager, Symbol, SymbolCall};
    /// use mxrs::types::DType;
    /// use mxrs::{Model, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let take = SymbolCall::new(runtime.ops().get("take")?).name("rows");
    /// let take = take.input(&Symbol::variable("table")).input(&Symbol::variable("ids"));
    /// let graph = take.build(&mut NameManager::new())?.graph()?;
    /// let table = Tensor::from_slice([3, 2], &[0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0])?;
    /// let model = Model::from_parts(&runtime, graph, [("table".to_owned(), table)])?;
    ///
    /// let bound = model.with_dtypes([("ids", DType::I64)]).bind(&[("ids", [2].into())])?;
    /// let rows = bound.forward_tensors(&[("ids", &Tensor::from_slice([2], &[2_i64, 0])?)])?;
    /// assert_eq!(rows[0].to_f32_vec()?, [4.0, 5.0, 0.0, 1.0]);
    /// # Ok::<(), mxrs::Error>(())
    /// ```
    #[must_use]
    pub fn with_dtypes<N: Into<String>>(mut self, dtypes: impl IntoIterator<Item = (N, DType)>) -> Self {
        self.dtypes.extend(dtypes.into_iter().map(|(name, dtype)| (name.into(), dtype)));
        self
    }
}

impl BoundModel {
    /// Copies the inputs into their arrays, runs the network, waits for it and returns copies of its outputs. Inputs that are
    /// not given keep their elements.
    ///
    /// # Errors
    /// Returns an error if the graph does not have an input, if an array is not dense, if its shape or element type differs
    /// from those to which the model is bound, or if a kernel fails.
    pub fn forward_tensors(&self, inputs: &[(&str, &Tensor)]) -> Result<Vec<Tensor>> {
        let _call = api_call("BoundModel::forward_tensors");
        let executor = self.executor();
        for (name, tensor) in inputs {
            fill(executor.argument(name)?, tensor).context(|| format!("filling input `{name}`"))?;
        }
        executor.forward()?;
        executor.outputs().iter().map(to_tensor).collect()
    }
}

/// Overwrites an array with a tensor of the same shape and type.
fn fill(array: &NdArray, tensor: &Tensor) -> Result<()> {
    let dense = tensor.as_dense()?;
    if dense.dtype() != array.dtype() {
        return Err(Error::invalid("element type", dense.dtype(), array.dtype().name()));
    }
    if dense.shape() != array.shape() {
        return Err(Error::invalid("shape", dense.shape(), array.shape().to_string()));
    }
    array.copy_from_bytes(dense.bytes())
}

/// Copies an array to the host, after pending writes.
fn to_tensor(array: &NdArray) -> Result<Tensor> {
    let bytes = array.read_bytes(AlignedBytes::copy_of)?;
    Tensor::dense(array.dtype(), array.shape().clone(), bytes)
}
