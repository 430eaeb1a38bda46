//! Compares thread teams on loops of a few microseconds, shared by two threads.
//!
//! Each contestant has a separate process ([`seat`]), which is stopped while others run: a library whose idle threads spin
//! would otherwise take processor time from the next one. One round ([`Order`]) is a number of loops with a pause after
//! each. In the pause the calling thread does other work, as it does between two operators.
//!
//! Read next: [`work`] for the body of a loop, [`contestant`] for the contestants.

pub mod contestant;
pub mod openmp;
pub mod seat;
pub mod work;

pub use contestant::{Contestant, Kind};
pub use seat::Seat;

use anyhow::{Context, Result};
use std::fmt;
use std::str::FromStr;

/// Number of threads of every contestant, and of chunks of every loop.
pub const THREADS: usize = 2;

/// The order to run one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Work of one loop, both chunks together, as a number of steps (see [`work::steps`]).
    pub steps: u64,
    /// Number of loops.
    pub n_loops: usize,
    /// Nanoseconds between two loops.
    pub gap_ns: u64,
}

/// Times of one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Median time of a loop, in nanoseconds.
    pub median_ns: f64,
    /// Time that nine of ten loops stay below, in nanoseconds.
    pub p90_ns: f64,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.steps, self.n_loops, self.gap_ns)
    }
}

impl FromStr for Order {
    type Err = anyhow::Error;

    fn from_str(line: &str) -> Result<Self> {
        let mut words = line.split_whitespace();
        let mut next = || words.next().context("three numbers make an order");
        Ok(Self { steps: next()?.parse()?, n_loops: next()?.parse()?, gap_ns: next()?.parse()? })
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.median_ns, self.p90_ns)
    }
}

impl FromStr for Answer {
    type Err = anyhow::Error;

    fn from_str(line: &str) -> Result<Self> {
        let (median, p90) = line.trim().split_once(' ').context("two numbers make an answer")?;
        Ok(Self { median_ns: median.parse()?, p90_ns: p90.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_answers_survive_the_pipe() {
        let order = Order { steps: 12_345, n_loops: 7, gap_ns: 10_000 };
        assert_eq!(order.to_string().parse::<Order>().unwrap(), order);
        let answer = Answer { median_ns: 1234.5, p90_ns: 2e6 };
        assert_eq!(format!("{answer}\n").parse::<Answer>().unwrap(), answer);
        assert!("1 2".parse::<Order>().is_err());
        assert!("".parse::<Answer>().is_err());
        assert!("1 x".parse::<Answer>().is_err());
    }
}
