//! Groups of executors: one group for the shapes that the caller bound, and one for each other shape that a batch has.

use super::group::{Group, Part, split_rows};
use super::{Module, unbound};
use mxrs_data::DataDesc;
use mxrs_exec::{BindOptions, Executor, GradReq, GradRequests};
use mxrs_graph::{NodeId, infer_dtypes, infer_shapes};
use mxrs_types::{DType, Error, Result, ResultExt, Shape};

/// What a module is bound for: training or inference, and which gradients are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindFor {
    /// Whether gradients are computed.
    pub training: bool,
    /// Whether gradients of the inputs are computed too.
    pub inputs_need_grad: bool,
    /// Whether a gradient overwrites its array or is added to it.
    pub grad_req: GradReq,
}

impl Default for BindFor {
    fn default() -> Self {
        Self { training: true, inputs_need_grad: false, grad_req: GradReq::Write }
    }
}

impl BindFor {
    /// Options for inference: no gradients.
    pub fn inference() -> Self {
        Self { training: false, ..Self::default() }
    }
}

impl Module {
    /// Chooses kernels and plans memory for these inputs and labels. Labels that the network does not have are ignored.
    /// Earlier executors are dropped, but parameters keep their values.
    ///
    /// # Errors
    /// Returns an error if the names of the inputs are not those of the module, if shapes do not fit the network, if no
    /// backend supports an operator, or if memory is exhausted.
    pub fn bind(&mut self, data: &[DataDesc], labels: &[DataDesc], how: BindFor) -> Result<()> {
        let mut given: Vec<&str> = data.iter().map(|desc| desc.name.as_str()).collect();
        let mut wanted: Vec<&str> = self.names.data.iter().map(String::as_str).collect();
        given.sort_unstable();
        wanted.sort_unstable();
        if given != wanted {
            return Err(Error::invalid("inputs to bind", given.join(", "), wanted.join(", ")));
        }
        let has_params = self.is_initialized;
        if has_params {
            self.loaded = Some(self.get_params()?);
        }
        self.groups.clear();
        self.exchange = None;
        (self.current, self.how, self.is_initialized) = (0, how, false);
        self.bind_more(data, labels, how.training)?;
        if has_params && let Some(params) = self.loaded.take() {
            self.set_params(&params)?;
        }
        Ok(())
    }

    /// Binds a group: an executor for each context, for its part of the rows.
    fn bind_more(&mut self, data: &[DataDesc], labels: &[DataDesc], with_gradients: bool) -> Result<()> {
        let is_known = |desc: &&DataDesc| self.graph.find(&desc.name).is_some();
        let labels: Vec<DataDesc> = labels.iter().filter(is_known).cloned().collect();
        let n_rows = data.first().and_then(|desc| desc.shape.first().copied()).unwrap_or(0);
        let rows = match self.contexts.len() {
            1 => std::iter::once(0..n_rows).collect(),
            _ => {
                let differs = |desc: &&DataDesc| desc.shape.first() != Some(&n_rows);
                if let Some(other) = data.iter().chain(&labels).find(differs) {
                    let expected = format!("{n_rows} rows to divide among the contexts, as in `{}`", data[0].name);
                    return Err(Error::shape("bind", format!("input `{}`", other.name), expected, &other.shape));
                }
                split_rows(n_rows, &self.work_load)?
            }
        };
        let mut parts = Vec::with_capacity(rows.len());
        for (context, rows) in rows.into_iter().enumerate() {
            let own = |desc: &DataDesc| {
                let mut desc = desc.clone();
                if self.contexts.len() > 1 {
                    desc.shape.dims_mut().first_mut().into_iter().for_each(|n| *n = rows.len());
                }
                desc
            };
            let (data, labels): (Vec<_>, Vec<_>) = (data.iter().map(own).collect(), labels.iter().map(own).collect());
            parts.push(Part { executor: self.bind_part(context, &data, &labels, with_gradients)?, rows });
        }
        self.groups.push(Group::new(&self.nd, data.to_vec(), labels, parts)?);
        Ok(())
    }

    /// Binds the executor of one context for these inputs and labels. It shares parameters and temporary memory with the
    /// earlier executors of the context.
    fn bind_part(
        &self,
        context: usize,
        data: &[DataDesc],
        labels: &[DataDesc],
        with_gradients: bool,
    ) -> Result<Executor> {
        let graph = self.bound_graph(with_gradients);
        let scaling = self.scaling.as_ref().filter(|_| with_gradients);
        let inputs: Vec<(&str, Shape)> =
            data.iter().chain(labels).map(|desc| (desc.name.as_str(), desc.shape.clone())).collect();
        let given = self.given_params(&inputs);
        let mut dtypes: Vec<(String, DType)> =
            data.iter().chain(labels).map(|desc| (desc.name.clone(), desc.dtype)).collect();
        dtypes.extend(self.unconverted(&given, &dtypes)?);
        let shapes = given.iter().map(|(name, shape, _)| (name.clone(), shape.clone())).collect();
        let requests = || {
            let fixed = self.names.fixed_params.iter().chain(&self.names.labels);
            let known = |name: &&String| graph.find(name).is_some();
            let mut requests = GradRequests::all(self.how.grad_req);
            let scales = scaling.iter().flat_map(|scaling| &scaling.variables);
            for name in fixed.chain(labels.iter().map(|desc| &desc.name)).chain(scales).filter(known) {
                requests = requests.with(name, GradReq::Null);
            }
            let of_inputs = if self.how.inputs_need_grad { self.how.grad_req } else { GradReq::Null };
            data.iter().fold(requests, |requests, desc| requests.with(&desc.name, of_inputs))
        };
        let earlier = self.groups.first().and_then(|first| first.executors().nth(context));
        let pool = earlier.map(|executor| executor.pool().clone());
        let gradients = with_gradients.then(requests);
        let device = self.contexts.get(context).copied().unwrap_or(self.options.device);
        let options = BindOptions { device, dtypes, shapes, pool, gradients, ..self.options.clone() };
        let executor = Executor::simple_bind(graph, &self.context, &inputs, &options).context(|| {
            let shapes: Vec<String> = inputs.iter().map(|(name, shape)| format!("`{name}` {shape}")).collect();
            let place = if self.contexts.len() > 1 { format!(" on {device}") } else { String::new() };
            format!("binding the network to {}{place}", shapes.join(", "))
        })?;
        scaling.map_or(Ok(()), |scaling| scaling.write(&executor))?;
        Ok(executor)
    }

    /// Shapes and dtypes of the parameters that the module has or was loaded with. Shape inference needs them, because some
    /// shapes do not follow from the inputs: a range per channel of a quantized layer has as many elements as the parameter
    /// file says. The result is empty if the shapes do not fit the network. Setting the parameters then fails with an error
    /// that names them, which is more helpful than an error of shape inference.
    fn given_params(&self, inputs: &[(&str, Shape)]) -> Vec<(String, Shape, DType)> {
        let (args, aux) = self.param_ids();
        let of_param = |id: &NodeId| {
            let name = self.graph.node(*id).name.as_str();
            let loaded = self.loaded.as_ref().and_then(|params| params.arg.get(name).or_else(|| params.aux.get(name)));
            let (shape, dtype) = match self.groups.first() {
                Some(first) => first.executor().argument(name).ok().map(|array| (array.shape(), array.dtype()))?,
                None => loaded.and_then(|tensor| tensor.shape().zip(tensor.dtype()))?,
            };
            Some((name.to_owned(), shape.clone(), dtype))
        };
        let given: Vec<(String, Shape, DType)> = args.iter().chain(&aux).filter_map(of_param).collect();
        let inputs = inputs.iter().map(|(name, shape)| (*name, shape.into()));
        let seeds = inputs.chain(given.iter().map(|(name, shape, _)| (name.as_str(), shape.into())));
        if infer_shapes(&self.graph, seeds).is_ok() { given } else { Vec::new() }
    }

    /// Parameters that keep the dtype of the parameter file: those for which the network infers an integer type. The
    /// bias of a quantized layer is float32 or an 8-bit integer, and only the file says which. Other parameters are
    /// converted to the dtype in which the network computes.
    fn unconverted(&self, given: &[(String, Shape, DType)], fed: &[(String, DType)]) -> Result<Vec<(String, DType)>> {
        let fed = fed.iter().map(|(name, dtype)| (name.as_str(), *dtype));
        let inferred = infer_dtypes(&self.graph, fed, Some(self.options.default_dtype))?.complete(&self.graph)?;
        let is_kept = |(name, ..): &&(String, Shape, DType)| {
            let entry = self.graph.find(name).map(|id| self.graph.output_id(id, 0).index());
            entry.is_some_and(|entry| !inferred[entry].is_float())
        };
        Ok(given.iter().filter(is_kept).map(|(name, _, dtype)| (name.clone(), *dtype)).collect())
    }

    /// Makes the group for inputs of these shapes the current one, and binds it first if no group has these shapes. A
    /// group for other shapes than those that the caller bound has gradients only if `is_train` is set and the module is
    /// bound for training.
    pub(super) fn choose(&mut self, data: &[Shape], labels: Option<&[Shape]>, is_train: bool) -> Result<()> {
        let needs_gradients = is_train && self.how.training;
        let fits = |group: &Group| {
            group.has_shapes(data, labels) && (!needs_gradients || !group.executor().gradients().is_empty())
        };
        if let Some(found) = self.groups.iter().position(fits) {
            self.current = found;
            return Ok(());
        }
        let first = self.groups.first().ok_or_else(|| unbound("bind"))?;
        let as_shaped = |descs: &[DataDesc], shapes: &[Shape], what: &str| {
            if descs.len() != shapes.len() {
                return Err(Error::invalid(format!("number of {what}"), shapes.len(), descs.len().to_string()));
            }
            let with = |(desc, shape): (&DataDesc, &Shape)| DataDesc::new(&desc.name, shape.clone(), desc.dtype);
            Ok(descs.iter().zip(shapes).map(with).collect::<Vec<DataDesc>>())
        };
        let new_data = as_shaped(&first.data, data, "inputs")?;
        let new_labels = match labels {
            Some(labels) => as_shaped(&first.labels, labels, "labels")?,
            // If no label shapes are given, those of the first group are used with the new number of rows.
            None => {
                let rows = data.first().and_then(|shape| shape.first().copied()).unwrap_or(1);
                let resize = |desc: &DataDesc| {
                    let mut desc = desc.clone();
                    desc.shape.dims_mut().first_mut().into_iter().for_each(|n| *n = rows);
                    desc
                };
                first.labels.iter().map(resize).collect()
            }
        };
        self.bind_more(&new_data, &new_labels, needs_gradients)?;
        self.current = self.groups.len() - 1;
        Ok(())
    }
}
