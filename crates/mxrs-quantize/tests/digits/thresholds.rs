//! Compares thresholds with those of MXNet's calibration of the same networks with the same images.

use crate::mxnet::{LENET, RESNET8, Row};
use crate::{feed, images, load, machine};
use mxrs_exec::Executor;
use mxrs_graph::select_outputs;
use mxrs_ndarray::NdArray;
use mxrs_quantize::calibrate::entropy::divergences;
use mxrs_quantize::calibrate::histogram::Histogram;
use mxrs_quantize::{CalibMode, CalibrationTable, Calibrator, QuantizedDType};

fn calibrate(name: &str, rows: &[Row], mode: CalibMode, dtype: QuantizedDType) -> CalibrationTable {
    let net = load(name);
    let (context, options) = machine();
    let values: Vec<String> = rows.iter().map(|row| row.0.to_owned()).collect();
    let mut calibrator = Calibrator::new(&net.graph, &net.params, &values, mode, dtype, &context, &options).unwrap();
    feed(&mut calibrator, &images(297)).unwrap();
    let table = calibrator.finish().unwrap();
    assert_eq!((table.examples, table.ranges.len()), (297, rows.len()));
    table
}

#[test]
fn naive_ranges_are_those_of_mxnet() {
    for (name, rows) in [("lenet", LENET), ("resnet8", RESNET8)] {
        let table = calibrate(name, rows, CalibMode::Naive, QuantizedDType::Auto);
        for &(value, min, max, ..) in rows {
            let range = table.get(value).unwrap();
            let tolerance = 1e-5 * max.abs().max(min.abs());
            assert!((range.min - min).abs() <= tolerance && (range.max - max).abs() <= tolerance, "{value}: {range:?}");
        }
    }
}

/// The histogram of a value of the float network.
fn histogram(name: &str, value: &str) -> Histogram {
    let net = load(name);
    let (context, options) = machine();
    let params = net.params.iter().map(|(name, tensor)| {
        let dense = tensor.as_dense().unwrap();
        let array = NdArray::from_bytes(&context, dense.shape().clone(), dense.dtype(), dense.bytes());
        (name.clone(), array.unwrap())
    });
    let params = params.collect();
    let graph = select_outputs(&net.graph, &[value]).unwrap();
    let executor = Executor::bind(&graph, &context, &[("data", [27, 1, 28, 28].into())], &params, &options).unwrap();
    let mut histogram = Histogram::default();
    for rows in images(297).rows.chunks_exact(27 * 784) {
        executor.argument("data").unwrap().copy_from(rows).unwrap();
        executor.forward().unwrap();
        let values = executor.outputs()[0].to_vec::<f32>().unwrap();
        histogram.add(&values, values.iter().fold(0.0, |most, value| f64::from(value.abs()).max(most)));
    }
    histogram
}

/// Compares entropy thresholds. MXNet computes divergences in float32, so its threshold may differ from that of mxrs. The
/// divergence at MXNet's threshold must then be close to that at the threshold of mxrs (float32 sums of 8001 terms have
/// errors of about 1e-5), and not smaller.
fn entropy(dtype: QuantizedDType, mxnet: impl Fn(&Row) -> f32) {
    let mut n_others = 0;
    for (name, rows) in [("lenet", LENET), ("resnet8", RESNET8)] {
        let table = calibrate(name, rows, CalibMode::Entropy, dtype);
        for row in rows {
            let (threshold, found) = (mxnet(row), table.ranges[row.0]);
            let is_unsigned = row.1 >= 0.0 && dtype != QuantizedDType::Int8;
            assert_eq!(found.range.min, if is_unsigned { 0.0 } else { -found.range.max }, "{}", row.0);
            if (found.range.max - threshold).abs() <= 2e-3 * threshold {
                continue;
            }
            n_others += 1;
            let all = divergences(&histogram(name, row.0), if is_unsigned { 511 } else { 255 });
            let distance = |at: &&(f64, f64)| (at.0 - f64::from(threshold)).abs();
            let nearest = all.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
            let (ours, theirs) = (f64::from(found.divergence.unwrap()), nearest.1);
            println!("{name} {}: {} {ours}, MXNet {threshold} {theirs}", row.0, found.range.max);
            assert!(theirs >= ours - 1e-9 && theirs <= ours + 1e-4, "{name} {}: {ours}, MXNet's {theirs}", row.0);
        }
    }
    assert!(n_others <= 6, "{n_others} thresholds of 29 are not MXNet's");
}

#[test]
fn entropy_thresholds_for_int8_are_those_of_mxnet() {
    entropy(QuantizedDType::Int8, |row| row.3);
}

#[test]
fn entropy_thresholds_for_auto_are_those_of_mxnet() {
    entropy(QuantizedDType::Auto, |row| row.4);
}
