//! The golden values of MXNet's trees, and the invariants of every tree.

use super::score::weight;
use super::*;
use proptest::prelude::*;

/// Rows of digits, separated by blanks.
fn matrix(rows: &str) -> Links {
    let weights: Vec<f32> = rows.bytes().filter(u8::is_ascii_digit).map(|digit| f32::from(digit - b'0')).collect();
    Links::new(rows.split(' ').count(), weights).unwrap()
}

fn uniform(n: usize, w: f32) -> Links {
    Links::new(n, (0..n * n).map(|i| if i % (n + 1) == 0 { 0.0 } else { w }).collect()).unwrap()
}

fn p3() -> Links {
    matrix("02233111 20321311 23031121 32301112 31110223 13112032 11212303 11123230")
}

/// The first `n` devices.
fn first(links: &Links, n: usize) -> Links {
    Links::new(n, (0..n * n).map(|i| links.weight(i / n, i % n)).collect()).unwrap()
}

fn nvlink_pairs() -> Links {
    matrix("0121 1012 2101 1210")
}

fn ring(n: usize) -> Links {
    let is_link = |i: usize, j: usize| (i + 1) % n == j || (j + 1) % n == i;
    let weight = |i, j| {
        if i == j {
            0.0
        } else if is_link(i, j) {
            2.0
        } else {
            1.0
        }
    };
    Links::new(n, (0..n * n).map(|k| weight(k / n, k % n)).collect()).unwrap()
}

fn searched() -> TreeOptions {
    TreeOptions { backtrack: true, ..TreeOptions::default() }
}

fn leaves(text: &str) -> Vec<usize> {
    text.split(' ').map(|number| number.parse().unwrap()).collect()
}

/// Checks the trees of the first roots, and the weight of the first tree without penalties.
fn check_golden(all: &Links, trees: &[&str], first_weight: f32) {
    let plans = Plans::of_links(all, &searched());
    check_invariants(all, &plans);
    for (tree, expected) in plans.trees.iter().zip(trees) {
        assert_eq!(tree.leaves, leaves(expected), "root {}", tree.root());
    }
    assert_eq!(weight(&all.without_slow(), &plans.trees[0]), first_weight);
}

/// Returns the largest number of trees that use one link.
fn check_invariants(all: &Links, plans: &Plans) -> usize {
    let (n, links) = (all.n(), all.without_slow());
    assert_eq!((plans.plans.len(), plans.trees.len()), (n, n));
    for (root, tree) in plans.trees.iter().enumerate() {
        assert_eq!(tree.root(), root);
        assert_eq!(tree.topology().len(), (2 << depth_for(n)) - 1);
        assert!(tree.is_spanning(n), "{tree:?}");
        let sends = tree.sends();
        assert_eq!(sends.len(), n - 1, "{tree:?}");
        assert!(sends.iter().all(|send| links.weight(send.from, send.to) > 0.0), "{tree:?}\n{links}");
        assert_eq!(plans.plans[root], SumPlan { root, sends });
    }
    plans.link_uses().into_iter().map(|(_, _, n_uses)| n_uses).max().unwrap_or(0)
}

#[test]
fn golden_p3() {
    let trees = "0 3 4 7 1 2 5 6/1 0 2 3 5 4 6 7/2 0 3 1 6 4 7 5/3 0 2 1 7 4 6 5/4 7 5 1 0 3 2 6/5 1 7 3 6 2 4 0/\
                 6 2 4 0 7 5 3 1/7 6 4 5 3 0 2 1";
    check_golden(&p3(), &trees.split('/').collect::<Vec<_>>(), 20.0);
    assert_eq!(check_invariants(&p3(), &Plans::of_links(&p3(), &searched())), 5, "uses of one link");
}

#[test]
fn golden_p3_whose_ranks_are_not_trusted() {
    let is_direct = (0..64).map(|i| p3().weight(i / 8, i % 8) > 1.0).collect();
    let all = Links::of_facts(&LinkFacts { n: 8, ranks: vec![0; 64], is_direct }).unwrap();
    check_golden(&all, &["0 1 2 3 4 5 6 7"], 14.0);
}

#[test]
fn golden_nvswitch() {
    check_golden(&uniform(8, 3.0), &["0 1 2 3 4 5 6 7", "1 2 3 0 5 6 7 4", "2 4 5 0 6 1 3 7"], 21.0);
    assert_eq!(check_invariants(&uniform(8, 3.0), &Plans::of_links(&uniform(8, 3.0), &searched())), 3);
    let trees = ["0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "1 0 2 3 4 5 6 7 8 9 10 11 12 13 14 15"];
    check_golden(&uniform(16, 3.0), &trees, 45.0);
}

#[test]
fn golden_pcie() {
    check_golden(&uniform(8, 1.0), &["0 1 2 3 4 5 6 7", "1 2 3 0 5 6 7 4", "2 4 5 0 6 1 3 7"], 0.875);
    check_golden(&uniform(4, 1.0), &["0 1 2 3", "1 2 3 0", "2 0 1 3", "3 2 0 1"], 0.75);
}

#[test]
fn golden_five_of_p3() {
    let trees = "0 0 4 4 3 3 2 1/1 1 0 4 2 2 3 3/2 2 1 1 0 4 3 3/3 1 2 2 0 0 4 4/4 4 4 4 0 2 1 3";
    check_golden(&first(&p3(), 5), &trees.split('/').collect::<Vec<_>>(), 12.0);
}

#[test]
fn golden_two_pairs() {
    check_golden(&nvlink_pairs(), &["0 2 1 3", "1 3 2 0", "2 0 3 1", "3 1 0 2"], 4.25);
}

#[test]
fn partitioned_trees_hold_the_invariants() {
    for (all, least) in [
        (p3(), 14.0),
        (uniform(8, 3.0), 21.0),
        (uniform(16, 3.0), 45.0),
        (uniform(8, 1.0), 0.875),
        (uniform(4, 1.0), 0.75),
        (nvlink_pairs(), 4.25),
        (first(&p3(), 5), 8.0),
        (uniform(2, 2.0), 2.0),
        (uniform(3, 2.0), 4.0),
    ] {
        let plans = Plans::of_links(&all, &TreeOptions::default());
        check_invariants(&all, &plans);
        let got = weight(&all.without_slow(), &plans.trees[0]);
        assert!(got >= least, "{got} of {least} for\n{all}");
    }
}

#[test]
fn a_ring_becomes_a_chain() {
    for n in [8, 9] {
        let (all, links) = (ring(n), ring(n).without_slow());
        for options in [TreeOptions::default(), searched()] {
            let plans = Plans::of_links(&all, &options);
            assert!(plans.trees.is_empty());
            for (root, plan) in plans.plans.iter().enumerate() {
                assert_eq!((plan.root, plan.sends.len()), (root, n - 1));
                assert!(plan.sends.iter().all(|send| links.weight(send.from, send.to) > 0.0));
                // Each device begins with a one in its own hexadecimal digit. After all steps, each digit of the root's sum
                // is 1: every device was added exactly once.
                let mut sums: Vec<u64> = (0..n).map(|i| 1 << (4 * i)).collect();
                plan.sends.iter().for_each(|send| sums[send.to] += sums[send.from]);
                assert_eq!(sums[root], (0..n).map(|i| 1u64 << (4 * i)).sum());
            }
        }
    }
}

#[test]
fn large_arrays_are_cut_into_slices() {
    let plans = Plans::of_links(&uniform(4, 1.0), &TreeOptions { array_bound: 100, ..searched() });
    let single =
        |n_rows, n_elements| plans.slices(n_rows, n_elements).into_iter().map(|s| (s.start, s.end)).collect::<Vec<_>>();
    assert_eq!(single(50, 100), [(0, 50)]);
    assert_eq!(single(7, 700), [(0, 7)], "fewer than two rows per device");
    assert_eq!(plans.slices(8, 800), [0..2, 2..4, 4..6, 6..8]);
    assert_eq!(plans.slices(11, 1100), [0..2, 2..4, 4..6, 6..11]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn random_links_give_trees_or_a_chain(n in 2usize..17, backtrack: bool, seeds in prop::collection::vec(0u8..4, 256)) {
        let mut weights = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..i {
                let w = f32::from(seeds[i * 16 + j].max(1));
                (weights[i * n + j], weights[j * n + i]) = (w, w);
            }
        }
        let all = Links::new(n, weights).unwrap();
        let plans = Plans::of_links(&all, &TreeOptions { backtrack, ..TreeOptions::default() });
        if plans.trees.is_empty() {
            let roots: Vec<usize> = plans.plans.iter().map(|plan| plan.root).collect();
            prop_assert_eq!(roots, (0..n).collect::<Vec<_>>());
        } else {
            check_invariants(&all, &plans);
        }
    }
}
