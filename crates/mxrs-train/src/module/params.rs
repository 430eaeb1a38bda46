//! Parameters of a module: initialization, reading and replacing.

use super::{InitOptions, Module};
use indexmap::IndexMap;
use mxrs_format::params::{LoadPolicy, Wanted};
use mxrs_format::{AlignedBytes, Checkpoint, Dense, Tensor};
use mxrs_graph::NodeId;
use mxrs_models::Initializer;
use mxrs_ndarray::{NdArray, Reading};
use mxrs_trace::api_call;
use mxrs_types::{DType, Error, Result, ResultExt, Shape};

/// Arrays that are being copied to the host.
pub(crate) struct Copies(Vec<(String, Shape, DType, Reading<AlignedBytes>)>);

impl Copies {
    /// Starts to copy the arrays. Later writes to the arrays do not change the copies.
    pub fn start<'a>(arrays: impl IntoIterator<Item = (&'a str, &'a NdArray)>) -> Result<Self> {
        let one = |(name, array): (&str, &NdArray)| {
            let reading =
                NdArray::read_later(&[array], |bytes| AlignedBytes::copy_of(bytes.first().unwrap_or(&&[][..])))?;
            Ok((name.to_owned(), array.shape().clone(), array.dtype(), reading))
        };
        Ok(Self(arrays.into_iter().map(one).collect::<Result<_>>()?))
    }

    pub fn finish(self) -> Result<IndexMap<String, Tensor>> {
        let one = |(name, shape, dtype, reading): (String, Shape, DType, Reading<AlignedBytes>)| {
            let bytes = reading.wait().context(|| format!("reading `{name}`"))?;
            Ok((name, Tensor::dense(dtype, shape, bytes)?))
        };
        self.0.into_iter().map(one).collect()
    }
}

/// An initializer that uses the values of a checkpoint, and `default` for parameters that it does not have: MXNet's `Load`.
///
/// # Errors
/// Returns an error that names the array if an array is not dense.
pub fn load_initializer(checkpoint: &Checkpoint, default: Option<Initializer>) -> Result<Initializer> {
    let arrays = checkpoint.arg.iter().chain(&checkpoint.aux).map(|(name, tensor)| {
        let dense = tensor.as_dense().context(|| format!("initial values of `{name}`"))?;
        Ok((name.clone(), dense.shape().clone(), dense.to_f32_vec()))
    });
    Ok(Initializer::load(arrays.collect::<Result<Vec<_>>>()?, default))
}

impl Module {
    /// Gives every parameter its first value: from `given`, or else from the checkpoint that the module was
    /// [loaded](Self::load) from. A parameter that is not in the checkpoint is initialized by the variable's `__init__`
    /// attribute, or else by the end of its name: weights by [`InitOptions::initializer`], biases, betas and means by 0,
    /// gammas and variances by 1. Does nothing if the parameters already have values, unless `force` is set.
    ///
    /// # Errors
    /// Returns an error if the module is not bound, if neither an attribute nor the name of a variable says how to initialize
    /// it, or if an array has another shape than its parameter (the error names the first such array, with both shapes).
    /// Missing and superfluous arrays are errors too, unless the options allow them.
    pub fn init_params(&mut self, given: Option<&Checkpoint>, options: &InitOptions) -> Result<()> {
        let _call = api_call("Module::init_params");
        self.first()?;
        if self.is_initialized && !options.force {
            return Ok(());
        }
        let loaded = self.loaded.take();
        let mut missing = self.all_names();
        if let Some(params) = given.or(loaded.as_ref()) {
            missing = self.write_params(params, options.allow_missing, options.allow_extra)?;
        }
        for name in &missing {
            self.init_one(name, options).context(|| format!("initializing `{name}`"))?;
        }
        self.is_initialized = true;
        Ok(())
    }

    fn init_one(&self, name: &str, options: &InitOptions) -> Result<()> {
        let own = self.graph.find(name).and_then(|id| self.graph.node(id).attrs.get("__init__"));
        let array = self.first()?.executor().argument(name)?;
        let values = options.initializer.values(name, own, array.shape(), options.seed)?;
        let tensor = Tensor::from_slice(array.shape().clone(), &values)?.cast(array.dtype());
        self.copies_of(name)?.iter().try_for_each(|copy| copy.copy_from_bytes(tensor.stored_bytes()))
    }

    /// Copies of all parameters and auxiliary states with their current values. Of several contexts they are the means of
    /// the contexts' values, with the rounding of MXNet.
    ///
    /// # Errors
    /// Returns an error if the parameters have no values yet or could not be computed.
    pub fn get_params(&self) -> Result<Checkpoint> {
        self.expect_initialized()?;
        let (args, aux) = self.param_ids();
        let copy = |ids: Vec<NodeId>| self.copies(&ids);
        let (args, aux) = (copy(args)?, copy(aux)?);
        Ok(Checkpoint::new(args.finish()?, aux.finish()?))
    }

    /// Overwrites all parameters and auxiliary states, on every context. A key-value store that updates the weights takes
    /// the new values at the next update, unless servers keep the weights: then the next update fails.
    ///
    /// # Errors
    /// Returns an error if the module is not bound, or if arrays are missing, superfluous or of another shape (the error
    /// names them).
    pub fn set_params(&mut self, params: &Checkpoint) -> Result<()> {
        self.write_params(params, false, false)?;
        self.is_initialized = true;
        Ok(())
    }

    /// Overwrites the parameters and auxiliary states that servers do not keep. The weights that servers keep are those of the
    /// checkpoint, or newer ones.
    ///
    /// # Errors
    /// Fails as [`Self::set_params`] does. Also fails on the first worker if the servers have made no update, and began with
    /// other weights than those of the checkpoint.
    pub(super) fn set_params_beside_servers(&mut self, params: &Checkpoint) -> Result<()> {
        let exchange = self.exchange()?;
        let served: Vec<&str> = exchange.copies().iter().flatten().map(|param| param.name.as_str()).collect();
        let is_begin = exchange.have_servers_updated()? == Some(false);
        self.take_params(params, false, false, |name, dense| {
            let copies = self.copies_of(name)?;
            if !served.contains(&name) {
                return copies.iter().try_for_each(|copy| copy.copy_from_bytes(dense.bytes()));
            }
            let Some(first) = copies.first().filter(|_| is_begin) else { return Ok(()) };
            if first.read_bytes(<[u8]>::to_vec)? == dense.bytes() {
                return Ok(());
            }
            let expected =
                "those of the checkpoint: call init_params or set_params with it before the optimizer is initialized";
            Err(Error::invalid("weights that servers began with", "other values", expected))
        })?;
        self.is_initialized = true;
        Ok(())
    }

    pub(super) fn all_names(&self) -> Vec<String> {
        let (args, aux) = self.param_ids();
        args.iter().chain(&aux).map(|id| self.graph.node(*id).name.clone()).collect()
    }

    /// Overwrites the parameters that `params` contains, and returns the names of the other parameters.
    fn write_params(&self, params: &Checkpoint, allow_missing: bool, allow_extra: bool) -> Result<Vec<String>> {
        self.take_params(params, allow_missing, allow_extra, |name, dense| {
            self.copies_of(name)?.iter().try_for_each(|copy| copy.copy_from_bytes(dense.bytes()))
        })
    }

    /// Calls `take` with each parameter that `params` contains, and returns the names of the other parameters.
    fn take_params(
        &self,
        params: &Checkpoint,
        allow_missing: bool,
        allow_extra: bool,
        mut take: impl FnMut(&str, &Dense) -> Result<()>,
    ) -> Result<Vec<String>> {
        let executor = self.first()?.executor();
        let policy = LoadPolicy { allow_extra, allow_missing, cast_dtype: true };
        let (args, aux) = self.param_ids();
        let mut missing = Vec::new();
        for (ids, arrays, what) in [(args, &params.arg, "arguments"), (aux, &params.aux, "auxiliary states")] {
            let wanted = |id: &NodeId| {
                let name = self.graph.node(*id).name.clone();
                let array = executor.argument(&name)?;
                Ok(Wanted { name, shape: Some(array.shape().clone()), dtype: Some(array.dtype()) })
            };
            let wanted: Vec<Wanted> = ids.iter().map(wanted).collect::<Result<_>>()?;
            let matched = policy.match_arrays(&wanted, arrays.clone()).context(|| format!("setting the {what}"))?;
            for (name, tensor) in &matched.found {
                let what = || format!("setting `{name}`");
                take(name, tensor.as_dense().context(what)?).context(what)?;
            }
            missing.extend(matched.missing);
        }
        if missing.len() == self.all_names().len() && !missing.is_empty() {
            return Err(Error::invalid("parameters", "none that the network has", "those of this network"));
        }
        Ok(missing)
    }
}
