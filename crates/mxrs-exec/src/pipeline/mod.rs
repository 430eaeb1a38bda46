//! The order in which a graph is bound: [`PASSES`] lists every pass, and `driver.rs` runs them.
//!
//! 1. Passes before `infer` see the graph as the caller gave it; their result decides which arrays are bound. Only the first
//!    one, `control-flow`, infers shapes: the sizes of inputs say how many steps a loop has.
//! 2. Graph passes from `infer` to `lower` see shapes and types. `lower` makes the program.
//! 3. Program passes after `lower` see steps and values. The last one plans the memory.
//!
//! If a pass fails, binding falls back. A failed optional pass is logged and skipped. If a needed pass or lowering fails,
//! the last optional pass that changed the graph or the program is undone, and binding resumes after that pass, without it.
//! Thus passes are undone from the last to the first. If no optional pass is left to undo, the error is returned.

mod driver;
mod report;
mod state;

pub use driver::{Lowered, lower_graph, plan_program, prepare_graph};
pub use report::{Outcome, PassReport};
pub use state::{Context, ForwardGraph, GraphState, LoweredGraph, Typed, Wanted};

use crate::graph_passes::{autocast, call_pairs, eliminate, fuse, gradient, partition, place, recompute, widen};
use crate::options::{BindOptions, Recompute};
use crate::program_passes::{ProgramState, add_in_place, concat_in_place, fuse_add, pack};
use mxrs_graph::{Graph, PlanOptions};
use mxrs_types::Result;

/// One step of binding.
pub struct Pass {
    /// The name by which [`BindOptions::without_passes`] and `mxrs plan` know the pass.
    pub name: &'static str,
    /// The setting that switches the pass, or what the pass does if there is no such setting.
    pub switch: &'static str,
    need: Need,
    run: Run,
}

/// Whether binding needs a pass.
enum Need {
    /// Binding may resume without the pass.
    Optional,
    /// Nothing can be bound without the pass.
    Needed,
    /// The pass is needed if this function returns true: the options then request the effect of the pass, so a result
    /// without it would be wrong.
    NeededIf(fn(&BindOptions) -> bool),
}

enum Run {
    /// Replaces control flow by copies of its subgraphs.
    ControlFlow,
    /// Rewrites the graph before shapes are known.
    Symbol(SymbolPass),
    /// Infers shapes and types.
    Infer,
    /// Rewrites the graph with shapes and types.
    Graph(GraphPass),
    /// Chooses kernels and layouts and folds constants.
    Lower,
    /// Rewrites the program, or orders its prepare steps and plans their memory.
    Program(ProgramPass),
    /// Plans the memory of a run.
    PlanMemory,
}

type SymbolPass = fn(&Graph, &BindOptions) -> Result<Option<Graph>>;
type GraphPass = fn(&GraphState, &Context<'_>) -> Result<Option<GraphState>>;
type ProgramPass = fn(&ProgramState, &PlanOptions) -> Result<Option<ProgramState>>;

/// Every pass of binding, in order.
pub const PASSES: &[Pass] = &[
    needed("control-flow", "always: loops and branches", Run::ControlFlow),
    optional("autocast", "BindOptions::autocast", Run::Symbol(autocast::autocast))
        .needed_if(|options| options.autocast.is_some()),
    optional("eliminate-common", "MXNET_ELIMINATE_COMMON_EXPR", Run::Symbol(eliminate::forward)),
    needed("place", "BindOptions::groups", Run::Symbol(place::place)),
    needed("infer", "always: shapes and types", Run::Infer),
    optional("widen", "BindOptions::half_products", Run::Graph(widen::run)),
    needed("gradient", "BindOptions::gradients", Run::Graph(gradient::run)),
    optional("eliminate-common-gradient", "MXNET_ELIMINATE_COMMON_EXPR", Run::Graph(eliminate::training)),
    optional("wide-sums", "BindOptions::autocast", Run::Graph(autocast::wide_sums)),
    needed("place-copies", "BindOptions::groups", Run::Graph(place::copies)),
    optional("call-pairs", "MXNET_USE_FUSION", Run::Graph(call_pairs::run)),
    optional("recompute", "MXRS_REMAT", Run::Graph(recompute::run))
        .needed_if(|options| matches!(options.recompute, Recompute::Budget(_))),
    optional("partition", "MXNET_SUBGRAPH_BACKEND", Run::Graph(partition::run)),
    optional("fuse", "MXNET_USE_FUSION", Run::Graph(fuse::run)),
    needed("lower", "always: kernels, layouts, constants", Run::Lower),
    optional("fuse-add", "MXNET_EXEC_ENABLE_INPLACE", Run::Program(fuse_add::run)),
    optional("concat-in-place", "MXNET_EXEC_ENABLE_INPLACE", Run::Program(concat_in_place::run)),
    optional("add-in-place", "MXNET_EXEC_ENABLE_INPLACE", Run::Program(add_in_place::run)),
    needed("pack", "always: memory of constants", Run::Program(pack::run)),
    needed("plan-memory", "always: memory of a run (MXRS_PLAN)", Run::PlanMemory),
];

const fn optional(name: &'static str, switch: &'static str, run: Run) -> Pass {
    Pass { name, switch, need: Need::Optional, run }
}

const fn needed(name: &'static str, switch: &'static str, run: Run) -> Pass {
    Pass { name, switch, need: Need::Needed, run }
}

impl Pass {
    const fn needed_if(self, is_needed: fn(&BindOptions) -> bool) -> Self {
        Self { need: Need::NeededIf(is_needed), ..self }
    }

    /// Whether binding may resume without the pass.
    pub fn is_optional(&self, options: &BindOptions) -> bool {
        match self.need {
            Need::Optional => true,
            Need::Needed => false,
            Need::NeededIf(is_needed) => !is_needed(options),
        }
    }

    fn is_off(&self, options: &BindOptions) -> bool {
        options.without_passes.iter().any(|name| name == self.name)
    }
}

/// The names of all passes, in order.
pub fn pass_names() -> impl Iterator<Item = &'static str> {
    PASSES.iter().map(|pass| pass.name)
}

/// The names of the passes that [`BindOptions::without_passes`] may leave out, in order.
pub fn optional_pass_names(options: &BindOptions) -> impl Iterator<Item = &'static str> {
    PASSES.iter().filter(|pass| pass.is_optional(options)).map(|pass| pass.name)
}
