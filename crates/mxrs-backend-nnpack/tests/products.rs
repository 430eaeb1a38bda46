//! Products of matrices in batches, of sizes that are cut into pieces, against the reference kernels, on every instruction set
//! and several numbers of threads. Results have the same bits on any number of threads.

use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
use mxrs_op::{Attrs, Backend, Sample};
use mxrs_processor::Isa;
use mxrs_testkit::conformance::{Prepared, Runner, team};
use mxrs_types::DType;

/// Compares a call with the reference, with every request.
fn check(name: &str, attrs: &[(&str, &str)], shapes: &[&[usize]]) {
    let ops = mxrs_ops::catalog();
    let op = ops.get(name).expect("it is in the catalog");
    let none: [(&str, &str); 0] = [];
    let sample = Sample { attrs: attrs.iter().copied().collect::<Attrs>(), ..Sample::new("cut", none, shapes) };
    let prepared = Prepared::new(op, &sample, DType::F32).unwrap_or_else(|error| panic!("{name}: {error}"));
    let is_constant = vec![false; prepared.inputs.len()];
    for (isa, threads) in Isa::available().into_iter().flat_map(|isa| [1, 2, 3].map(|threads| (isa, threads))) {
        let team = team(threads);
        let backend = Nnpack::new(&team, NnpackOptions { isa, ..NnpackOptions::default() });
        let call = prepared.call(op, &is_constant);
        assert!(backend.offer(&call).is_ok(), "{name} of {shapes:?} is not taken: {:?}", backend.offer(&call).err());
        Runner::new(&*backend, op, &prepared, &is_constant, &team)
            .and_then(|runner| runner.check_all(&team))
            .unwrap_or_else(|what| panic!("{name} of {shapes:?}, {}, {threads} threads: {what}", isa.name()));
    }
}

#[test]
fn products_of_matrices_agree_with_the_reference() {
    let flags = [("False", "False"), ("True", "False"), ("False", "True"), ("True", "True")];
    for [batch, m, k, n] in [[5, 33, 70, 17], [1, 3, 600, 40], [2, 130, 20, 66], [7, 1, 9, 5]] {
        for (a, b) in flags {
            let sizes = |x: usize, y: usize, is_transposed| if is_transposed { [y, x] } else { [x, y] };
            let ([a0, a1], [b0, b1]) = (sizes(m, k, a == "True"), sizes(k, n, b == "True"));
            let attrs = [("transpose_a", a), ("transpose_b", b)];
            let (lhs, rhs, ograd) = ([batch, a0, a1], [batch, b0, b1], [batch, m, n]);
            check("batch_dot", &attrs, &[&lhs, &rhs]);
            check("_backward_batch_dot_lhs", &attrs, &[&ograd, &lhs, &rhs]);
            check("_backward_batch_dot_rhs", &attrs, &[&ograd, &lhs, &rhs]);
            check("dot", &attrs, &[&lhs[1..], &rhs[1..]]);
            check("_linalg_gemm2", &[attrs[0], attrs[1], ("alpha", "-0.5")], &[&lhs, &rhs]);
        }
    }
    check("_linalg_gemm2", &[("axis", "0")], &[&[33, 4, 20], &[20, 4, 9]]);
    check("dot", &[], &[&[4, 5, 33], &[33, 6, 7]]);
}

#[test]
fn products_of_numpy_agree_with_the_reference() {
    check("_npi_matmul", &[], &[&[2, 1, 33, 20], &[3, 20, 18]]);
    check("_npi_matmul", &[], &[&[40], &[2, 40, 33]]);
    check("_npi_matmul", &[], &[&[2, 33, 40], &[40]]);
    check("_np_dot", &[], &[&[33, 20], &[3, 20, 18]]);
    check("_np_dot", &[], &[&[70], &[70]]);
    check("_npi_tensordot_int_axes", &[("axes", "2")], &[&[5, 3, 40], &[3, 40, 33]]);
}

#[test]
fn products_of_attention_agree_with_the_reference() {
    let heads = [("heads", "3")];
    check("_contrib_interleaved_matmul_selfatt_qk", &heads, &[&[37, 2, 3 * 3 * 16]]);
    check("_contrib_interleaved_matmul_selfatt_valatt", &heads, &[&[37, 2, 3 * 3 * 16], &[6, 37, 37]]);
    check("_contrib_interleaved_matmul_encdec_qk", &heads, &[&[37, 2, 3 * 10], &[21, 2, 2 * 3 * 10]]);
    check("_contrib_interleaved_matmul_encdec_valatt", &heads, &[&[21, 2, 2 * 3 * 10], &[6, 37, 21]]);
}
