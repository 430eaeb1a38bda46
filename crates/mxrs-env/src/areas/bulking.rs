//! Bulks: consecutive operators that are pushed to the engine as one task.

use crate::settings;

settings! {
    /// Bulks: consecutive operators that are pushed to the engine as one task.
    pub struct BulkSettings in Bulking {
        /// Pushes the whole graph as one bulk at inference; 0: each operator alone.
        inference: bool = 1, "MXNET_EXEC_BULK_EXEC_INFERENCE" [D30 Owner Core];
        /// Pushes forward and backward in bulks in training; 0: each operator alone.
        train: bool = 1, "MXNET_EXEC_BULK_EXEC_TRAIN" [D31 Owner Core];
        /// The most operators of one bulk in training; 0 and 1 both mean one.
        max_nodes: usize = 15, "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN" [D32 FirstUse Core];
        /// The most operators of one bulk in the forward pass of training. Operators called one by one are not bulked in
        /// the forward pass, but in their backward pass (`MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD`).
        max_nodes_forward: Option<usize> = unset("the value of MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN"),
            "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD" [D33 FirstUse Core];
        /// The most operators of one bulk in the backward pass.
        max_nodes_backward: Option<usize> = unset("the value of MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN"),
            "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD" [D34 FirstUse Core];
    }
}

impl BulkSettings {
    /// The most operators of one bulk in the forward pass of training, at least 1.
    pub fn forward_limit(&self) -> usize {
        self.max_nodes_forward.unwrap_or(self.max_nodes).max(1)
    }

    /// The most operators of one bulk in the backward pass, at least 1.
    pub fn backward_limit(&self) -> usize {
        self.max_nodes_backward.unwrap_or(self.max_nodes).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_limits_follow_the_common_one() {
        let mut bulk = BulkSettings::default();
        assert_eq!((bulk.forward_limit(), bulk.backward_limit()), (15, 15));
        bulk.max_nodes = 0;
        bulk.max_nodes_backward = Some(7);
        assert_eq!((bulk.forward_limit(), bulk.backward_limit()), (1, 7));
    }
}
