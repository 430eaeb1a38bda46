//! Monitors: callbacks that get the tensors of a bound graph while it runs.

use crate::executor::Executor;
use mxrs_ndarray::NdArray;
use std::sync::Arc;

/// One tensor that a monitor gets.
#[derive(Clone, Copy, Debug)]
pub struct Monitored<'a> {
    /// Name of the tensor: `fc1_output` for an output of node `fc1`, `fc1_weight` for one of its inputs.
    pub name: &'a str,
    /// Operator of the node.
    pub op: &'a str,
    /// Whether the tensor is an input of the node; an output otherwise.
    pub is_input: bool,
    /// A copy of the tensor. Later runs do not change it, and writing to it changes nothing else. Reading it waits until
    /// the node has run, and returns the node's error if the node failed.
    pub array: &'a NdArray,
}

/// The callback, and which tensors it gets.
#[derive(Clone)]
pub struct Monitor {
    pub callback: Arc<dyn Fn(&Monitored<'_>) + Send + Sync>,
    pub with_inputs: bool,
}

impl Executor {
    /// Calls `callback` for every visible output of every node that runs from now on. With `monitor_all`, `callback` is
    /// also called for the inputs of each node, before the outputs. The calls are made on the thread that runs the
    /// executor, in the order in which nodes are pushed. While a monitor is set, each node is one task.
    ///
    /// Weights that a kernel keeps packed in another layout are not shown. If a call replaces several nodes, the outputs of
    /// this call are shown. Outputs that no step reads are not computed, and not shown.
    ///
    /// The callback must not run an executor of the same pool. If it does, the monitored run fails.
    pub fn set_monitor(&self, callback: impl Fn(&Monitored<'_>) + Send + Sync + 'static, monitor_all: bool) {
        let monitor = Monitor { callback: Arc::new(callback), with_inputs: monitor_all };
        let replaced = self.monitor.lock().replace(monitor);
        drop(replaced);
    }

    /// Removes the monitor. Nodes are bulked into tasks as before it was set.
    pub fn remove_monitor(&self) {
        let removed = self.monitor.lock().take();
        drop(removed);
    }

    pub(crate) fn monitor(&self) -> Option<Monitor> {
        self.monitor.lock().clone()
    }
}
