//! Tests every tile on every instruction set against direct summation in double precision, and the transforms against
//! sums of waves.

use super::*;
use crate::gemm::lanes::{Lanes, Plain};
use crate::tiles::cases::{Case, NO_BOUNDS, blocked, blocking, blockings, numbers, ragged, shape, team, with_kernel};
use crate::tiles::pack::{MAX_TAPS, Transform};
use crate::tiles::strip::{BUFFER_STRIDE, Inputs};
use std::f64::consts::TAU;

/// Windows for all tests. Each tile is tested with the windows that it supports.
const KERNELS: [[usize; 2]; 9] = [[3, 3], [5, 5], [7, 7], [9, 9], [11, 11], [4, 2], [6, 8], [1, 11], [5, 1]];

fn tiles_for(kernel: [usize; 2]) -> impl Iterator<Item = Tile> {
    Tile::ALL.into_iter().filter(move |tile| tile.takes(kernel))
}

#[test]
fn errors_at_256_channels_stay_within_the_bounds() {
    for (isa, kernel) in Isa::available().into_iter().flat_map(|isa| KERNELS.map(|kernel| (isa, kernel))) {
        let case = Case::new(with_kernel(shape(1, 256, 16, [11, 9], 1), kernel));
        for tile in tiles_for(kernel) {
            let plan = Plan::new(case.shape, tile, blocking(Schedule::Independent, 20, 1, 1), isa).unwrap();
            let error = case.error(&case.run(&plan, None, NO_BOUNDS, &Team::serial()), |i| case.want[i]);
            println!("{} {} {kernel:?}: {error:.2e}", isa.name(), tile.name());
            assert!(error < tile.error_bound(), "{} {} {kernel:?}: {error:e}", isa.name(), tile.name());
            assert!(error > 1e-8, "float32 rounds");
        }
    }
}

#[test]
fn all_shapes_agree_with_double_whatever_the_blocking_and_bits_do_not_depend_on_it() {
    let teams = [team(1), team(2), team(3)];
    let all = ragged().into_iter().flat_map(|shape| KERNELS.map(|kernel| (shape, kernel)));
    // Each shape gets every third window, and each window a third of the shapes.
    for (_, (shape, kernel)) in all.enumerate().filter(|&(i, _)| (i + i / KERNELS.len()).is_multiple_of(3)) {
        let shape = with_kernel(shape, kernel);
        let case = Case::new(shape);
        for isa in Isa::available() {
            for tile in tiles_for(kernel) {
                let mut first: Option<Vec<f32>> = None;
                for blocking in blockings() {
                    let plan = Plan::new(shape, tile, blocking, isa).unwrap();
                    let dst = case.run(&plan, None, NO_BOUNDS, &teams[blocking.threads - 1]);
                    let error = case.error(&dst, |i| case.want[i]);
                    assert!(error < tile.error_bound(), "{} {plan:?}: {error:e}", isa.name());
                    let first = first.get_or_insert_with(|| dst.clone());
                    assert!(first.iter().zip(&dst).all(|(x, y)| x.to_bits() == y.to_bits()), "{plan:?}");
                }
            }
        }
    }
}

#[test]
fn a_sum_is_added_before_the_bounds_in_place_or_not() {
    for kernel in [[3, 3], [7, 7]] {
        let shape = with_kernel(shape(2, 24, 40, [11, 10], 1), kernel);
        let case = Case::new(shape);
        let rows = numbers(2 * 40 * 110, 7);
        let sum = blocked(&rows, 2, 40, 110);
        for (isa, tile) in Isa::available().into_iter().flat_map(|isa| tiles_for(kernel).map(move |tile| (isa, tile))) {
            for (schedule, bounds) in [
                (Schedule::Independent, (0.0, f32::INFINITY)),
                (Schedule::Cooperative, (-0.5, 1.5)),
                (Schedule::Cooperative, (0.25, 6.0)),
            ] {
                let plan = Plan::new(shape, tile, blocking(schedule, 9, 1, 2), isa).unwrap();
                let want =
                    |i: usize| (case.want[i] + f64::from(rows[i])).clamp(f64::from(bounds.0), f64::from(bounds.1));
                let dst = case.run(&plan, Some(&sum), bounds, &team(2));
                // Errors are relative to the largest output. Bounds cut off the largest outputs, so the relative error
                // is larger.
                let error = case.error(&dst, want) * if bounds.1.is_finite() { 0.05 } else { 1.0 };
                assert!(error < tile.error_bound(), "{} {plan:?}: {error:e}", isa.name());

                let mut packed = vec![0.0; plan.packed_bytes() / 4];
                plan.pack_weights(&case.weights, &mut packed, &team(3)).unwrap();
                let (mut scratch, mut inplace) = (vec![0.0; plan.scratch_bytes() / 4], sum.clone());
                let at = inplace.as_mut_ptr();
                let epilogue = Epilogue { bias: Some(&case.bias), sum: Some(at.cast()), lo: bounds.0, hi: bounds.1 };
                // SAFETY: the vectors have the sizes of the shape and belong to this test; the sum is the output
                // itself, which `run` allows.
                unsafe { plan.run(case.src.as_ptr(), packed.as_ptr(), &epilogue, at, &mut scratch, &team(1)).unwrap() };
                assert_eq!(inplace, dst, "{plan:?}");
            }
        }
    }
}

/// A line with these numbers in each of the eight lanes.
fn line(x: &[f64]) -> real::Line<Plain> {
    // SAFETY: `Plain` needs no special instructions, and `splat` accesses no memory.
    std::array::from_fn(|i| unsafe { Plain::splat(x.get(i).copied().unwrap_or(0.0) as f32) })
}

fn first_lanes(x: &real::Line<Plain>, n: usize) -> Vec<f64> {
    let first = |x: &Plain| {
        let mut lanes = [0f32; 8];
        // SAFETY: `Plain` stores eight values, the length of `lanes`.
        unsafe { x.store(lanes.as_mut_ptr()) };
        f64::from(lanes[0])
    };
    x.iter().take(n).map(first).collect()
}

/// Real and imaginary part of `sum over n of x_n e^(2 pi i k n / N)`.
fn wave_sum(x: &[f64], k: usize) -> (f64, f64) {
    let angle = |i: usize| TAU * (k * i) as f64 / x.len() as f64;
    x.iter().enumerate().fold((0.0, 0.0), |(re, im), (i, x)| (re + x * angle(i).cos(), im + x * angle(i).sin()))
}

#[test]
fn a_line_becomes_its_spectrum_and_comes_back() {
    fn check<const N: usize>() {
        for seed in 1..20 {
            let x: Vec<f64> = numbers(N, seed).into_iter().map(f64::from).collect();
            // SAFETY: `Plain` needs no special instructions.
            let spectrum = unsafe { real::forward::<Plain, N>(&line(&x)) };
            let got = first_lanes(&spectrum, N);
            let want = |i: usize| match i {
                0 => wave_sum(&x, 0).0,
                1 => wave_sum(&x, N / 2).0,
                i if i % 2 == 0 => wave_sum(&x, i / 2).0,
                i => wave_sum(&x, i / 2).1,
            };
            for (i, got) in got.iter().enumerate() {
                assert!((got - want(i)).abs() < 4e-6, "{N}: {i}: {got} for {}", want(i));
            }
            // SAFETY: `Plain` needs no special instructions.
            let back = first_lanes(&unsafe { real::inverse::<Plain, N>(&spectrum) }, N);
            for (got, x) in back.iter().zip(&x) {
                assert!((got / N as f64 - x).abs() < 4e-6, "{N}: {got} for {N} times {x}");
            }
        }
    }
    check::<8>();
    check::<16>();
}

/// The vertical and the horizontal number of each frequency of a tile, in the order in which frequencies are stored.
fn frequencies(n: usize) -> Vec<[usize; 2]> {
    let mut all = vec![[0, 0], [0, n / 2], [n / 2, 0], [n / 2, n / 2]];
    all.extend([0, n / 2].into_iter().flat_map(|row| (1..n / 2).map(move |k| [row, k])));
    for p in 1..n / 2 {
        all.extend([[p, 0], [p, n / 2]]);
        all.extend((1..n / 2).flat_map(|k| [[p, k], [p, n - k]]));
    }
    all
}

#[test]
fn factors_are_the_frequencies_of_which_no_other_is_the_conjugate() {
    for tile in Tile::ALL {
        let n = tile.size();
        let all = frequencies(n);
        assert_eq!(all.len(), tile.factors().real + tile.factors().complex);
        assert_eq!(tile.factors().numbers(), n * n);
        let conjugate = |[y, x]: [usize; 2]| [(n - y) % n, (n - x) % n];
        for (i, one) in all.iter().enumerate() {
            assert_eq!(conjugate(*one) == *one, i < tile.factors().real);
            assert!(all[..i].iter().all(|other| other != one && conjugate(*other) != *one));
        }
    }
}

#[test]
fn tiles_and_filters_become_their_spectra() {
    fn check<const N: usize>(tile: Tile) {
        const BLOCK: usize = crate::tiles::BLOCK;
        let x: Vec<f64> = numbers(N * N, 3).into_iter().map(f64::from).collect();
        let at = |[v, u]: [usize; 2]| {
            let rows: Vec<(f64, f64)> = x.chunks(N).map(|row| wave_sum(row, u)).collect();
            let (re, im): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
            let ((rr, ri), (ir, ii)) = (wave_sum(&re, v), wave_sum(&im, v));
            (rr - ii, ri + ir)
        };
        let src: Vec<f32> = x.iter().flat_map(|x| [*x as f32; BLOCK]).collect();
        let (mut factors, mut buffer) = (vec![0f32; 2 * N * N * BLOCK], vec![0f32; N * BUFFER_STRIDE]);
        let inputs = Inputs {
            src: src.as_ptr().cast(),
            steps: [N * BLOCK, BLOCK],
            size: [N, N],
            origin: [0, 0],
            len: 1,
            m: [1, 1],
            factors: factors.as_mut_ptr(),
            plane: BLOCK,
            buffer: buffer.as_mut_ptr(),
        };
        // SAFETY: the vectors have the sizes of one tile of `N` by `N`; `Plain` needs no special instructions.
        unsafe { input::transform::<Plain, N>(&inputs) };
        let mut taps = Box::new([[[0.0; 32]; MAX_TAPS]; MAX_TAPS]);
        let taken = N.min(MAX_TAPS);
        for (y, taps) in taps.iter_mut().enumerate() {
            taps.iter_mut().enumerate().for_each(|(x, taps)| *taps = [(y * 7 + x * x + 1) as f64; 32]);
        }
        let mut spectrum = vec![[f64::NAN; 2]; tile.factors().real + tile.factors().complex];
        weights::Waves::new(N).factors(&taps, [taken, 3], |factor, part, values| spectrum[factor][part] = values[5]);
        for (f, &[v, u]) in frequencies(N).iter().enumerate() {
            let (re, im) = at([v, u]);
            let plane = if f < 4 { f } else { 4 + 3 * (f - 4) };
            let close = |got: f32, want: f64| assert!((f64::from(got) - want).abs() < 3e-5, "{f}: {got} for {want}");
            close(factors[plane * BLOCK], re);
            if f >= 4 {
                close(factors[(plane + 1) * BLOCK + 3], im);
                close(factors[(plane + 2) * BLOCK + 15], -re);
            }
            let angle = |y: usize, x: usize| TAU * (y * v + x * u) as f64 / N as f64;
            let all = (0..taken).flat_map(|y| (0..3).map(move |x| (y, x)));
            let want = all.fold([0.0, 0.0], |[re, im], (y, x)| {
                let tap = (y * 7 + x * x + 1) as f64;
                [re + tap * angle(y, x).cos(), im + tap * angle(y, x).sin()]
            });
            // Weights are divided by `N * N`, and by another 2 if neither the row nor the column of the frequency is 0
            // or `N/2`, because the inverse transform doubles those frequencies.
            let by = (N * N) as f64 * if v % (N / 2) != 0 && u % (N / 2) != 0 { 2.0 } else { 1.0 };
            for part in 0..if f < 4 { 1 } else { 2 } {
                let got = spectrum[f][part] * by;
                assert!((got - want[part]).abs() < 1e-9, "{f} ({v}, {u}) part {part}: {got} for {}", want[part]);
            }
        }
    }
    check::<8>(Tile::Eight);
    check::<16>(Tile::Sixteen);
}

#[test]
fn what_does_not_fit_is_refused() {
    let fits = with_kernel(shape(1, 16, 16, [8, 8], 1), [5, 5]);
    let any = blocking(Schedule::Independent, 8, 1, 1);
    let new = |shape, tile| Plan::new(shape, tile, any, Isa::PORTABLE);
    assert!(new(fits, Tile::Eight).is_ok() && new(fits, Tile::Sixteen).is_ok());
    assert!(new(Shape { kernel: [6, 5], ..fits }, Tile::Eight).is_err());
    for kernel in [[12, 5], [1, 1], [2, 2], [0, 5]] {
        assert!(new(Shape { kernel, ..fits }, Tile::Sixteen).is_err(), "{kernel:?}");
    }
    assert!(new(Shape { n: 0, ..fits }, Tile::Eight).is_err());
    let plan = new(fits, Tile::Eight).unwrap();
    let (weights, mut packed) = (vec![0.0; 16 * 16 * 25], vec![0.0; plan.packed_bytes() / 4]);
    assert!(plan.pack_weights(&weights[1..], &mut packed, &Team::serial()).is_err());
    assert!(plan.pack_weights(&weights, &mut packed[1..], &Team::serial()).is_err());
}

#[test]
fn candidates_begin_with_the_suggestion() {
    let shape = with_kernel(shape(2, 64, 64, [56, 56], 1), [7, 7]);
    let all = Tile::Sixteen.candidates(&shape, 2);
    assert_eq!(all[0], Tile::Sixteen.suggested(&shape, 2));
    for blocking in all {
        assert!(Plan::new(shape, Tile::Sixteen, blocking, Isa::PORTABLE).unwrap().scratch_bytes() < 140 << 20);
    }
}
