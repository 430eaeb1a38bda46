//! Rows D74, D75, D76 and M28 of `docs/env.md`, with the older names O9 to O11: the oneDNN backend.

/// The next four constants are names of variables. [`crate::coverage`] searches for them in this file, also in builds without
/// oneDNN.
const ENABLED: &str = "MXNET_ONEDNN_ENABLED";
const CACHE: &str = "MXNET_ONEDNN_CACHE_NUM";
const LIBRARY: &str = "MXRS_ONEDNN_LIB";
#[cfg_attr(not(any(feature = "onednn", feature = "onednn-dynamic")), allow(dead_code))]
const ROW_MAJOR: [&str; 2] = ["MXNET_ONEDNN_FORCE_FC_AB_FORMAT", "MXNET_MKLDNN_FORCE_FC_AB_FORMAT"];

#[cfg(any(feature = "onednn", feature = "onednn-dynamic"))]
mod with_onednn {
    use super::{CACHE, ENABLED, ROW_MAJOR};
    use crate::graphs::{Calls, bind};
    use crate::{Vars, builder, check_older_name, warnings};
    use mxrs::Model;
    use mxrs::graph::Symbol;
    use mxrs::op::{Attrs, Kernel, OpCall, TensorDesc};
    use mxrs::types::{DType, Shape};
    use std::sync::Arc;

    /// Backends of LeNet's convolutions, and the network's outputs for two images.
    fn lenet(vars: Vars<'_>) -> (Vec<&'static str>, Vec<f32>) {
        let runtime = builder(vars).build().unwrap();
        let prefix = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/digits/lenet");
        let model = Model::load(&runtime, prefix, 10).unwrap();
        let bound = model.bind(&[("data", Shape::from([2, 1, 28, 28]))]).unwrap();
        let images: Vec<f32> = (0..2 * 28 * 28).map(|i| (i % 29) as f32 / 29.0).collect();
        let outputs = bound.forward(&[("data", &images)]).unwrap()[0].to_vec::<f32>().unwrap();
        let steps = bound.executor().report().unwrap().steps;
        // A convolution is a call of its own, or part of a partitioned subgraph.
        let convolutions = steps.iter().filter(|step| ["Convolution", "_sg_conv"].contains(&step.op.as_str()));
        (convolutions.map(|step| step.backend).collect(), outputs)
    }

    #[test]
    fn d74_off_sends_convolutions_to_the_kernels_of_mxrs() {
        let (with, with_outputs) = lenet(&[(ENABLED, "1")]);
        let (without, without_outputs) = lenet(&[(ENABLED, "0")]);
        // Where nnpack offers less time, the convolution runs there.
        assert!(with.contains(&"onednn"), "{with:?}");
        assert_eq!(without, vec!["nnpack"; with.len()]);
        assert_eq!(lenet(&[]).0, with, "on unless set");
        assert_eq!(with_outputs.len(), 20);
        for (a, b) in with_outputs.iter().zip(&without_outputs) {
            assert!((a - b).abs() < 1e-5, "{a} and {b}");
        }
    }

    #[test]
    fn d74_off_is_a_reason_to_be_absent() {
        let runtime = builder(&[(ENABLED, "0")]).build().unwrap();
        let absent = &runtime.backends().absent[0];
        assert_eq!((absent.name, absent.reason.as_str()), ("onednn", "switched off by MXNET_ONEDNN_ENABLED=0"));
    }

    /// For each of 10 input shapes, whether a second round of preparing kernels finds the kernel of the first round in the
    /// cache.
    fn kept(vars: Vars<'_>) -> Vec<bool> {
        let runtime = builder(vars).only_backend("onednn").build().unwrap();
        let backend = &runtime.backends().list()[0];
        let op = runtime.ops().get("Activation").unwrap();
        let params = op.parse(&Attrs::from([("act_type", "tanh")])).unwrap();
        let plan = |rows: usize| -> Arc<dyn Kernel> {
            let desc = [TensorDesc::dense([rows, 16], DType::F32)];
            let call =
                OpCall { op, params: &params, inputs: &desc, outputs: &desc, is_constant: &[false], is_train: false };
            backend.plan(&call).unwrap().kernel
        };
        let first: Vec<_> = (1..=10).map(plan).collect();
        // The newest shape comes first: a lookup that misses adds an entry, which must not evict one that is looked up
        // later.
        let mut kept: Vec<bool> = (1..=10).rev().map(|rows| Arc::ptr_eq(&plan(rows), &first[rows - 1])).collect();
        kept.reverse();
        kept
    }

    #[test]
    fn d75_keeps_so_many_and_the_oldest_leave() {
        let newest = |n: usize| (0..10).map(|i| i >= 10 - n).collect::<Vec<bool>>();
        assert_eq!(kept(&[]), newest(10));
        assert_eq!(kept(&[(CACHE, "-1")]), newest(10));
        assert_eq!(kept(&[(CACHE, "3")]), newest(3));
        assert_eq!(kept(&[(CACHE, "0")]), newest(0));
    }

    #[test]
    fn d75_comes_with_a_note() {
        let notes = |vars: Vars<'_>| warnings(vars).into_iter().filter(|line| line.contains("only helps")).count();
        assert_eq!((notes(&[(CACHE, "3")]), notes(&[(CACHE, "-1")]), notes(&[])), (1, 0, 0));
    }

    /// Layout of the weights of a 256 by 1024 fully-connected layer in a network that this runtime binds.
    fn layer_weights(vars: Vars<'_>) -> String {
        let runtime = builder(vars).only_backend("onednn").build().unwrap();
        let attrs = [("num_hidden", "256"), ("no_bias", "True")];
        let graph = Calls::new(&runtime).call("FullyConnected", &attrs, &[&Symbol::variable("x")]).graph().unwrap();
        let steps = bind(&runtime, &graph, [64, 1024]).report().unwrap().steps;
        steps.iter().find(|step| step.op == "FullyConnected").expect("a layer").inputs[1].clone()
    }

    #[test]
    fn d76_and_o11_keep_the_weights_of_layers_in_rows() {
        let [canonical, older] = ROW_MAJOR;
        let rows = layer_weights(&[(canonical, "1")]);
        assert!(!rows.contains("onednn"), "{rows}");
        assert_eq!(layer_weights(&[(older, "1")]), rows);
        assert_eq!(layer_weights(&[(canonical, "0")]), layer_weights(&[]));
    }

    #[test]
    fn o9_is_d74() {
        check_older_name("MXNET_MKLDNN_ENABLED", ENABLED, ["0", "1"], |vars| lenet(vars).0);
    }

    #[test]
    fn o10_is_d75() {
        check_older_name("MXNET_MKLDNN_CACHE_NUM", CACHE, ["2", "-1"], kept);
    }
}

/// A build without oneDNN reports that, and says how to build with it.
#[test]
#[cfg(not(any(feature = "onednn", feature = "onednn-dynamic")))]
fn without_the_backend_its_settings_have_no_effect() {
    use crate::{builder, warnings};

    let reason = "this build is without the cargo feature `onednn`; build with it, or with `onednn-dynamic`";
    for vars in [&[] as crate::Vars<'_>, &[(ENABLED, "1")]] {
        let runtime = builder(vars).build().unwrap();
        assert_eq!(runtime.backends().absent[0].reason, reason);
    }
    let lines = warnings(&[(CACHE, "3")]);
    assert!(lines.contains(&format!("{CACHE}=3 has no effect: it needs oneDNN: {reason}")), "{lines:?}");
    assert!(warnings(&[(CACHE, "-1"), (ENABLED, "0")]).is_empty());
}

/// If the file cannot be loaded, oneDNN is absent, and a warning has the reason. A build that loads no file warns, too.
#[test]
fn m28_names_the_file_of_onednn() {
    use crate::{builder, warnings};

    let vars = [(LIBRARY, "/no/libdnnl.so.3")];
    let is_loaded = cfg!(all(feature = "onednn-dynamic", not(feature = "onednn")));
    let why = if is_loaded { ": MXRS_ONEDNN_LIB=/no/libdnnl.so.3: " } else { ", which this build is without" };
    let expected = format!("{LIBRARY}=/no/libdnnl.so.3 has no effect: it needs the feature onednn-dynamic{why}");
    let lines = warnings(&vars);
    assert!(lines.iter().any(|line| line.starts_with(&expected)), "{lines:?}");
    let runtime = builder(&vars).build().unwrap();
    let absent = runtime.backends().absent.iter().find(|absent| absent.name == "onednn");
    let names_file = absent.is_some_and(|absent| absent.reason.starts_with("MXRS_ONEDNN_LIB=/no/libdnnl.so.3: "));
    assert_eq!(names_file, is_loaded, "{absent:?}");
}
