//! Thread teams compared: loops of a few microseconds, shared by two threads.
//!
//! Each contestant lives in a process of its own ([`seat`]), stopped while others have their turn: a library whose idle
//! threads spin would otherwise take processor time from the next one. One round ([`Order`]) is a number of loops with a
//! pause after each, in which the calling thread is busy elsewhere, as it is between two operators.
//!
//! Read next: [`work`] for what a loop does, [`contestant`] for who takes part.

pub mod contestant;
pub mod openmp;
pub mod seat;
pub mod work;

pub use contestant::{Contestant, Kind};
pub use seat::Seat;

use anyhow::{Context, Result};
use std::fmt;
use std::str::FromStr;

/// Threads of every contestant, and chunks of every loop.
pub const THREADS: usize = 2;

/// One round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Steps of work in one loop, both chunks together.
    pub steps: u64,
    /// Loops.
    pub n_loops: usize,
    /// Nanoseconds between two loops.
    pub gap_ns: u64,
}

/// What a round took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Nanoseconds of the middle loop.
    pub median_ns: f64,
    /// Nanoseconds that nine of ten loops stay below.
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
