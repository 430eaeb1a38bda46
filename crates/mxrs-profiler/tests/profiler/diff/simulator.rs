//! Simulates traces of runs: known times with added noise, drift and outliers.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::path::Path;

/// A generator of random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// A number from 0 to less than 1.
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A normally distributed number with mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (TAU * self.uniform()).cos()
    }
}

/// The operators of a network: the name, the number of nodes, and the microseconds per iteration.
pub type Network = [(&'static str, usize, f64)];

/// ResNet-50 after fusion of operators: nearly all time is in convolutions.
pub const FUSED: &Network =
    &[("Convolution", 53, 48_000.0), ("Pooling", 2, 800.0), ("FullyConnected", 1, 700.0), ("softmax", 1, 20.0)];
/// ResNet-50 without fusion, one call per operator.
pub const PLAIN: &Network = &[
    ("Convolution", 53, 50_000.0),
    ("BatchNorm", 53, 6000.0),
    ("Activation", 49, 3000.0),
    ("elemwise_add", 16, 2000.0),
    ("Pooling", 2, 800.0),
    ("FullyConnected", 1, 700.0),
    ("Flatten", 1, 5.0),
    ("softmax", 1, 20.0),
];

/// How a simulated run is disturbed. Most fields are standard deviations of logarithms of times.
#[derive(Clone, Copy)]
pub struct Noise {
    /// The noise of each call.
    pub call: f64,
    /// The drift of the machine's speed within a run. Speeds are correlated over about ten iterations.
    pub drift: f64,
    /// The change of the machine's speed from run to run.
    pub machine: f64,
    /// The change of each node and of each operator from run to run.
    pub run: f64,
    /// The part of the calls that take ten times as long.
    pub outliers: f64,
    /// How often another program interrupts, per millisecond. An interruption makes a call 1.3 to 4 times as long. Long
    /// calls are hit more often than short ones.
    pub interruptions: f64,
    /// The part of the iterations, from the first one on, in which every call waits for a processor. Long calls wait for
    /// longer.
    pub starved: f64,
}

impl Noise {
    /// Strong disturbances of all kinds, except that the noise of single calls is `call`.
    pub fn of_calls(call: f64) -> Self {
        Self { call, drift: 0.1, machine: 0.1, run: 0.005, outliers: 0.02, interruptions: 0.0, starved: 0.0 }
    }
}

/// The name of a node.
pub fn node(operator: &str, number: usize) -> String {
    format!("{}{number}", operator.to_lowercase())
}

/// The calls of each iteration of a run, one after another, each with operator, node and time. `factor` gives the factor by
/// which a node's time differs in this run.
pub fn run(
    random: &mut Random,
    network: &Network,
    n_iterations: usize,
    noise: Noise,
    factor: impl Fn(&str, usize) -> f64,
) -> Vec<Vec<(String, String, f64)>> {
    let mut levels = Vec::new();
    for (operator, n_nodes, us) in network {
        let of_operator = noise.run * random.normal();
        for number in 0..*n_nodes {
            // The times of the nodes of one operator differ by up to a factor of 7.
            let size = ((number * 37 % 20) as f64 / 10.0 - 1.0) + (us / *n_nodes as f64).ln();
            let level = size + of_operator + noise.run * random.normal() + factor(operator, number).ln();
            levels.push((*operator, node(operator, number), level));
        }
    }
    // Sorts the calls so that different operators alternate, as in a network.
    levels.sort_by_key(|(operator, node, _)| {
        (node.trim_start_matches(|c: char| !c.is_ascii_digit()).len(), node.clone(), *operator)
    });
    let of_run = noise.machine * random.normal();
    let (mut drift, memory) = (noise.drift * random.normal(), (-0.1_f64).exp());
    let mut iterations = Vec::new();
    for iteration in 0..n_iterations {
        // The first iteration of a run is slower, as in real runs.
        let machine = of_run + drift + if iteration == 0 { 0.4 } else { 0.0 };
        drift = memory * drift + (1.0 - memory * memory).sqrt() * noise.drift * random.normal();
        let mut calls = Vec::new();
        for (operator, node, level) in &levels {
            let outlier = if random.uniform() < noise.outliers { 10.0 } else { 1.0 };
            let us = (level + machine + noise.call * random.normal()).exp() * outlier;
            let is_interrupted = random.uniform() < 1.0 - (-noise.interruptions * us / 1000.0).exp();
            let us = if is_interrupted { us * (1.3 + 2.7 * random.uniform()) } else { us };
            let is_starved = (iteration as f64) < noise.starved * n_iterations as f64;
            let us = if is_starved { us * (1.0 + us / 100.0 * random.normal().exp()) } else { us };
            calls.push(((*operator).to_owned(), node.clone(), us));
        }
        iterations.push(calls);
    }
    iterations
}

/// A trace of these calls in the format of this profiler. The calls alternate between two threads, and each iteration is
/// inside a segment.
pub fn trace(iterations: &[Vec<(String, String, f64)>]) -> String {
    let mut text =
        "{\"traceEvents\":[\n{\"ph\":\"M\",\"args\":{\"name\":\"cpu/0\"},\"pid\":0,\"name\":\"process_name\"}"
            .to_owned();
    let mut at = 1000.0;
    for (number, calls) in iterations.iter().enumerate() {
        let (thread, begin) = (number % 2 + 1, at);
        for (operator, node, us) in calls {
            at += 0.5;
            let _ = write!(
                text,
                ",\n{{\"name\":\"{operator}\",\"cat\":\"operator\",\"ph\":\"B\",\"ts\":{at:.3},\"pid\":0,\"tid\":{thread},\
                 \"args\":{{\"node\":\"{node}\",\"flops\":7}}}}"
            );
            at += us;
            let _ = write!(
                text,
                ",\n{{\"name\":\"{operator}\",\"cat\":\"operator\",\"ph\":\"E\",\"ts\":{at:.3},\"pid\":0,\"tid\":{thread}}}"
            );
        }
        at += 20.0;
        for (ph, ts) in [("B", begin), ("E", at)] {
            let _ = write!(
                text,
                ",\n{{\"name\":\"segment\",\"cat\":\"segment\",\"ph\":\"{ph}\",\"ts\":{ts:.3},\"pid\":0,\"tid\":{thread}}}"
            );
        }
    }
    text.push_str(
        "\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"zero_unix_ns\":\"5\",\"dropped_records\":\"0\"}\n}\n",
    );
    text
}

/// Writes the trace of a run.
pub fn write(path: &Path, iterations: &[Vec<(String, String, f64)>]) {
    std::fs::write(path, trace(iterations)).unwrap();
}
