//! How to bind.

use crate::gradients::GradRequests;
use mxrs_graph::PlanOptions;
use mxrs_op::{Backend, OpSet};
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
    /// Most operators pushed as one task in the forward half of training (`MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD`); one
    /// where `MXNET_EXEC_BULK_EXEC_TRAIN` is 0.
    pub bulk_train_forward: usize,
    /// The same for the backward half (`MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD`).
    pub bulk_train_backward: usize,
    /// Gradients to compute; `None` binds for inference (and training runs without gradients).
    pub gradients: Option<GradRequests>,
    /// Gradients that one sum adds up (`MXNET_EXEC_INPLACE_GRAD_SUM_CAP`); from that many on they are added one by one.
    pub grad_sum_cap: usize,
    /// Operators that gradients are made of.
    pub ops: OpSet,
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
            bulk_train_forward: 15,
            bulk_train_backward: 15,
            gradients: None,
            grad_sum_cap: 8,
            ops: OpSet::default(),
            default_dtype: DType::F32,
            dtypes: Vec::new(),
        }
    }
}
