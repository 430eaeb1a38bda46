//! How to bind.

use mxrs_graph::PlanOptions;
use mxrs_op::Backend;
use mxrs_sync::Team;
use mxrs_types::DType;
use std::sync::Arc;

/// Choices a caller has when binding a graph.
#[derive(Clone)]
pub struct BindOptions {
    /// Backends that may run operators; the cheapest that supports a call wins.
    pub backends: Vec<Arc<dyn Backend>>,
    /// Threads for loops inside operators.
    pub team: Arc<Team>,
    /// Memory planner switches.
    pub plan: PlanOptions,
    /// Push the whole graph as one task (`MXNET_EXEC_BULK_EXEC_INFERENCE`); one task per operator otherwise.
    pub bulk_inference: bool,
    /// Element type of variables that nothing else determines.
    pub default_dtype: DType,
    /// Element types given for variables, by name.
    pub dtypes: Vec<(String, DType)>,
}

impl BindOptions {
    /// These backends, one thread, documented defaults.
    pub fn new(backends: Vec<Arc<dyn Backend>>) -> Self {
        Self {
            backends,
            team: Team::serial(),
            plan: PlanOptions::default(),
            bulk_inference: true,
            default_dtype: DType::F32,
            dtypes: Vec::new(),
        }
    }
}
