//! Options of binding.

use crate::costly::Warned;
use crate::gradients::GradRequests;
use crate::pool::MemoryPool;
use crate::store::PackedStore;
use crate::tune::Tuning;
use indexmap::IndexMap;
use mxrs_graph::PlanOptions;
use mxrs_op::{Backend, OpSet, Pattern};
use mxrs_sync::Team;
use mxrs_types::{DType, Device, Shape};
use std::sync::Arc;

/// Which values a training step computes a second time, so that fewer have to be kept until the gradient needs them.
///
/// No mode changes a value, a gradient, an auxiliary state or a random number. The arena is planned with and without
/// recomputation, and recomputation is used only if it makes the arena smaller. In `Off`, `Light` and `Mirror`, calls
/// annotated with `__force_mirroring__` are recomputed unless they are random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recompute {
    /// Recomputes only calls with the annotation.
    Off,
    /// Frees about a tenth of the arena by recomputations that take only one pass over memory. Recomputed are outputs that
    /// their operator can [recompute](mxrs_op::OpDef::recompute) from tensors that are kept anyway, such as the outputs of
    /// ReLUs after batch normalization.
    #[default]
    Light,
    /// Recomputes cheap calls (`MXNET_BACKWARD_DO_MIRROR`): all except random and [costly](mxrs_op::OpDef::is_costly)
    /// operators.
    Mirror,
    /// Splits a graph of n calls into about √n segments and recomputes each when its gradient is due. Costs at most one
    /// additional forward run.
    Sqrt,
    /// Splits the chain that the graph forms into segments, chosen for the least memory by dynamic programming.
    Chain,
    /// Recomputes as little as possible so that the arena has at most this many bytes. The arena holds activations,
    /// intermediate gradients and workspaces of a training step, but not parameters and their gradients, inputs or outputs.
    /// If the budget cannot be met, binding fails with an error that gives the smallest budget that can.
    Budget(usize),
}

/// The options for binding a graph.
#[derive(Clone)]
pub struct BindOptions {
    /// The device of all arrays and of all work of the graph, except for what [`Self::groups`] places elsewhere; `cpu(0)` by
    /// default.
    pub device: Device,
    /// Devices of groups of nodes (MXNet's `group2ctx`), by the name that nodes have as their attribute `ctx_group`. The
    /// arrays and the work of a group are on its device, and tensors are copied where they cross devices. If the map is
    /// empty, which is the default, groups are ignored. See [`mxrs_graph::place`] for nodes without a group. Graphs as
    /// functions ([`CachedOp`](crate::CachedOp)) ignore groups.
    pub groups: IndexMap<String, Device>,
    /// Backends that may run operators. A call uses those that [run on](Backend::runs_on) its device. The offer with the
    /// fewest estimated seconds is chosen, unless [`Self::tuning`] has a timed result.
    pub backends: Vec<Arc<dyn Backend>>,
    /// Which kernels were fastest in timings, and whether to time more calls. By default estimates decide. A timing on one
    /// kind of device is not used for another. Calls on a device whose memory the host cannot access are timed only if the
    /// search [has such memory](crate::Search::on_devices).
    pub tuning: Tuning,
    /// Threads for loops inside operators.
    pub team: Arc<Team>,
    /// Memory planner switches.
    pub plan: PlanOptions,
    /// Whether inference pushes the whole graph as one task (`MXNET_EXEC_BULK_EXEC_INFERENCE`). If false, each operator is
    /// a task.
    pub bulk_inference: bool,
    /// The most operators that one task of the forward half of training runs (`MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD`);
    /// one if `MXNET_EXEC_BULK_EXEC_TRAIN` is 0.
    pub bulk_train_forward: usize,
    /// The most operators that one task of the gradient runs (`MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD`).
    pub bulk_train_backward: usize,
    /// Gradients to compute. `None` binds without gradients: for inference, or training runs without `backward`.
    pub gradients: Option<GradRequests>,
    /// If a gradient has at least this many terms, the terms are added one after another; fewer terms are added by one
    /// operator (`MXNET_EXEC_INPLACE_GRAD_SUM_CAP`).
    pub grad_sum_cap: usize,
    /// Which activations the gradient recomputes instead of keeping them.
    pub recompute: Recompute,
    /// Whether equal operators with equal inputs are computed once (`MXNET_ELIMINATE_COMMON_EXPR`). Outputs keep their
    /// names and bits; gradients of values that were computed twice are summed in another order. Without `_copy` among
    /// [`Self::ops`] nothing is merged.
    pub eliminate_common: bool,
    /// Whether several pointwise calls become one call (`MXNET_USE_FUSION`). Calls are fused only if a backend other than
    /// the reference runs the fused call, the number of kernels falls and the arena does not grow. On one backend, fusion
    /// changes no bit of the results.
    pub fuse: bool,
    /// Whether to log which calls were fused and how long that took (`MXNET_RTC_VERBOSE`).
    pub fuse_verbose: bool,
    /// Patterns of calls that one call replaces at inference (`MXNET_SUBGRAPH_BACKEND`) if a backend has a kernel for it.
    /// Empty by default. Outputs keep their names, and their values within rounding.
    pub patterns: Arc<[Pattern]>,
    /// The backend that alone decides whether a chain that matches [`Self::patterns`] is replaced. If `None`, every backend
    /// may decide.
    pub pattern_backend: Option<&'static str>,
    /// How much partitioning logs (`MXNET_SUBGRAPH_VERBOSE`): 0 nothing, 1 the number of chains that were not replaced, 2
    /// every chain.
    pub pattern_verbosity: u8,
    /// The number of weights that one call of an aggregating optimizer updates (`MXNET_OPTIMIZER_AGGREGATION_SIZE`). Code
    /// that makes an optimizer by name for the bound graph reads it.
    pub optimizer_aggregation: usize,
    /// Whether products of bfloat16 compute in bfloat16 at inference, if kernels exist. If false, they are widened, as
    /// products of float16 are. It should be false on processors on which products of bfloat16 are slower than products of
    /// float32.
    pub half_products: bool,
    /// Names of optional graph passes to leave out; none by default. For tests, and to find the pass that causes a
    /// difference.
    pub without_passes: Vec<String>,
    /// Whether [`DryGraph::passes`](crate::DryGraph::passes) includes the graph after each pass and the figures of its
    /// program. Makes binding take several times as long.
    pub trace_passes: bool,
    /// Operators about whose slow kernels a warning was already logged. Graphs that are bound with the same value log one
    /// warning per operator.
    pub warned: Arc<Warned>,
    /// The operators that gradients and [`Self::patterns`] may use.
    pub ops: OpSet,
    /// Mixed precision, as in MXNet's AMP: the 16-bit type in which products and other suitable calls compute. Parameters,
    /// their gradients, inputs and outputs stay in float32. If no kernels exist for products of that type, the inputs of a
    /// product are rounded to the type and the product is computed in float32. `None` by default.
    pub autocast: Option<DType>,
    /// Element type of variables whose type is neither given nor inferred.
    pub default_dtype: DType,
    /// Element types given for variables, by name.
    pub dtypes: Vec<(String, DType)>,
    /// Shapes of variables, by name. They are needed for parameters whose shape does not follow from the inputs, such as the
    /// ranges of quantized channels.
    pub shapes: Vec<(String, Shape)>,
    /// The memory to share with other executors, or `None` for a separate pool.
    pub pool: Option<MemoryPool>,
    /// The packed constants to share with other executors, or `None` for a separate store.
    pub packed: Option<PackedStore>,
}

impl BindOptions {
    /// Options with these backends, one thread, and the documented defaults.
    pub fn new(backends: Vec<Arc<dyn Backend>>) -> Self {
        Self {
            device: Device::cpu(0),
            groups: IndexMap::new(),
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

    /// These options, with the nodes of `group` on `device`, as an entry of MXNet's `group2ctx`.
    #[must_use]
    pub fn with_group(mut self, group: impl Into<String>, device: Device) -> Self {
        self.groups.insert(group.into(), device);
        self
    }

    /// The devices that the graph may use: the default device first, then those of groups, each once.
    pub(crate) fn devices(&self) -> Vec<Device> {
        let mut devices = vec![self.device];
        for device in self.groups.values() {
            if !devices.contains(device) {
                devices.push(*device);
            }
        }
        devices
    }

    /// The most operators that inference pushes as one task.
    pub(crate) fn inference_limit(&self) -> usize {
        if self.bulk_inference { usize::MAX } else { 1 }
    }
}
