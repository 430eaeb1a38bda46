//! The candidates for running a convolution and their names. A candidate is an algorithm, its blocking if it works on
//! tiles, and a number of threads.

use crate::choose::Algorithm;
use crate::winograd::{Blocking, Schedule};
use std::fmt;
use std::str::FromStr;

/// One choice of algorithm, blocking and threads for a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The blocking of an algorithm on tiles; `None` is the suggested one.
    pub blocking: Option<Blocking>,
    /// Largest number of threads.
    pub threads: usize,
}

/// Writes a name such as `product@2`, `f4x4_3x3@2` or `f4x4_3x3/each/28x1@2`: algorithm, schedule, tiles and panels,
/// threads.
impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm.name())?;
        if let Some(Blocking { schedule, tiles, panels, .. }) = self.blocking {
            write!(f, "/{}/{tiles}x{panels}", word(schedule))?;
        }
        write!(f, "@{}", self.threads)
    }
}

impl FromStr for Candidate {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number = |text: &str| text.parse::<usize>().ok().filter(|n| (1..=MOST).contains(n)).ok_or(());
        let (what, threads) = text.rsplit_once('@').ok_or(())?;
        let threads = number(threads)?;
        let mut parts = what.split('/');
        let name = parts.next().unwrap_or_default();
        let algorithm = Algorithm::all().find(|algorithm| algorithm.name() == name).ok_or(())?;
        let blocking = match (parts.next(), parts.next(), parts.next()) {
            (None, ..) => None,
            (Some(schedule), Some(sizes), None) if algorithm.is_in_tiles() => {
                let schedule = SCHEDULES.into_iter().find(|known| word(*known) == schedule).ok_or(())?;
                let (tiles, panels) = sizes.split_once('x').ok_or(())?;
                Some(Blocking { schedule, tiles: number(tiles)?, panels: number(panels)?, threads })
            }
            _ => return Err(()),
        };
        Ok(Self { algorithm, blocking, threads })
    }
}

/// Largest number that is accepted in a name. No blocking has more tiles or panels.
const MOST: usize = 1 << 16;
const SCHEDULES: [Schedule; 2] = [Schedule::Independent, Schedule::Cooperative];

fn word(schedule: Schedule) -> &'static str {
    match schedule {
        Schedule::Independent => "each",
        Schedule::Cooperative => "together",
    }
}

/// Multiply-adds below which one thread may be faster than several.
const SMALL: f64 = 2e7;

/// Numbers of threads worth timing, the largest first.
pub fn thread_counts(most: usize, multiply_adds: f64) -> Vec<usize> {
    if most > 1 && multiply_adds < SMALL { vec![most, 1] } else { vec![most.max(1)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::winograd::Variant;

    #[test]
    fn a_name_says_all_there_is_to_a_way() {
        for algorithm in Algorithm::all() {
            for threads in [1, 2, 64] {
                let mut candidates = vec![Candidate { algorithm, blocking: None, threads }];
                if algorithm.is_in_tiles() {
                    candidates.extend(SCHEDULES.map(|schedule| {
                        let blocking = Blocking { schedule, tiles: 28, panels: 3, threads };
                        Candidate { algorithm, blocking: Some(blocking), threads }
                    }));
                }
                for candidate in candidates {
                    assert_eq!(candidate.to_string().parse(), Ok(candidate));
                }
            }
        }
    }

    #[test]
    fn other_names_are_refused() {
        let candidate = Candidate { algorithm: Algorithm::Winograd(Variant::F4), blocking: None, threads: 2 };
        assert_eq!("f4x4_3x3@2".parse(), Ok(candidate));
        for name in [
            "",
            "@",
            "product",
            "product@0",
            "product@x",
            "product@99999999",
            "product/each/28x1@2",
            "f4x4_3x3/each@2",
            "f4x4_3x3/each/28@2",
            "f4x4_3x3/each/0x1@2",
            "f4x4_3x3/each/28x1/1@2",
            "f4x4_3x3/some/28x1@2",
            "f9x9_3x3@2",
            "fft32x32@2",
        ] {
            assert_eq!(name.parse::<Candidate>(), Err(()), "{name}");
        }
    }

    #[test]
    fn only_small_problems_are_tried_with_one_thread() {
        assert_eq!(thread_counts(4, 1e6), [4, 1]);
        assert_eq!(thread_counts(4, 1e9), [4]);
        assert_eq!(thread_counts(1, 1e6), [1]);
    }
}
