//! Thresholds against those of MXNet's own calibration of the same networks with the same images.

use crate::mxnet::{LENET, RESNET8, Row};
use crate::{feed, images, load, machine};
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

/// Values differ in the last bits, and so do histograms: a threshold may be off by a few of some 4000 bins. Where two
/// thresholds are about equally good either may win.
fn entropy(dtype: QuantizedDType, mxnet: impl Fn(&Row) -> f32) {
    let mut far = Vec::new();
    for (name, rows) in [("lenet", LENET), ("resnet8", RESNET8)] {
        let table = calibrate(name, rows, CalibMode::Entropy, dtype);
        for row in rows {
            let (threshold, range) = (mxnet(row), table.get(row.0).unwrap());
            if (range.max - threshold).abs() > 2e-3 * threshold {
                far.push(format!("{name} {}: {range:?}, MXNet {threshold}", row.0));
            }
            let is_unsigned = row.1 >= 0.0 && dtype != QuantizedDType::Int8;
            assert_eq!(range.min, if is_unsigned { 0.0 } else { -range.max }, "{}", row.0);
        }
    }
    assert!(far.is_empty(), "{}", far.join("\n"));
}

#[test]
fn entropy_thresholds_for_int8_are_those_of_mxnet() {
    entropy(QuantizedDType::Int8, |row| row.3);
}

#[test]
fn entropy_thresholds_for_auto_are_those_of_mxnet() {
    entropy(QuantizedDType::Auto, |row| row.4);
}
