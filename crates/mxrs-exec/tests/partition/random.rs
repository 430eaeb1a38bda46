//! Tests on random networks of operators on floats that partitioning keeps the values of all outputs (rule G21).

use super::nets::Net;
use super::{F64, fused, same_values};
use mxrs_graph::Graph;
use mxrs_ops::Fusions;
use mxrs_types::DType;
use proptest::prelude::*;

/// A random network. Each choice is one layer: its kind and two operands.
fn network(choices: &[(u8, u16, u16)], heads: &[u16]) -> Graph {
    let mut net = Net::new();
    let mut made = vec![String::from("x")];
    for (i, (kind, first, second)) in choices.iter().enumerate() {
        let newest = made.len() - 1;
        let at = if first % 4 == 0 { *first as usize / 4 % made.len() } else { newest };
        let (p, q) = (made[at].clone(), made[*second as usize % made.len()].clone());
        let name = format!("n{i}");
        let flag = if second % 2 == 0 { "True" } else { "False" };
        let next = match kind % 12 {
            0..=2 => {
                // A whole residual unit. Later layers may read each of its values.
                let conv = net.conv(&format!("{name}c"), &p, &[("no_bias", flag)]);
                let bn = net.call("BatchNorm", &format!("{name}b"), &[&conv], &[("fix_gamma", flag)]);
                made.extend([conv, bn.clone()]);
                let sum = net.call("elemwise_add", &format!("{name}s"), &[&q, &bn], &[]);
                made.push(sum.clone());
                net.call("tanh", &name, &[&sum], &[])
            }
            3 => net.conv(&name, &p, &[("no_bias", flag)]),
            4 => net.fc(&name, &p),
            5 => net.call("BatchNorm", &name, &[&p], &[("fix_gamma", flag)]),
            6 => net.call("elemwise_add", &name, &[&p, &q], &[]),
            7 => net.call("relu", &name, &[&p], &[]),
            8 => net.call("clip", &name, &[&p], &[("a_min", "0"), ("a_max", "2")]),
            9 => net.call("Activation", &name, &[&p], &[("act_type", "sigmoid")]),
            10 => net.call("negative", &name, &[&p], &[]),
            _ => net.call("abs", &name, &[&p], &[]),
        };
        made.push(next);
    }
    let newest = made.len() - 1;
    // The heads are some of the values, and always the last one.
    let mut list: Vec<String> = heads.iter().map(|h| made[*h as usize % made.len()].clone()).collect();
    list.push(made[newest].clone());
    list.sort();
    list.dedup();
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    net.graph(&list)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn g21_random_networks_keep_their_values(
        choices in prop::collection::vec(any::<(u8, u16, u16)>(), 1..8),
        heads in prop::collection::vec(any::<u16>(), 0..3),
    ) {
        same_values(&network(&choices, &heads), &Fusions::default(), DType::F64, F64);
    }
}

/// Random networks contain chains that patterns replace.
#[test]
fn random_networks_have_chains() {
    let graph = network(&[(0, 1, 0), (3, 1, 1), (7, 1, 1), (5, 1, 0), (7, 1, 0), (4, 1, 1), (11, 1, 0)], &[]);
    let executor = same_values(&graph, &Fusions::default(), DType::F64, F64);
    let names: Vec<String> = fused(&executor).into_iter().map(|f| f.op.to_owned()).collect();
    assert_eq!(names, ["_sg_conv", "_sg_conv", "_sg_bn_relu", "_sg_fully_connected"]);
}
