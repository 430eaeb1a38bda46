//! A network with its parameters, and the network bound to shapes.

use crate::later::ParameterFile;
use crate::{Predictor, Runtime};
use indexmap::IndexMap;
use mxrs_exec::{BindOptions, Executor, PackedStore};
use mxrs_format::params::{checkpoint_path, symbol_path};
use mxrs_format::{Checkpoint, Lender, Lent, Loaded, Options, Tensor};
use mxrs_graph::{Graph, NodeId};
use mxrs_ndarray::{ArrayMemory, NdArray};
use mxrs_storage::return_freed_heap;
use mxrs_symbol::{Registry, SymbolFile, graph_from_file};
use mxrs_trace::api_call;
use mxrs_types::{DType, Device, Error, Result, ResultExt, Shape};
use std::path::Path;
use std::sync::Arc;

/// A graph and the arrays of its parameters. Cloning is cheap, and clones share the arrays. For requests at the same time
/// see [the documentation of the crate](crate#requests-at-the-same-time).
///
/// ```
/// use mxrs::Runtime;
///
/// # let prefix = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/digits/resnet8");
/// let runtime = Runtime::builder().build()?;
/// let model = runtime.load_checkpoint(prefix, 10)?;
/// assert_eq!(model.inputs(), ["data"]);
///
/// let bound = model.bind(&[("data", [1, 1, 28, 28].into())])?;
/// let outputs = bound.forward(&[("data", &vec![0.0_f32; 28 * 28])])?;
/// assert_eq!(outputs[0].to_vec::<f32>()?.len(), 10);
/// # Ok::<(), mxrs::Error>(())
/// ```
#[derive(Clone)]
pub struct Model {
    runtime: Runtime,
    graph: Arc<Graph>,
    params: IndexMap<String, NdArray>,
    /// Element types of inputs, by name. The other inputs are inferred, or float32.
    pub(crate) dtypes: Vec<(String, DType)>,
    /// The device of the parameters, and of what is bound from the model, except for groups.
    device: Device,
    /// The devices of groups of nodes.
    groups: IndexMap<String, Device>,
    /// Packed weights, shared by all models that are bound from this one.
    packed: PackedStore,
}

impl Model {
    /// Reads `<prefix>-symbol.json` and `<prefix>-NNNN.params`, where NNNN is the epoch with at least four digits.
    ///
    /// # Errors
    /// Returns an error if either file cannot be read (the error names it), or if an operator is not built.
    pub fn load(runtime: &Runtime, prefix: impl AsRef<Path>, epoch: u64) -> Result<Self> {
        Self::load_files(runtime, symbol_path(&prefix), checkpoint_path(&prefix, epoch))
    }

    /// Reads a symbol file and a parameter file. The parameter file is a list or an npz file with names that begin with
    /// `arg:` or `aux:`.
    ///
    /// # Errors
    /// Fails as [`Self::load`] does.
    pub fn load_files(runtime: &Runtime, symbol: impl AsRef<Path>, params: impl AsRef<Path>) -> Result<Self> {
        let _call = api_call("Model::load");
        let (symbol, params) = (symbol.as_ref(), params.as_ref());
        let graph = Self::load_graph(runtime, symbol)?;
        let loaded = Checkpoint::open(params, &Options { lender: Some(lender(runtime, false)), ..Options::default() })?;
        log_file_warnings(params, &loaded.warnings);
        let tensors = loaded.value.arg.into_iter().chain(loaded.value.aux);
        Self::from_parts(runtime, graph, tensors).context(|| format!("loading parameters from {}", params.display()))
    }

    /// Reads a symbol file and a parameter file, and [freezes](Self::freeze) the network for these shapes. This takes less
    /// memory and time than the two steps one after the other: large parameters of a list (`.params`) stay in the file until
    /// they are packed, so only a few of them are in memory in unpacked form at the same time.
    ///
    /// # Errors
    /// Fails as [`Self::load`] and [`Self::freeze`] do; also if the parameter file is written to while it is read.
    pub fn load_frozen(
        runtime: &Runtime,
        symbol: impl AsRef<Path>,
        params: impl AsRef<Path>,
        shapes: &[&[(&str, Shape)]],
    ) -> Result<Vec<BoundModel>> {
        let (symbol, params) = (symbol.as_ref(), params.as_ref());
        let graph = Self::load_graph(runtime, symbol)?;
        let file = ParameterFile::open(params)?;
        let options = Options { lender: Some(lender(runtime, ParameterFile::CAN_BE_LATE)), ..Options::default() };
        let loaded = Checkpoint::read(file.handle()?, &options).map_err(|e| e.with_path(params))?;
        log_file_warnings(params, &loaded.warnings);
        let tensors = loaded.value.arg.into_iter().chain(loaded.value.aux);
        let mut late = IndexMap::new();
        let model = Self::from_tensors(runtime, graph, tensors, &mut late);
        let model = model.context(|| format!("loading parameters from {}", params.display()))?;
        let frozen = model.freeze_reading(shapes, &mut |name, array| match late.swap_remove(name) {
            Some(offset) => file.read_later(offset, array, runtime.team()),
            None => Ok(()),
        })?;
        let arrays = frozen.iter().flat_map(|bound| bound.executor.arrays());
        arrays.map(|(_, array)| array).try_for_each(NdArray::wait_to_read)?;
        file.expect_unchanged()?;
        Ok(frozen)
    }

    /// Reads a symbol file, without parameters.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read (the error names it), or if an operator is not built.
    pub fn load_graph(runtime: &Runtime, symbol: impl AsRef<Path>) -> Result<Graph> {
        let path = symbol.as_ref();
        let Loaded { value: graph, warnings } = read_graph(runtime, path)
            .map_err(|e| e.with_path(path))
            .context(|| format!("reading {}", path.display()))?;
        log_file_warnings(path, &warnings);
        Ok(graph)
    }

    /// A model from a graph and named parameters. Parameters for which the graph has no variable are ignored with a warning.
    ///
    /// # Errors
    /// Returns an error if a parameter has no values or is not dense, or if memory is exhausted.
    pub fn from_parts(
        runtime: &Runtime,
        graph: Graph,
        params: impl IntoIterator<Item = (String, Tensor)>,
    ) -> Result<Self> {
        Self::from_tensors(runtime, graph, params, &mut IndexMap::new())
    }

    /// Like [`Self::from_parts`]. Adds to `late` the parameters that are not read yet, with their offsets in the file.
    fn from_tensors(
        runtime: &Runtime,
        graph: Graph,
        params: impl IntoIterator<Item = (String, Tensor)>,
        late: &mut IndexMap<String, u64>,
    ) -> Result<Self> {
        let mut arrays = IndexMap::new();
        let mut unused = Vec::new();
        for (name, tensor) in params {
            if !graph.variables().iter().any(|&id| graph.node(id).name == name) {
                unused.push(name);
                continue;
            }
            let dense = tensor.into_dense().context(|| format!("loading parameter `{name}`"))?;
            let (dtype, shape, bytes) = dense.into_parts();
            // If two parameters have the same name, the last one is used.
            late.swap_remove(&name);
            let array = match bytes.into_lent::<Parameter>() {
                Ok(parameter) => {
                    late.extend(parameter.late_from.map(|offset| (name.clone(), offset)));
                    NdArray::from_memory(runtime.arrays(), shape, dtype, parameter.memory)?
                }
                Err(bytes) => NdArray::from_bytes(runtime.arrays(), shape, dtype, &bytes)?,
            };
            arrays.insert(name, array);
        }
        if !unused.is_empty() {
            tracing::warn!("the graph has no variables for the parameters {}", unused.join(", "));
        }
        let (runtime, graph, packed) = (runtime.clone(), Arc::new(graph), PackedStore::new());
        let (dtypes, device, groups) = (Vec::new(), Device::cpu(0), IndexMap::new());
        Ok(Self { runtime, graph, params: arrays, dtypes, device, groups, packed })
    }

    /// The same model with its parameters on `device`, where networks that are bound from it run. It shares the arrays of
    /// this model if they are there already. Models are loaded to `cpu(0)`.
    ///
    /// ```
    /// use mxrs::types::Device;
    /// use mxrs::{Model, Runtime};
    ///
    /// # let prefix = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/digits/lenet");
    /// let runtime = Runtime::builder().build()?;
    /// let model = runtime.load_checkpoint(prefix, 10)?.on_device(Device::cpu(1))?;
    /// let predictor = model.predictor(1, &[1, 28, 28])?;
    /// assert_eq!(predictor.predict(&[0.5; 28 * 28])?.len(), 10);
    /// # Ok::<(), mxrs::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the runtime does not have the device, or if its memory is exhausted.
    pub fn on_device(&self, device: Device) -> Result<Self> {
        if device == self.device {
            return Ok(self.clone());
        }
        self.placed(device, self.groups.clone())
    }

    /// The same model with groups of nodes on other devices, as MXNet's `group2ctx` gives them: a node is in the group that its
    /// attribute `ctx_group` names. Parameters of a group are on the device of the group. See [`BindOptions::groups`].
    ///
    /// # Errors
    /// Returns an error if a node is in a group that is not given, if operators on two devices write one auxiliary state, if
    /// the runtime does not have a device, or if its memory is exhausted.
    pub fn on_groups<N: Into<String>>(&self, groups: impl IntoIterator<Item = (N, Device)>) -> Result<Self> {
        self.placed(self.device, groups.into_iter().map(|(name, device)| (name.into(), device)).collect())
    }

    /// The same model with its parameters where this device and these groups place them.
    fn placed(&self, device: Device, groups: IndexMap<String, Device>) -> Result<Self> {
        let arrays = self.runtime.arrays();
        let graph = match groups.is_empty() {
            true => None,
            false => Some(mxrs_graph::place(&self.graph, device, &groups)?),
        };
        let of = |name: &str| graph.as_ref().and_then(|graph| graph.node(graph.find(name)?).device).unwrap_or(device);
        let copied = |(name, array): (&String, &NdArray)| {
            let device = of(name);
            let copy = array.as_in_context(arrays, device);
            Ok((name.clone(), copy.context(|| format!("copying parameter `{name}` to {device}"))?))
        };
        let params = self.params.iter().map(copied).collect::<Result<_>>()?;
        Ok(Self { params, device, groups, packed: PackedStore::new(), ..self.clone() })
    }

    /// The devices of groups of nodes; empty if groups are ignored.
    pub fn groups(&self) -> &IndexMap<String, Device> {
        &self.groups
    }

    /// The device of the parameters, and of networks that are bound from the model, except for [groups](Self::groups).
    pub fn device(&self) -> Device {
        self.device
    }

    /// The runtime with which the model was created.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Parameters and auxiliary states by name.
    pub fn params(&self) -> &IndexMap<String, NdArray> {
        &self.params
    }

    /// Names of the variables that inference reads and that have no parameter: the caller must feed them.
    pub fn inputs(&self) -> Vec<&str> {
        let graph = &self.graph;
        let is_fed = |id: &NodeId| !self.params.contains_key(&graph.node(*id).name) && !graph.is_label(*id);
        graph.arguments().filter(is_fed).map(|id| graph.node(id).name.as_str()).collect()
    }

    /// Chooses kernels and plans memory for inputs of these shapes. If a model is bound to several shapes, kernels that want
    /// the same packed weights share them.
    ///
    /// # Errors
    /// Returns an error if the graph does not have an input, if shapes do not fit the parameters (the error names the node),
    /// if parameters are missing, or if memory is exhausted.
    pub fn bind(&self, inputs: &[(&str, Shape)]) -> Result<BoundModel> {
        let _call = api_call("Model::bind");
        let shapes = || inputs.iter().map(|(name, shape)| format!("`{name}` {shape}")).collect::<Vec<_>>().join(", ");
        let packed = Some(self.packed.clone());
        let (dtypes, device, groups) = (self.dtypes.clone(), self.device, self.groups.clone());
        let options = BindOptions { dtypes, device, groups, packed, ..self.runtime.bind_options() };
        let executor = Executor::bind(&self.graph, self.runtime.arrays(), inputs, &self.params, &options);
        // Tuning results are stored even if binding the rest of the network failed.
        if let Err(error) = self.runtime.keep_kernels() {
            tracing::warn!("kernel tuning results could not be kept: {error}");
        }
        Ok(BoundModel { executor: executor.context(|| format!("binding the network to {}", shapes()))? })
    }

    /// Binds the model to each of these shapes, for inference only. Parameters are kept only in the form in which kernels read
    /// them. So each parameter takes memory once, not twice (unpacked and packed), unless other code holds handles to its
    /// array.
    ///
    /// # Errors
    /// Fails as [`Self::bind`] does; also if packing fails.
    pub fn freeze(self, shapes: &[&[(&str, Shape)]]) -> Result<Vec<BoundModel>> {
        self.freeze_reading(shapes, &mut |_, _| Ok(()))
    }

    /// Like [`Self::freeze`], but `read` fills the parameters when [`Executor::freeze_reading`] needs them.
    fn freeze_reading(
        self,
        shapes: &[&[(&str, Shape)]],
        read: &mut dyn FnMut(&str, &NdArray) -> Result<()>,
    ) -> Result<Vec<BoundModel>> {
        let bound: Vec<BoundModel> = shapes.iter().map(|inputs| self.bind(inputs)).collect::<Result<_>>()?;
        let storage = self.runtime.arrays().storage().clone();
        let devices: Vec<Device> = std::iter::once(self.device).chain(self.groups.values().copied()).collect();
        drop(self);
        let freeze = |bound: BoundModel| Ok(BoundModel { executor: bound.executor.freeze_reading(read)? });
        let frozen = bound.into_iter().map(freeze).collect::<Result<_>>()?;
        for device in devices {
            storage.release_all(device);
        }
        return_freed_heap();
        Ok(frozen)
    }

    /// Binds the only input of the network to batches of `batch_size` items of shape `data_shape` (`[C, H, W]` for images).
    ///
    /// # Errors
    /// Fails as [`Self::bind`] does; also if the network does not have exactly one input.
    pub fn predictor(&self, batch_size: usize, data_shape: &[usize]) -> Result<Predictor> {
        Predictor::new(self, batch_size, data_shape)
    }
}

fn read_graph(runtime: &Runtime, path: &Path) -> Result<Loaded<Graph>> {
    let Loaded { value: file, mut warnings } = SymbolFile::open(path, &Options::default())?;
    // Operators of MXNet that are not built into mxrs are collected, so that one error names all of them.
    let is_built = |op: &str| runtime.ops().find(op).is_some() || mxrs_ops::legacy_name(op).is_some();
    let mut absent: Vec<&str> = Vec::new();
    for node in file.nodes.iter().filter(|node| !node.is_variable() && !is_built(&node.op)) {
        match mxrs_ops::not_built(&node.op) {
            Some(canonical) if !absent.contains(&canonical) => absent.push(canonical),
            _ => {}
        }
    }
    if !absent.is_empty() {
        let reason = "MXNet has it, this version has not; `mxrs ops` lists what is built";
        return Err(Error::not_built(format!("operator {}", absent.join(", ")), reason));
    }
    let registry = Registry { ops: runtime.ops(), legacy: mxrs_ops::legacy_name };
    let graph = graph_from_file(file, &registry)?;
    warnings.extend(graph.warnings);
    Ok(Loaded { value: graph.value, warnings })
}

/// Parameters with fewer bytes than this are read immediately.
const LEAST_LATE: usize = 128 << 10;

/// Memory of a parameter that is read from a file.
struct Parameter {
    memory: ArrayMemory,
    may_be_late: bool,
    /// Offset of the parameter in the file, if it was not read yet.
    late_from: Option<u64>,
}

impl Lent for Parameter {
    fn bytes(&self) -> &[u8] {
        self.memory.bytes()
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.bytes_mut()
    }
    fn read_later(&mut self, offset: u64) -> bool {
        self.late_from = (self.may_be_late && self.memory.bytes().len() >= LEAST_LATE).then_some(offset);
        self.late_from.is_some()
    }
}

/// Allocates the memory of parameters as array memory, so that they are read without a copy. With `may_be_late`, large ones
/// are read later.
fn lender(runtime: &Runtime, may_be_late: bool) -> Lender {
    let arrays = runtime.arrays().clone();
    Lender::new(move |len| {
        Ok(Box::new(Parameter { memory: ArrayMemory::new(&arrays, len)?, may_be_late, late_from: None }))
    })
}

pub(crate) fn log_file_warnings(path: &Path, warnings: &[String]) {
    for warning in warnings {
        tracing::warn!("{}: {warning}", path.display());
    }
}

/// A [`Model`] bound to shapes. It shares the parameters of the model.
pub struct BoundModel {
    executor: Executor,
}

impl BoundModel {
    /// Copies the inputs (row-major, float32) into their arrays, runs the network and returns its outputs. Reading an output
    /// waits for the run and returns its error. The next run overwrites the same output arrays.
    /// [`Self::forward_tensors`] takes inputs of any element type.
    ///
    /// # Errors
    /// Returns an error if the graph does not have an input, or if the length of the data differs from the shape of the
    /// input.
    pub fn forward(&self, inputs: &[(&str, &[f32])]) -> Result<&[NdArray]> {
        let _call = api_call("BoundModel::forward");
        for (name, elements) in inputs {
            let array = self.executor.argument(name)?;
            array.copy_from(elements).context(|| format!("filling input `{name}`"))?;
        }
        self.executor.forward()?;
        Ok(self.executor.outputs())
    }

    /// The executor, for reports and for arrays by name.
    pub fn executor(&self) -> &Executor {
        &self.executor
    }
}
