//! Calls of single operators. Each signature is prepared once; each call pushes one task.

use super::flags;
use super::lru::Lru;
use super::prepared::{Prepared, spoils};
use super::signature::{Key, Mode, Operand, Query};
use super::tape::{Desc, History, How, Link, Node, Saved, entry_of};
use crate::device::on_device;
use crate::options::BindOptions;
use crate::packed::Packed;
use crate::program_passes::plan_memory::arena_bytes;
use crate::ready::{Memory, ReadyProgram, RecordAs};
use crate::segment::push;
use indexmap::IndexMap;
use mxrs_engine::RunContext;
use mxrs_ndarray::{ArrayContext, NdArray, RandomCalls, TempSpace};
use mxrs_op::Attrs;
use mxrs_sync::{Rank, RankedMutex};
use mxrs_trace::api_call;
use mxrs_types::{DType, Device, DeviceKind, Error, Result, ResultExt};
use std::panic::Location;
use std::sync::Arc;

/// Options for imperative calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImperativeOptions {
    /// The number of prepared calls to keep. The least recently used is dropped first.
    pub max_signatures: usize,
    /// Whether `backward` returns an error if a value that it reads was overwritten after it was recorded
    /// (`MXRS_AUTOGRAD_VERSION_CHECK`).
    pub check_versions: bool,
}

impl Default for ImperativeOptions {
    fn default() -> Self {
        Self { max_signatures: 1024, check_versions: true }
    }
}

/// Calls operators on arrays. Clones are handles to the same context and cache.
#[derive(Clone)]
pub struct Imperative(Arc<Inner>);

struct Inner {
    context: ArrayContext,
    options: BindOptions,
    /// For each device on which operators were called, the options with only the backends that run on that device.
    by_device: RankedMutex<Vec<Arc<BindOptions>>>,
    own: ImperativeOptions,
    cache: RankedMutex<Lru<Key, Prepared>>,
    /// An empty array that stands for inputs whose content is not read.
    void: NdArray,
}

/// The result of a call.
pub(crate) struct Made {
    pub prepared: Arc<Prepared>,
    /// The visible outputs, or all outputs if hidden ones were requested.
    pub outputs: Vec<NdArray>,
}

/// A request to call an operator.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub op: &'a str,
    pub attrs: &'a Attrs,
    pub with_hidden: bool,
    /// The device of a call without arrays; `None` for the device of the options.
    pub device: Option<Device>,
    /// If set, this call repeats an earlier call: it draws the random numbers of that call, if it drew any, and rewrites
    /// nothing.
    pub repeats: Option<Option<RandomCalls>>,
    pub site: &'static Location<'static>,
}

impl Imperative {
    /// Makes a caller of operators with the backends and operators of `options`, for arrays of this context.
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub fn new(context: &ArrayContext, options: &BindOptions) -> Result<Self> {
        Self::with(context, options, ImperativeOptions::default())
    }

    /// Like [`Self::new`], with other options for imperative calls.
    ///
    /// # Errors
    /// Returns the errors of [`Self::new`].
    pub fn with(context: &ArrayContext, options: &BindOptions, own: ImperativeOptions) -> Result<Self> {
        let cache = RankedMutex::new(Rank::Leaf, Lru::new(own.max_signatures));
        let by_device = RankedMutex::new(Rank::Leaf, Vec::new());
        let void = NdArray::zeros(context, [0], DType::F32)?;
        // Groups are for graphs. A single call runs on the device of its arrays.
        let options = BindOptions { groups: IndexMap::new(), ..options.clone() };
        Ok(Self(Arc::new(Inner { context: context.clone(), options, by_device, own, cache, void })))
    }

    /// Engine, storage and random numbers of the arrays.
    pub fn context(&self) -> &ArrayContext {
        &self.0.context
    }

    /// Backends, team and operators.
    pub fn options(&self) -> &BindOptions {
        &self.0.options
    }

    /// The options for calls on this device.
    ///
    /// # Errors
    /// Returns an error if no backend runs there.
    pub(crate) fn options_on(&self, device: Device) -> Result<Arc<BindOptions>> {
        let known = self.0.by_device.lock().iter().find(|options| options.device == device).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        self.context().check_device(device)?;
        let options = Arc::new(on_device(&BindOptions { device, ..self.0.options.clone() })?.into_owned());
        self.0.by_device.lock().push(options.clone());
        Ok(options)
    }

    pub(crate) fn checks_versions(&self) -> bool {
        self.0.own.check_versions
    }

    pub(crate) fn void(&self) -> &NdArray {
        &self.0.void
    }

    /// The number of prepared calls in the cache.
    pub fn n_prepared(&self) -> usize {
        self.0.cache.lock().len()
    }

    /// Calls an operator and returns its visible outputs. The outputs are ready once the engine has run the call; reading
    /// an output waits until then. Auxiliary states come last among the inputs. They are rewritten if the operator rewrites
    /// them in the current mode.
    ///
    /// # Errors
    /// Returns an error if the operator is unknown, if it refuses the attributes or the number, shapes or types of the
    /// inputs, or if it runs on no backend. Returns an error if an array is on another device. The error names the operator
    /// and the argument. Under `NaiveEngine` also returns the error of the kernel.
    #[track_caller]
    pub fn invoke(&self, op: &str, attrs: &Attrs, inputs: &[&NdArray]) -> Result<Vec<NdArray>> {
        let _call = api_call("Imperative::invoke");
        let operands: Vec<Operand<'_>> = inputs.iter().map(|array| Operand::Array(array)).collect();
        let asked = Asked { op, attrs, with_hidden: false, device: None, repeats: None, site: Location::caller() };
        let Made { prepared, mut outputs } = self.make(&asked, &operands)?;
        outputs.truncate(prepared.n_visible);
        Ok(outputs)
    }

    /// Like [`Self::invoke`], but returns hidden outputs too. For gradients.
    pub(super) fn call_all(
        &self,
        op: &str,
        attrs: &Attrs,
        inputs: &[Operand<'_>],
        device: Option<Device>,
        site: &'static Location<'static>,
    ) -> Result<Vec<NdArray>> {
        Ok(self.make(&Asked { op, attrs, with_hidden: true, device, repeats: None, site }, inputs)?.outputs)
    }

    pub(crate) fn make(&self, asked: &Asked<'_>, inputs: &[Operand<'_>]) -> Result<Made> {
        let is_recorded = flags::is_recording() && inputs.iter().any(|i| i.array().is_some_and(is_tracked));
        let mode = Mode { is_train: flags::is_training(), with_hidden: asked.with_hidden || is_recorded };
        let device = device_of(asked.op, inputs)?.or(asked.device).unwrap_or(self.0.options.device);
        let query = Query { op: asked.op, attrs: asked.attrs, inputs, device, mode, inplace: &[] };
        let prepared = match self.cached(&query) {
            Some(prepared) => prepared,
            None => match self.resolve(asked.op, asked.attrs, inputs)? {
                Some(call) => return self.make(&Asked { op: call.op, attrs: &call.attrs, ..*asked }, inputs),
                None => self.prepared(&query)?,
            },
        };
        let name = prepared.call.op.name;
        let outputs = prepared
            .outputs
            .iter()
            .map(|(shape, dtype)| NdArray::empty(self.context(), shape.clone(), *dtype, device, name))
            .collect::<Result<Vec<_>>>()?;
        self.push(&prepared, inputs, &outputs, asked.repeats, asked.site)?;
        if is_recorded {
            self.record(&prepared, inputs, &outputs, asked.site)?;
        }
        Ok(Made { prepared, outputs })
    }

    fn cached(&self, query: &Query<'_>) -> Option<Arc<Prepared>> {
        self.0.cache.lock().get(query.hash(), |key| query.matches(key))
    }

    pub(super) fn prepared(&self, query: &Query<'_>) -> Result<Arc<Prepared>> {
        let hash = query.hash();
        if let Some(prepared) = self.0.cache.lock().get(hash, |key| query.matches(key)) {
            return Ok(prepared);
        }
        let options = self.options_on(query.device).context(|| format!("calling `{}`", query.op))?;
        let prepared = Arc::new(Prepared::new(query, &options).context(|| format!("calling `{}`", query.op))?);
        let evicted = self.0.cache.lock().insert(hash, query.key(), prepared.clone());
        drop(evicted);
        Ok(prepared)
    }

    /// Pushes one run. An array that does not start at a multiple of 64 bytes is copied, because kernels rely on aligned
    /// memory.
    pub(super) fn push(
        &self,
        prepared: &Prepared,
        inputs: &[Operand<'_>],
        outputs: &[NdArray],
        repeats: Option<Option<RandomCalls>>,
        site: &'static Location<'static>,
    ) -> Result<()> {
        let rewrites = prepared.rewrites();
        let op = &prepared.call.op;
        let mut bound = Vec::with_capacity(inputs.len());
        // Rewritten inputs that are not aligned, and the copies that the call rewrites in their place.
        let mut written: Vec<(NdArray, NdArray)> = Vec::new();
        for (position, input) in inputs.iter().enumerate() {
            let argument = || {
                let names = op.input_names(&prepared.call.params);
                format!("{}: input `{}`", op.name, names.get(position).map_or("?", String::as_str))
            };
            let Some(array) = input.array() else {
                if !op.unread_inputs(prepared.is_train).any(|unread| unread == position) {
                    return Err(Error::invalid(argument(), "a tensor whose content was not kept", "an array"));
                }
                bound.push(self.void().clone());
                continue;
            };
            if rewrites.contains(&position) {
                if repeats.is_some() {
                    bound.push(self.copy(array)?);
                    continue;
                }
                if spoils(op, &prepared.call.params, position) {
                    array.count_write(site);
                }
                if !is_aligned(array) {
                    let copy = self.copy(array)?;
                    written.push((array.detach(), copy.clone()));
                    bound.push(copy);
                    continue;
                }
            }
            bound.push(if is_aligned(array) { array.clone() } else { self.copy(array)? });
        }
        if repeats.is_none() {
            self.separate(&mut bound, rewrites).context(|| format!("{}: rewritten inputs", op.name))?;
        }
        let program = &prepared.planned.program;
        let device = program.device;
        let random = match (program.n_random, repeats.flatten()) {
            (0, _) => RandomCalls { seed: 0, first: 0 },
            (_, Some(random)) => random,
            (n, None) => self.context().random().reserve(device, u64::from(n)),
        };
        let vars: Vec<_> = bound.iter().map(|a| a.var().clone()).collect();
        let team = self.0.options.team.clone();
        let n_steps = program.steps.len();
        let space = match arena_bytes(&prepared.planned.plan) {
            0 => None,
            n => Some(self.context().temp_spaces().take(device, n)?),
        };
        let arena = space.as_ref().map(|space| space.block().clone());
        let packed = Arc::new(Packed::new(&prepared.planned, self.context(), device, None)?);
        let memory = Memory::on_one(device, arena, packed);
        let ready = ReadyProgram::over(&prepared.planned, memory, bound, outputs.to_vec(), 0..n_steps, team)
            .recorded_as(RecordAs::Call);
        let writes = space.as_ref().map(TempSpace::var);
        let run = move |task: &RunContext| ready.run(0..n_steps, random, task);
        push(
            (self.context().engine(), device),
            &prepared.segment,
            writes,
            |index| &vars[index],
            |index| outputs[index].var(),
            &[],
            run,
        )?;
        written.iter().try_for_each(|(array, copy)| array.copy_from_array(copy))
    }

    /// Replaces inputs that share memory with a rewritten input by copies, because kernels rely on separate memory.
    ///
    /// # Errors
    /// Returns an error if two rewritten inputs share memory, or memory runs out.
    pub(crate) fn separate(&self, bound: &mut [NdArray], rewrites: &[usize]) -> Result<()> {
        for &rewritten in rewrites {
            for other in 0..bound.len() {
                if other == rewritten || !bound[other].shares_storage(&bound[rewritten]) {
                    continue;
                }
                if rewrites.contains(&other) {
                    let got = format!("inputs {rewritten} and {other} of one storage");
                    return Err(Error::invalid("inputs to rewrite", got, "an array of its own for each"));
                }
                bound[other] = self.copy(&bound[other])?;
            }
        }
        Ok(())
    }

    /// A copy of the array in new memory.
    pub(crate) fn copy(&self, array: &NdArray) -> Result<NdArray> {
        let copy =
            NdArray::empty(self.context(), array.shape().clone(), array.dtype(), array.device(), "copy of a view")?;
        copy.copy_from_array(array)?;
        Ok(copy)
    }

    /// Records the call as a node of the tape that owns the values that the gradient reads.
    pub(super) fn record(
        &self,
        prepared: &Arc<Prepared>,
        inputs: &[Operand<'_>],
        outputs: &[NdArray],
        site: &'static Location<'static>,
    ) -> Result<()> {
        let entries: Vec<_> = inputs.iter().map(|i| i.array().and_then(entry_of)).collect();
        let wants: Vec<bool> = entries.iter().map(Option::is_some).collect();
        // A call that makes a view is recorded as a reshape, whose gradient needs no values. The exception is a view whose
        // gradient reads another input: the gradient of a gate reads the mask.
        let is_view = prepared.call.view(prepared.is_train) != mxrs_op::View::No;
        let passes_on = |reads: Arc<super::probe::Reads>| !reads.inputs.contains(&true);
        let is_copy = match inputs.len() {
            _ if !is_view => false,
            1 => true,
            _ => passes_on(prepared.reads(&wants, &self.0.options.ops)?),
        };
        let how = if is_copy { How::Reshape } else { How::Call(prepared.clone()) };
        let reads = match how {
            How::Call(_) => Some(prepared.reads(&wants, &self.0.options.ops)?),
            _ => None,
        };
        let is_read = |of: fn(&super::probe::Reads) -> &[bool], i: usize| {
            reads.as_ref().is_some_and(|reads| of(reads).get(i).copied().unwrap_or(false))
        };
        let link = |(i, (input, from)): (usize, (&Operand<'_>, _))| Link {
            from,
            desc: Desc { shape: input.shape().clone(), dtype: input.dtype(), device: prepared.planned.program.device },
            saved: input.array().filter(|_| is_read(|r| &r.inputs, i)).map(Saved::new),
        };
        let links = inputs.iter().zip(entries).enumerate().map(link).collect();
        let saved = |(i, array): (usize, &NdArray)| is_read(|r| &r.outputs, i).then(|| Saved::new(array));
        let saved = outputs.iter().enumerate().map(saved).collect();
        let descs = outputs.iter().map(Desc::of).collect();
        let history = History { how, inputs: links, outputs: saved };
        Node::record(prepared.call.op.name, site, descs, history, outputs);
        Ok(())
    }
}

/// Whether the memory of the array starts at a multiple of 64 bytes, as kernels require.
pub(crate) fn is_aligned(array: &NdArray) -> bool {
    array.size_bytes() == 0 || array.as_ptr().addr().is_multiple_of(64)
}

/// The device on which a call runs: that of its arrays, which all have to be there; `None` if there is no array. Arrays in
/// any memory of the host may be mixed. A call with pinned or shared memory first runs on `cpu(0)`.
///
/// # Errors
/// Returns an error that names both devices if two arrays are on different devices.
pub(super) fn device_of(op: &str, inputs: &[Operand<'_>]) -> Result<Option<Device>> {
    let mut arrays = inputs.iter().filter_map(Operand::array);
    let Some(first) = arrays.next().map(NdArray::device) else { return Ok(None) };
    let is_elsewhere = |array: &&NdArray| array.device() != first && !(array.device().is_host() && first.is_host());
    if let Some(other) = arrays.find(is_elsewhere) {
        let expected = format!("{first}, where the first array is; `as_in_context` copies an array there");
        return Err(Error::invalid(format!("{op}: device of an input"), other.device(), expected));
    }
    let is_plain = !first.is_host() || first.kind == DeviceKind::Cpu;
    Ok(Some(if is_plain { first } else { Device::cpu(0) }))
}

pub(super) fn is_tracked(array: &NdArray) -> bool {
    array.recorded().is_some()
}
