//! Looking at what flows through a bound graph.

use crate::executor::Executor;
use mxrs_ndarray::NdArray;
use std::sync::Arc;

/// One tensor that a monitor is told of.
#[derive(Clone, Copy, Debug)]
pub struct Monitored<'a> {
    /// `fc1_output` of node `fc1`; `fc1_weight` for what it reads.
    pub name: &'a str,
    /// The node's operator.
    pub op: &'a str,
    /// Whether the node reads it.
    pub is_input: bool,
    /// A copy of it: it stays as it is, and writing to it changes nothing else. It is there as soon as the node has run;
    /// reading it waits for that, and fails as the node failed.
    pub array: &'a NdArray,
}

/// What is called for each tensor.
#[derive(Clone)]
pub struct Monitor {
    pub callback: Arc<dyn Fn(&Monitored<'_>) + Send + Sync>,
    pub with_inputs: bool,
}

impl Executor {
    /// Calls `callback` for every visible output of every node that runs from now on, with `monitor_all` for its inputs
    /// too, before its outputs. It is called on the thread that runs the executor, in the order in which nodes are pushed,
    /// which then are one task each. A weight that its kernel keeps packed in a layout of its own is not shown. Nodes that were merged into one show what the merged one makes; outputs that nobody
    /// reads are not computed, and not shown.
    ///
    /// A callback must not run an executor of the same pool: the run that it interrupts fails.
    pub fn set_monitor(&self, callback: impl Fn(&Monitored<'_>) + Send + Sync + 'static, monitor_all: bool) {
        let monitor = Monitor { callback: Arc::new(callback), with_inputs: monitor_all };
        let replaced = self.monitor.lock().replace(monitor);
        drop(replaced);
    }

    /// Runs without a monitor again, in as few tasks as before.
    pub fn remove_monitor(&self) {
        let removed = self.monitor.lock().take();
        drop(removed);
    }

    pub(crate) fn monitor(&self) -> Option<Monitor> {
        self.monitor.lock().clone()
    }
}
