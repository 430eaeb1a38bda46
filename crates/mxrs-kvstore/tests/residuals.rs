//! The residuals of compression can be saved and restored.

mod common;

use common::{bits, context, numbers, on, pull, store, store_with, values};
use mxrs_kvstore::tree::TreeOptions;
use mxrs_kvstore::{Compression, KvStore, KvStoreOptions, Residual};
use mxrs_ndarray::ArrayContext;
use std::sync::Arc;

const N: usize = 33;

fn compressing(context: &ArrayContext, kind: &str, has_tree: bool) -> Arc<dyn KvStore> {
    let tree = has_tree.then(TreeOptions::default);
    let store = store_with(context, "device", &KvStoreOptions { tree, ..KvStoreOptions::default() });
    store.set_gradient_compression(Compression::new(kind, 0.25).unwrap()).unwrap();
    for key in ["v", "w"] {
        store.init(&[(key.into(), on(context, 0, &[N], &[0.0f32; N]))]).unwrap();
    }
    store
}

fn push(context: &ArrayContext, store: &dyn KvStore, round: u64) -> Vec<Vec<u32>> {
    let of = |key: &str, seed: u64| {
        let arrays = [0, 1, 2].map(|id| on(context, id, &[N], &numbers(seed + 10 * id as u64, N)));
        store.push(&values(key, &arrays), 0).unwrap();
        bits(&pull(context, store, key, &[N]))
    };
    vec![of("v", 100 * round), of("w", 100 * round + 50)]
}

#[test]
fn a_store_continues_where_another_was() {
    for (kind, has_tree) in [("2bit", false), ("1bit", false), ("2bit", true)] {
        let context = context();
        let (first, second) = (compressing(&context, kind, has_tree), compressing(&context, kind, has_tree));
        let fresh = push(&context, &*compressing(&context, kind, has_tree), 3);
        assert!(first.residuals().unwrap().is_empty());
        push(&context, &*first, 1);
        push(&context, &*first, 2);
        let residuals = first.residuals().unwrap();
        let places: Vec<_> = residuals.iter().map(|left| (left.key.to_string(), left.position)).collect();
        let expected = ["`v`", "`w`"].iter().flat_map(|key| [0, 1, 2].map(|at| ((*key).to_owned(), at)));
        assert_eq!(places, expected.collect::<Vec<_>>());
        second.set_residuals(&residuals).unwrap();
        let third = push(&context, &*first, 3);
        assert_eq!(push(&context, &*second, 3), third, "{kind}");
        assert_ne!(fresh, third, "{kind}: the residuals have no effect");
    }
}

#[test]
fn residuals_that_fit_nothing_are_refused() {
    let context = context();
    let store_with = compressing(&context, "2bit", false);
    let residual =
        |key: &str, n: usize| Residual { key: key.into(), position: 0, array: on(&context, 0, &[n], &vec![0.0f32; n]) };
    for (left, words) in [(residual("x", N), "`x`"), (residual("v", 3), "float32 (3,)")] {
        let error = store_with.set_residuals(&[left]).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let plain = store(&context, "local");
    plain.init(&[("v".into(), on(&context, 0, &[N], &[0.0f32; N]))]).unwrap();
    let error = plain.set_residuals(&[residual("v", N)]).unwrap_err().to_string();
    assert!(error.contains("compresses"), "{error}");
    assert!(plain.residuals().unwrap().is_empty());
    plain.set_residuals(&[]).unwrap();
}
