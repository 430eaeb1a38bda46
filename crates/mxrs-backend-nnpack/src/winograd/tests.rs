//! Tests every variant on every instruction set against direct summation in double precision.

use super::*;
use crate::tiles::cases::{Case, NO_BOUNDS, blocked, blocking, blockings, numbers, ragged, shape, team, with_kernel};

/// Windows that have variants.
const KERNELS: [[usize; 2]; 7] = [[3, 3], [4, 4], [5, 5], [1, 3], [3, 1], [1, 7], [7, 1]];

#[test]
fn errors_at_256_channels_stay_within_the_bounds() {
    for (isa, kernel) in Isa::available().into_iter().flat_map(|isa| KERNELS.map(|kernel| (isa, kernel))) {
        let case = Case::new(with_kernel(shape(1, 256, 32, [13, 18], 1), kernel));
        for variant in Variant::ALL.into_iter().filter(|v| v.kernel() == kernel) {
            let plan = Plan::new(case.shape, variant, blocking(Schedule::Independent, 20, 1, 1), isa).unwrap();
            let error = case.error(&case.run(&plan, None, NO_BOUNDS, &Team::serial()), |i| case.want[i]);
            println!("{} {}: {error:.2e}", isa.name(), variant.name());
            assert!(error < variant.error_bound(), "{} {}: {error:e}", isa.name(), variant.name());
            assert!(error > 1e-8, "float32 rounds");
        }
    }
}

#[test]
fn all_shapes_agree_with_double_whatever_the_blocking_and_bits_do_not_depend_on_it() {
    let teams = [team(1), team(2), team(3)];
    let all = ragged().into_iter().flat_map(|shape| KERNELS.map(|kernel| (shape, kernel)));
    // Filters other than 3x3 are tested on every second shape.
    for (_, (shape, kernel)) in
        all.enumerate().filter(|&(i, (_, kernel))| kernel == [3, 3] || i / KERNELS.len() % 2 == 1)
    {
        let shape = with_kernel(shape, kernel);
        let case = Case::new(shape);
        for isa in Isa::available() {
            for variant in Variant::ALL.into_iter().filter(|v| v.kernel() == kernel) {
                let mut first: Option<Vec<f32>> = None;
                for blocking in blockings() {
                    let plan = Plan::new(shape, variant, blocking, isa).unwrap();
                    let dst = case.run(&plan, None, NO_BOUNDS, &teams[blocking.threads - 1]);
                    let error = case.error(&dst, |i| case.want[i]);
                    assert!(error < variant.error_bound(), "{} {plan:?}: {error:e}", isa.name());
                    let first = first.get_or_insert_with(|| dst.clone());
                    assert!(first.iter().zip(&dst).all(|(x, y)| x.to_bits() == y.to_bits()), "{plan:?}");
                }
            }
        }
    }
}

#[test]
fn a_sum_is_added_before_the_bounds_in_place_or_not() {
    let shape = shape(2, 24, 40, [11, 10], 1);
    let case = Case::new(shape);
    let rows = numbers(2 * 40 * 110, 7);
    let sum = blocked(&rows, 2, 40, 110);
    for isa in Isa::available() {
        for variant in Variant::ALL.into_iter().filter(|v| v.kernel() == [3, 3]) {
            for (schedule, bounds) in [
                (Schedule::Independent, (0.0, f32::INFINITY)),
                (Schedule::Cooperative, (-0.5, 1.5)),
                (Schedule::Cooperative, (0.25, 6.0)),
            ] {
                let plan = Plan::new(shape, variant, blocking(schedule, 9, 1, 2), isa).unwrap();
                let want =
                    |i: usize| (case.want[i] + f64::from(rows[i])).clamp(f64::from(bounds.0), f64::from(bounds.1));
                let dst = case.run(&plan, Some(&sum), bounds, &team(2));
                // Errors are relative to the largest output. Bounds cut off the largest outputs, so the relative error
                // is larger.
                let error = case.error(&dst, want) * if bounds.1.is_finite() { 0.05 } else { 1.0 };
                assert!(error < variant.error_bound(), "{} {plan:?}: {error:e}", isa.name());

                let mut packed = vec![0.0; plan.packed_bytes() / 4];
                plan.pack_weights(&case.weights, &mut packed, &team(3)).unwrap();
                let (mut scratch, mut inplace) = (vec![0.0; plan.scratch_bytes() / 4], sum.clone());
                let at = inplace.as_mut_ptr().cast::<u8>();
                let epilogue = Epilogue { bias: Some(&case.bias), sum: Some(at), lo: bounds.0, hi: bounds.1 };
                // SAFETY: the vectors have the sizes of the shape and belong to this test; the sum is the output
                // itself, which `run` allows.
                unsafe {
                    plan.run(case.src.as_ptr().cast(), packed.as_ptr(), &epilogue, at, &mut scratch, &team(1)).unwrap()
                };
                assert_eq!(inplace, dst, "{plan:?}");
            }
        }
    }
}

#[test]
fn one_dimensional_transforms_multiply_polynomials_exactly() {
    // Tests every pair of unit vectors, which suffices because the three transforms (inputs, weights, products) are
    // linear.
    fn check<P: points::Points>() {
        use crate::gemm::lanes::{Lanes, Plain};
        let weights = points::weights_matrix::<P>();
        for tap in 0..P::R {
            for at in 0..P::N {
                let mut outputs = vec![0f32; P::M * 8];
                // SAFETY: `Plain` needs no special instructions; `outputs` has eight values for each of `P::M` outputs,
                // the size of a register.
                unsafe {
                    let mut d = [Plain::splat(0.0); points::MAX_N];
                    d[at] = Plain::splat(1.0);
                    let mut m = one_d::input::<Plain, P>(&d);
                    for i in 0..P::N {
                        m[i] = m[i].mul(Plain::splat(weights[i][tap] as f32));
                    }
                    let y = one_d::output::<Plain, P>(&m);
                    for i in 0..P::M {
                        y[i].store(outputs.as_mut_ptr().add(i * 8));
                    }
                }
                for i in 0..P::M {
                    let want = f32::from(u8::from(at == i + tap));
                    assert!((outputs[i * 8] - want).abs() < 1e-4, "F({}, {}) y{i} tap {tap} input {at}", P::M, P::R);
                }
            }
        }
    }
    check::<points::F2x3>();
    check::<points::F3x3>();
    check::<points::F4x3>();
    check::<points::F5x3>();
    check::<points::F6x3>();
    check::<points::F3x5>();
    check::<points::F4x4>();
    check::<points::F4x5>();
    check::<points::F3x7>();
    check::<points::F1x1>();
}

#[test]
fn what_does_not_fit_is_refused() {
    let fits = shape(1, 16, 16, [8, 8], 1);
    let any = blocking(Schedule::Independent, 8, 1, 1);
    let new = |shape| Plan::new(shape, Variant::F2, any, Isa::PORTABLE);
    assert!(new(Shape { kernel: [5, 5], ..fits }).is_err());
    assert!(new(Shape { n: 0, ..fits }).is_err());
    assert!(new(Shape { out: [0, 4], ..fits }).is_err());
    let plan = new(fits).unwrap();
    let (weights, mut packed) = (vec![0.0; 16 * 16 * 9], vec![0.0; plan.packed_bytes() / 4]);
    assert!(plan.pack_weights(&weights[1..], &mut packed, &Team::serial()).is_err());
    assert!(plan.pack_weights(&weights, &mut packed[1..], &Team::serial()).is_err());
    let (src, mut dst, mut scratch) = (vec![0.0; 16 * 64], vec![0.0; 16 * 64], vec![0.0; plan.scratch_bytes() / 4]);
    let mut run = |epilogue: &Epilogue<'_>, short: usize| {
        // SAFETY: the vectors have the sizes of the shape; `run` checks the length of the scratch memory.
        unsafe {
            plan.run(
                src.as_ptr().cast(),
                packed.as_ptr(),
                epilogue,
                dst.as_mut_ptr().cast(),
                &mut scratch[short..],
                &Team::serial(),
            )
        }
    };
    assert!(run(&Epilogue::default(), 0).is_ok());
    assert!(run(&Epilogue::default(), 1).is_err());
    assert!(run(&Epilogue { bias: Some(&[0.0; 15]), ..Epilogue::default() }, 0).is_err());
}

#[test]
fn a_search_tries_every_variant_and_sorts_them_by_time() {
    let shape = shape(3, 32, 48, [12, 9], 1);
    let found = search(shape, &Variant::ALL, Isa::best(), &team(2), std::time::Duration::from_millis(50)).unwrap();
    assert!(found.is_sorted_by_key(|m| m.time) && found[0].time > std::time::Duration::ZERO);
    for variant in Variant::ALL.into_iter().filter(|v| v.kernel() == [3, 3]) {
        assert!(found.iter().any(|m| m.variant == variant));
    }
    let none = Shape { kernel: [9, 9], ..shape };
    assert!(search(none, &Variant::ALL, Isa::best(), &team(1), std::time::Duration::ZERO).unwrap().is_empty());
}

#[test]
fn candidates_begin_with_the_suggestion_and_differ() {
    for (n, c, k, size) in [(1, 64, 64, 56), (1, 512, 512, 7), (32, 256, 256, 56), (1, 3, 16, 5)] {
        let shape = shape(n, c, k, [size; 2], 1);
        for variant in [Variant::F2, Variant::F4, Variant::F6] {
            let all = Blocking::candidates(&shape, variant, 2);
            assert_eq!(all[0], Blocking::suggested(&shape, variant, 2));
            let plans: Vec<_> = all.iter().map(|&b| Plan::new(shape, variant, b, Isa::PORTABLE).unwrap()).collect();
            for (i, plan) in plans.iter().enumerate() {
                assert!(plans[..i].iter().all(|p| p.blocking() != plan.blocking()), "{plan:?}");
                assert!(plan.scratch_bytes() < 140 << 20);
            }
        }
    }
}
