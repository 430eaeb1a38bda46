//! Options of binding.

use crate::costly::Warned;
use crate::gradients::GradRequests;
use crate::pool::MemoryPool;
use crate::store::PackedStore;
use crate::tune::Tuning;
use mxrs_graph::PlanOptions;
use mxrs_op::{Backend, OpSet, Pattern};
use mxrs_sync::Team;
use mxrs_types::{DType, Shape};
use std::sync::Arc;

/// What a training step computes a second time, so that less has to be kept until the gradient needs it.
///
/// No mode changes a value, a gradient, an auxiliary state or a random number. The arena is planned with and without
/// recomputation, and recomputation is used only if it makes the arena smaller. In `Off`, `Light` and `Mirror`, calls annotated
/// with `__force_mirroring__` are recomputed unless they are random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recompute {
    /// Recomputes only annotated calls.
    Off,
    /// A tenth of the arena, where that takes one pass over memory: what operators make
    /// [again](mxrs_op::OpDef::again) from tensors that are kept anyway, relus behind batch normalization.
    #[default]
    Light,
    /// Recomputes cheap calls (`MXNET_BACKWARD_DO_MIRROR`): all except random and [costly](mxrs_op::OpDef::is_costly) operators.
    Mirror,
    /// Segments of the graph, about as many as the root of its length: one more forward run at most.
    Sqrt,
    /// Segments chosen by dynamic programming for the least memory, on the chain that the graph is.
    Chain,
    /// As little as possible for an arena of at most this many bytes: activations, gradients on the way and workspaces
    /// of a step, without parameters and their gradients, inputs and outputs. Binding fails where that cannot be reached,
    /// and says what can.
    Budget(usize),
}

/// The choices of a caller who binds a graph.
#[derive(Clone)]
pub struct BindOptions {
    /// Backends that may run operators. The offer of the fewest seconds wins, unless [`Self::tuning`] knows better.
    pub backends: Vec<Arc<dyn Backend>>,
    /// Which kernels were found to be fastest by timing, and whether to look for more; by default estimates decide.
    pub tuning: Tuning,
    /// Threads for loops inside operators.
    pub team: Arc<Team>,
    /// Memory planner switches.
    pub plan: PlanOptions,
    /// Push the whole graph as one task (`MXNET_EXEC_BULK_EXEC_INFERENCE`); one task per operator otherwise.
    pub bulk_inference: bool,
    /// Most operators pushed as one task in the forward half of training (`MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD`); one
    /// where `MXNET_EXEC_BULK_EXEC_TRAIN` is 0.
    pub bulk_train_forward: usize,
    /// The same for the backward half (`MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD`).
    pub bulk_train_backward: usize,
    /// Gradients to compute; `None` binds for inference (and training runs without gradients).
    pub gradients: Option<GradRequests>,
    /// Gradients that one sum adds up (`MXNET_EXEC_INPLACE_GRAD_SUM_CAP`); from that many on they are added one by one.
    pub grad_sum_cap: usize,
    /// Which activations the gradient recomputes instead of keeping them.
    pub recompute: Recompute,
    /// Computes equal operators with equal inputs once (`MXNET_ELIMINATE_COMMON_EXPR`). Outputs keep their names and bits;
    /// gradients of values that were computed twice are summed in another order. Without `_copy` among [`Self::ops`]
    /// nothing is merged.
    pub eliminate_common: bool,
    /// Makes one call of several pointwise ones (`MXNET_USE_FUSION`), where a backend other than the reference runs it, the
    /// kernels become fewer and the arena no larger. On one backend it changes no bit.
    pub fuse: bool,
    /// Logs what was fused and how long it took (`MXNET_RTC_VERBOSE`).
    pub fuse_verbose: bool,
    /// Chains of calls that one call replaces at inference (`MXNET_SUBGRAPH_BACKEND`), where a backend has a kernel for it;
    /// none by default. Outputs keep their names, and their values within rounding.
    pub patterns: Arc<[Pattern]>,
    /// The backend that decides alone which of these chains are replaced; `None` lets every backend decide.
    pub pattern_backend: Option<&'static str>,
    /// How much is logged of it (`MXNET_SUBGRAPH_VERBOSE`): 0 nothing, 1 that chains were left as they are, 2 every chain.
    pub pattern_verbosity: u8,
    /// Weights that one call of an aggregating optimizer updates (`MXNET_OPTIMIZER_AGGREGATION_SIZE`), where what is bound is
    /// asked for an optimizer by name.
    pub optimizer_aggregation: usize,
    /// Whether products of bfloat16 compute in bfloat16 at inference, if kernels exist. If false, they are widened, as products
    /// of float16 are. Set it to false on processors whose bfloat16 products are slower than those of float32.
    pub half_products: bool,
    /// Names of optional graph passes to leave out; none by default. For tests, and to find the pass behind a difference.
    pub without_passes: Vec<String>,
    /// Whether [`DryGraph::passes`](crate::DryGraph::passes) has the graph after each pass and what it would run as. Binding
    /// takes several times as long.
    pub trace_passes: bool,
    /// Operators that the log has called slow. Graphs bound with the same value name each operator once.
    pub warned: Arc<Warned>,
    /// Operators that gradients and [`Self::patterns`] are made of.
    pub ops: OpSet,
    /// Mixed precision: calls that are worth it compute in this 16-bit type, as MXNet's AMP has it; parameters, gradients
    /// of parameters, inputs and outputs stay in float32. Where products of that type have no kernels, their inputs are rounded
    /// to it and float32 computes. None by default.
    pub autocast: Option<DType>,
    /// Element type of variables that nothing else determines.
    pub default_dtype: DType,
    /// Element types given for variables, by name.
    pub dtypes: Vec<(String, DType)>,
    /// Shapes given for variables, by name, for parameters whose shape does not follow from the inputs: ranges per channel,
    /// say.
    pub shapes: Vec<(String, Shape)>,
    /// The memory to share with other executors, or `None` for a separate pool.
    pub pool: Option<MemoryPool>,
    /// The packed constants to share with other executors, or `None` for a separate store.
    pub packed: Option<PackedStore>,
}

impl BindOptions {
    /// These backends, one thread, documented defaults.
    pub fn new(backends: Vec<Arc<dyn Backend>>) -> Self {
        Self {
            backends,
            tuning: Tuning::default(),
            team: Team::serial(),
            plan: PlanOptions::default(),
            bulk_inference: true,
            bulk_train_forward: 15,
            bulk_train_backward: 15,
            gradients: None,
            grad_sum_cap: 8,
            recompute: Recompute::default(),
            eliminate_common: true,
            patterns: Arc::new([]),
            pattern_backend: None,
            pattern_verbosity: 1,
            fuse: true,
            fuse_verbose: false,
            optimizer_aggregation: 4,
            half_products: true,
            without_passes: Vec::new(),
            trace_passes: false,
            warned: Arc::default(),
            ops: OpSet::default(),
            autocast: None,
            default_dtype: DType::F32,
            dtypes: Vec::new(),
            shapes: Vec::new(),
            pool: None,
            packed: None,
        }
    }

    /// The most operators that inference pushes as one task.
    pub(crate) fn inference_limit(&self) -> usize {
        if self.bulk_inference { usize::MAX } else { 1 }
    }
}
