//! Samples of operators that update weights.

use mxrs_op::{Attrs, Fill, Sample, SampleInput};
use mxrs_types::Shape;

/// Bounds of the values that fill an input.
pub type Filled = (f64, f64);

fn input(shape: &[usize], (low, high): Filled) -> SampleInput {
    SampleInput { shape: Shape::from(shape), fill: Fill::Uniform(low, high), dtype: None }
}

/// Samples with one weight: one for each entry of `attrs`, and samples of other shapes with the first entry. `states` bounds
/// the values of the inputs after weight and gradient. `shared`, if given, bounds the value of a last input with one
/// element.
pub fn single(attrs: &[(&'static str, &[(&str, &str)])], states: &[Filled], shared: Option<Filled>) -> Vec<Sample> {
    let of = |name: &'static str, attrs: &[(&str, &str)], shape: &[usize]| {
        let tensors = [(-1.0, 1.0), (-2.0, 2.0)].iter().chain(states).map(|fill| input(shape, *fill));
        let inputs = tensors.chain(shared.map(|fill| input(&[1], fill))).collect();
        Sample { name, attrs: attrs.iter().copied().collect(), inputs, is_train: false }
    };
    let mut samples: Vec<Sample> = attrs.iter().map(|(name, attrs)| of(name, attrs, &[3, 5, 7])).collect();
    let first = attrs.first().map_or(&[][..], |(_, attrs)| attrs);
    samples.push(of("long", first, &[4099]));
    samples.push(of("scalar", first, &[]));
    samples.push(of("empty", first, &[3, 0]));
    samples
}

/// Samples with several weights. `lists` are attributes with one value per weight, and `count` is the key of the attribute
/// that holds the number of weights. `shared` fills vectors of one element per weight, or of a single element, after the
/// groups.
pub fn grouped(
    count: &'static str,
    lists: &[(&'static str, [&str; 3])],
    attrs: &[(&str, &str)],
    states: &[Filled],
    shared: &[(bool, Filled)],
) -> Vec<Sample> {
    let of = |name: &'static str, shapes: &[&[usize]], with: &[(&str, &str)]| {
        let n = shapes.len();
        let mut all: Attrs = with.iter().copied().collect();
        if !count.is_empty() {
            all.set(count, n.to_string());
        }
        for (key, values) in lists {
            let comma = if n == 1 { "," } else { "" };
            all.set(*key, format!("({}{comma})", values[..n].join(", ")));
        }
        let weights = shapes.iter().flat_map(|shape| {
            [(-1.0, 1.0), (-2.0, 2.0)].iter().chain(states).map(|fill| input(shape, *fill)).collect::<Vec<_>>()
        });
        let shared = shared.iter().map(|(one_each, fill)| input(&[if *one_each { n } else { 1 }], *fill));
        Sample { name, attrs: all, inputs: weights.chain(shared).collect(), is_train: false }
    };
    let without: Vec<(&str, &str)> = attrs.iter().copied().filter(|(key, _)| !key.starts_with("clip")).collect();
    vec![
        of("three", &[&[3, 5], &[4099], &[2, 1, 3]], attrs),
        of("two_unclipped", &[&[7], &[3, 4]], &without),
        of("one", &[&[5, 3]], attrs),
        of("one_empty", &[&[3, 0], &[2]], attrs),
    ]
}
