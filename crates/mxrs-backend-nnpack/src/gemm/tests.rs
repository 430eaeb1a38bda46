//! Tests the product against a plain loop in double precision, on every instruction set, with all row counts, both
//! widths, odd strides and every epilogue.

use super::*;

/// Pseudo-random values in -1..1; `seed` selects the sequence.
fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..n).map(next).collect()
}

struct Case {
    rows: usize,
    whole: bool,
    blocks: usize,
    a_row_stride: usize,
    c_row_stride: usize,
    add: bool,
    prefetch: bool,
    bias: bool,
    sum: bool,
    bounds: Option<(f32, f32)>,
}

/// Runs a case and compares all memory of the result, including the gaps between rows.
fn check(isa: Isa, case: &Case) {
    let Case { rows, whole, blocks, a_row_stride, c_row_stride, .. } = *case;
    let width = if whole { PANEL } else { PANEL / 2 };
    // The blocks are in descending order with gaps, so that a wrong offset gives a wrong result.
    let block_len = rows * a_row_stride + 21;
    let offsets: Vec<usize> = (0..blocks).rev().map(|b| 3 + b * block_len).collect();
    let a = numbers(blocks * block_len + 40, 1);
    let b = numbers(16 * blocks * width, 2);
    let c_half_stride = rows * c_row_stride + 5;
    let before = numbers(2 * c_half_stride + 40, 3);
    let (bias, sum) = (numbers(width, 4), numbers(before.len(), 5));
    let epilogue = ProductEpilogue {
        bias: if case.bias { bias.as_ptr() } else { std::ptr::null() },
        sum: if case.sum { sum.as_ptr() } else { std::ptr::null() },
        lo: case.bounds.map_or(f32::NEG_INFINITY, |b| b.0),
        hi: case.bounds.map_or(f32::INFINITY, |b| b.1),
    };
    let finishes = case.bias || case.sum || case.bounds.is_some();

    let mut want: Vec<f64> = before.iter().map(|&x| f64::from(x)).collect();
    for r in 0..rows {
        for col in 0..width {
            let at = col / 16 * c_half_stride + r * c_row_stride + col % 16;
            let mut x = if case.add { want[at] } else { 0.0 };
            for (block, offset) in offsets.iter().enumerate() {
                for step in 0..16 {
                    let (l, r) = (a[offset + r * a_row_stride + step], b[(16 * block + step) * width + col]);
                    x += f64::from(l) * f64::from(r);
                }
            }
            x += if case.bias { f64::from(bias[col]) } else { 0.0 } + if case.sum { f64::from(sum[at]) } else { 0.0 };
            want[at] = x.max(f64::from(epilogue.lo)).min(f64::from(epilogue.hi));
        }
    }

    let mut c = before.clone();
    let product = Product {
        a: a.as_ptr(),
        a_offsets: &offsets,
        a_row_stride,
        b: b.as_ptr(),
        c: c.as_mut_ptr(),
        c_row_stride,
        c_half_stride,
        add: case.add,
        prefetch: if case.prefetch { b.as_ptr() } else { std::ptr::null() },
        prefetch_lines: (a.as_ptr(), rows % 3),
        epilogue: finishes.then_some(&epilogue),
    };
    // SAFETY: `block_len`, `c_half_stride` and the lengths of the vectors above are computed from the rows and strides
    // of the case, so all addresses that the product reads or writes lie in them. Only this thread uses them.
    unsafe { Gemm::new(isa).run(rows, whole, &product) };
    let bound = 1e-6 * (16 * blocks + 4) as f64;
    for (at, (got, want)) in c.iter().zip(&want).enumerate() {
        assert!(
            (f64::from(*got) - want).abs() <= bound,
            "{}: {rows} rows, width {width}, {blocks} blocks: {got} for {want} at {at}",
            isa.name()
        );
    }
}

#[test]
fn all_row_counts_widths_strides_and_finishes_agree_with_double() {
    for isa in Isa::available() {
        for rows in 1..=MAX_ROWS {
            for variety in 0..16usize {
                let bit = |n: usize| variety >> n & 1 == 1;
                check(
                    isa,
                    &Case {
                        rows,
                        whole: bit(0) ^ bit(3),
                        blocks: 1 + (rows + variety) % 3,
                        a_row_stride: [16, 32, 17][(rows + variety) % 3],
                        c_row_stride: [16, 48, 19][(rows + variety / 2) % 3],
                        add: bit(1),
                        prefetch: bit(2),
                        bias: bit(0),
                        sum: bit(3),
                        bounds: [None, Some((0.0, f32::INFINITY)), Some((-0.5, 0.75)), None][variety / 3 % 4],
                    },
                );
            }
        }
    }
}

#[test]
fn a_product_without_blocks_is_what_finishes_it() {
    for isa in Isa::available() {
        let case = Case {
            rows: 14,
            whole: true,
            blocks: 0,
            a_row_stride: 16,
            c_row_stride: 16,
            add: false,
            prefetch: false,
            bias: true,
            sum: false,
            bounds: None,
        };
        check(isa, &case);
    }
}

#[test]
fn bounds_leave_what_is_not_a_number() {
    for isa in Isa::available() {
        let (bias, mut c) = ([f32::NAN; 32], [0.0; 32]);
        let epilogue = ProductEpilogue { bias: bias.as_ptr(), sum: std::ptr::null(), lo: 0.0, hi: 6.0 };
        let product = Product {
            a: bias.as_ptr(),
            a_offsets: &[],
            a_row_stride: 16,
            b: bias.as_ptr(),
            c: c.as_mut_ptr(),
            c_row_stride: 32,
            c_half_stride: 16,
            add: false,
            prefetch: std::ptr::null(),
            prefetch_lines: (std::ptr::null(), 0),
            epilogue: Some(&epilogue),
        };
        // SAFETY: there are no blocks to read; bias and result have 32 values.
        unsafe { Gemm::new(isa).run(1, true, &product) };
        assert!(c.iter().all(|x| x.is_nan()), "{}", isa.name());
    }
}

#[test]
fn row_groups_are_even_and_cover() {
    assert_eq!(row_groups(49, 14).collect::<Vec<_>>(), [(0, 13), (13, 12), (25, 12), (37, 12)]);
    for n in 0..200 {
        let groups: Vec<_> = row_groups(n, MAX_ROWS).collect();
        assert_eq!(groups.len(), n.div_ceil(MAX_ROWS));
        let mut next = 0;
        for &(first, len) in &groups {
            assert!(first == next && (1..=MAX_ROWS).contains(&len) && groups[0].1 - len <= 1);
            next += len;
        }
        assert_eq!(next, n);
    }
}
