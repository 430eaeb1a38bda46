//! Tests `MXNET_ONEDNN_CACHE_NUM` (row D75 of `docs/env.md`): calls with ten input shapes, with a cache of at most three
//! entries, with an unbounded cache, and with no cache.

use mxrs_backend_onednn::{OneDnn, OneDnnConfig};
use mxrs_op::{Attrs, Backend, OpCall, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::DType;

/// Plans the same activation for ten shapes, twice. Returns the number of primitives created after each round, and the
/// number of entries in the cache.
fn two_rounds(cache_entries: Option<usize>) -> (u64, u64, usize) {
    let backend = OneDnn::new(OneDnnConfig { team: Team::serial(), cache_entries, row_major_weights: false })
        .expect("oneDNN is built in");
    let ops = mxrs_ops::catalog();
    let op = ops.get("Activation").expect("it is in the catalog");
    let params = op.parse(&Attrs::from([("act_type", "tanh")])).expect("the attributes are right");
    let round = || {
        for rows in 1..=10 {
            let desc = [TensorDesc::dense([rows, 16], DType::F32)];
            let call =
                OpCall { op, params: &params, inputs: &desc, outputs: &desc, is_constant: &[false], is_train: false };
            backend.plan(&call).expect("oneDNN has a tanh");
        }
        backend.cache_counters().creations
    };
    (round(), round(), backend.cache_counters().largest)
}

#[test]
fn a_bound_is_kept_and_the_oldest_leave() {
    let (first, second, kept) = two_rounds(Some(3));
    assert_eq!((first, second, kept), (10, 20, 3));
}

#[test]
fn unbounded_keeps_all_and_zero_keeps_none() {
    assert_eq!(two_rounds(None), (10, 10, 10));
    assert_eq!(two_rounds(Some(0)), (10, 20, 0));
}
