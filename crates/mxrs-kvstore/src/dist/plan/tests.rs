//! Divisions of keys: MXNet's numbers, and what every plan must satisfy.

use super::*;
use proptest::prelude::*;

fn rules(n_workers: usize) -> Rules {
    Rules { n_workers, big_array_elements: 1_000_000, slice_elements: None, is_divisible: true, grain: 1 }
}

fn sizes_of_parts(n: usize, n_parts: usize) -> Vec<usize> {
    let mut begin = 0;
    part_ends(n, n_parts, 1).into_iter().map(|end| end - std::mem::replace(&mut begin, end)).collect()
}

/// MXNet 1.9.1's `EncodeDefaultKey` divides `n` elements over `S` servers: part `i` has `round(n / S * (i + 1)) - round(n /
/// S * i)` elements.
#[test]
fn large_keys_are_divided_like_mxnet_divides_them() {
    assert_eq!(sizes_of_parts(1_466_521, 4), [366_630, 366_631, 366_630, 366_630]);
    let eight = [125_000, 125_001, 125_000, 125_001, 125_000, 125_000, 125_001, 125_000];
    assert_eq!(sizes_of_parts(1_000_003, 8), eight);
}

#[test]
fn small_keys_have_one_owner_each() {
    let pieces = plan(&[10, 999_999, 1_000_000, 0, 20], &rules(2));
    let owners = |key: usize| pieces[key].iter().map(|piece| piece.owner).collect::<Vec<_>>();
    // Only key 2 reaches the bound and is divided. Then key 1, the next largest, goes to worker 0, and all smaller keys go
    // to worker 1.
    assert_eq!(owners(2), [[0; 8], [1; 8]].concat(), "pieces have at most 65536 elements");
    assert_eq!((owners(1), owners(4), owners(0), owners(3)), (vec![0; 16], vec![1], vec![1], vec![]));
    assert_eq!((owned(&pieces[2], 0), owned(&pieces[2], 1)), (0..500_000, 500_000..1_000_000));
    assert_eq!((owned(&pieces[4], 0), owned(&pieces[4], 1)), (0..0, 0..20));
}

#[test]
fn keys_that_cannot_be_divided_are_not() {
    let pieces = plan(&[3_000_000, 2_000_000], &Rules { is_divisible: false, ..rules(2) });
    assert_eq!((owned(&pieces[0], 0), owned(&pieces[0], 1)), (0..3_000_000, 0..0));
    assert_eq!((owned(&pieces[1], 0), owned(&pieces[1], 1)), (0..0, 0..2_000_000));
}

#[test]
fn slices_go_to_the_workers_in_turn() {
    let pieces = plan(&[100_000, 40_000, 1], &Rules { slice_elements: Some(40_000), ..rules(3) });
    let all: Vec<(usize, usize)> = pieces.iter().flatten().map(|piece| (piece.elements.len(), piece.owner)).collect();
    assert_eq!(all, [(40_000, 0), (40_000, 1), (20_000, 2), (40_000, 0), (1, 1)]);
}

/// The parameters of VGG-16 in the order of its layers: large and small keys, one of them three quarters of all elements.
#[test]
fn owners_have_about_the_same_number_of_elements() {
    let convolutions = [(64, 3), (64, 64), (128, 64), (128, 128), (256, 128), (256, 256), (256, 256), (512, 256)];
    let more = [(512, 512); 5];
    let mut sizes: Vec<usize> = convolutions.iter().chain(&more).flat_map(|(out, inp)| [out * inp * 9, *out]).collect();
    sizes.extend([25_088 * 4096, 4096, 4096 * 4096, 4096, 4096 * 1000, 1000]);
    assert_eq!(sizes.iter().sum::<usize>(), 138_357_544, "VGG-16 has 138 million parameters");
    for n_workers in 2..=16 {
        let mut loads = vec![0usize; n_workers];
        for piece in plan(&sizes, &rules(n_workers)).iter().flatten() {
            loads[piece.owner] += piece.elements.len();
        }
        let (most, mean) = (*loads.iter().max().unwrap(), 138_357_544 / n_workers);
        assert!(most * 10 <= mean * 11, "{n_workers} workers: {loads:?}");
    }
}

proptest! {
    #[test]
    fn every_element_has_one_owner(
        sizes in prop::collection::vec(0usize..3_000_000, 1..8),
        n_workers in 1usize..9,
        bound in 1u64..2_000_000,
        slice in prop::option::of(1000u64..100_000),
        is_divisible: bool,
        grain in prop::sample::select(vec![1, 16, 32]),
    ) {
        let rules = Rules { n_workers, big_array_elements: bound, slice_elements: slice, is_divisible, grain };
        for (pieces, &n) in plan(&sizes, &rules).iter().zip(&sizes) {
            let mut end = 0;
            for piece in pieces {
                prop_assert_eq!(piece.elements.start, end);
                prop_assert!(!piece.elements.is_empty() && piece.owner < n_workers);
                end = piece.elements.end;
                prop_assert!(slice.is_some() || end == n || end % grain == 0);
            }
            prop_assert_eq!(end, n);
            if slice.is_none() {
                let ends: usize = (0..n_workers).map(|rank| owned(pieces, rank).len()).sum();
                prop_assert_eq!(ends, n, "the pieces of an owner are adjacent");
            }
        }
    }
}
