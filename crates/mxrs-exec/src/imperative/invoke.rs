//! Calls of single operators. Each signature is prepared once; each call pushes one task.

use super::flags;
use super::lru::Lru;
use super::prepared::{Prepared, spoils};
use super::signature::{Key, Mode, Operand, Query};
use super::tape::{Desc, History, How, Link, Node, Saved, entry_of};
use crate::options::BindOptions;
use crate::program_passes::plan_memory::arena_bytes;
use crate::ready::ReadyProgram;
use crate::segment::push;
use mxrs_ndarray::{ArrayContext, NdArray, RandomCalls, TempSpace};
use mxrs_op::Attrs;
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{DType, Device, Error, Result, ResultExt};
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
        let void = NdArray::zeros(context, [0], DType::F32)?;
        Ok(Self(Arc::new(Inner { context: context.clone(), options: options.clone(), own, cache, void })))
    }

    /// Engine, storage and random numbers of the arrays.
    pub fn context(&self) -> &ArrayContext {
        &self.0.context
    }

    /// Backends, team and operators.
    pub fn options(&self) -> &BindOptions {
        &self.0.options
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
        let operands: Vec<Operand<'_>> = inputs.iter().map(|array| Operand::Array(array)).collect();
        let asked = Asked { op, attrs, with_hidden: false, repeats: None, site: Location::caller() };
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
        site: &'static Location<'static>,
    ) -> Result<Vec<NdArray>> {
        Ok(self.make(&Asked { op, attrs, with_hidden: true, repeats: None, site }, inputs)?.outputs)
    }

    pub(crate) fn make(&self, asked: &Asked<'_>, inputs: &[Operand<'_>]) -> Result<Made> {
        let is_recorded = flags::is_recording() && inputs.iter().any(|i| i.array().is_some_and(is_tracked));
        let mode = Mode { is_train: flags::is_training(), with_hidden: asked.with_hidden || is_recorded };
        let query = Query { op: asked.op, attrs: asked.attrs, inputs, mode, inplace: &[] };
        let prepared = self.prepared(&query)?;
        let name = prepared.call.op.name;
        let outputs = prepared
            .outputs
            .iter()
            .map(|(shape, dtype)| NdArray::empty(self.context(), shape.clone(), *dtype, Device::cpu(0), name))
            .collect::<Result<Vec<_>>>()?;
        self.push(&prepared, inputs, &outputs, asked.repeats, asked.site)?;
        if is_recorded {
            self.record(&prepared, inputs, &outputs, asked.site)?;
        }
        Ok(Made { prepared, outputs })
    }

    pub(super) fn prepared(&self, query: &Query<'_>) -> Result<Arc<Prepared>> {
        let hash = query.hash();
        if let Some(prepared) = self.0.cache.lock().get(hash, |key| query.matches(key)) {
            return Ok(prepared);
        }
        let options = &self.0.options;
        let prepared = Arc::new(Prepared::new(query, options).context(|| format!("calling `{}`", query.op))?);
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
            if !array.device().is_host() {
                return Err(Error::not_built(argument(), format!("it is on {}, copy it to cpu(0)", array.device())));
            }
            if rewrites.contains(&position) {
                if repeats.is_some() {
                    bound.push(self.copy(array)?);
                    continue;
                }
                if spoils(op, &prepared.call.params, position) {
                    array.count_write(site);
                }
                if !is_aligned(array) {
                    return Err(Error::invalid(argument(), "a view that starts off a vector", "an array of its own"));
                }
            }
            bound.push(if is_aligned(array) { array.clone() } else { self.copy(array)? });
        }
        if repeats.is_none() {
            self.separate(&mut bound, rewrites).context(|| format!("{}: rewritten inputs", op.name))?;
        }
        let program = &prepared.planned.program;
        let random = match (program.n_random, repeats.flatten()) {
            (0, _) => RandomCalls { seed: 0, first: 0 },
            (_, Some(random)) => random,
            (n, None) => self.context().random().reserve(Device::cpu(0), u64::from(n)),
        };
        let vars: Vec<_> = bound.iter().map(|a| a.var().clone()).collect();
        let team = self.0.options.team.clone();
        let n_steps = program.steps.len();
        let space = match arena_bytes(&prepared.planned.plan) {
            0 => None,
            n => Some(self.context().temp_spaces().take(Device::cpu(0), n)?),
        };
        let arena = space.as_ref().map(|space| space.block().clone());
        let ready = ReadyProgram::in_arena(&prepared.planned, self.context(), arena, bound, outputs.to_vec(), team)?;
        let writes = space.as_ref().map(TempSpace::var);
        let run = move || ready.run(0..n_steps, random);
        push(
            self.context().engine(),
            &prepared.segment,
            writes,
            |index| &vars[index],
            |index| outputs[index].var(),
            run,
        )
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
        let how = match prepared.call.view(prepared.is_train) {
            mxrs_op::View::No => How::Call(prepared.clone()),
            _ => How::Reshape,
        };
        let reads = match how {
            How::Call(_) => Some(prepared.reads(&wants, &self.0.options.ops)?),
            _ => None,
        };
        let is_read = |of: fn(&super::probe::Reads) -> &[bool], i: usize| {
            reads.as_ref().is_some_and(|reads| of(reads).get(i).copied().unwrap_or(false))
        };
        let link = |(i, (input, from)): (usize, (&Operand<'_>, _))| Link {
            from,
            desc: Desc { shape: input.shape().clone(), dtype: input.dtype() },
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

pub(super) fn is_tracked(array: &NdArray) -> bool {
    array.recorded().is_some()
}
