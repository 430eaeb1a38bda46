//! Which inputs a call with so many weights rewrites, and which outputs may be which inputs: tables, because an operator
//! answers with lists that live for ever. Lists for fewer weights are the beginning of those for the most.

/// Weights that one call may update.
pub const MAX_WEIGHTS: usize = 60;

/// Rewritten inputs of a group at most: states and the master weight.
const MAX_REWRITTEN: usize = 4;

struct Of<const STRIDE: usize>;

impl<const STRIDE: usize> Of<STRIDE> {
    /// All but the first two of every group.
    const REWRITTEN: [usize; MAX_WEIGHTS * MAX_REWRITTEN] = {
        let mut table = [0; MAX_WEIGHTS * MAX_REWRITTEN];
        let per_group = STRIDE - 2;
        let mut i = 0;
        while i < MAX_WEIGHTS * per_group {
            table[i] = i / per_group * STRIDE + 2 + i % per_group;
            i += 1;
        }
        table
    };

    /// A weight and its output.
    const PAIRS: [(usize, usize); MAX_WEIGHTS] = {
        let mut table = [(0, 0); MAX_WEIGHTS];
        let mut i = 0;
        while i < MAX_WEIGHTS {
            table[i] = (i * STRIDE, i);
            i += 1;
        }
        table
    };
}

/// Inputs that `n` groups of `STRIDE` rewrite.
pub fn rewritten<const STRIDE: usize>(n: usize) -> &'static [usize] {
    &Of::<STRIDE>::REWRITTEN[..n.min(MAX_WEIGHTS) * (STRIDE - 2)]
}

/// Pairs (weight, output) of `n` groups of `STRIDE`.
pub fn pairs<const STRIDE: usize>(n: usize) -> &'static [(usize, usize)] {
    &Of::<STRIDE>::PAIRS[..n.min(MAX_WEIGHTS)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_follow_each_other() {
        assert_eq!(rewritten::<4>(2), [2, 3, 6, 7]);
        assert_eq!(rewritten::<2>(60), []);
        assert_eq!(rewritten::<3>(3), [2, 5, 8]);
        assert_eq!(pairs::<3>(2), [(0, 0), (3, 1)]);
        assert_eq!(rewritten::<6>(60).last(), Some(&(59 * 6 + 5)));
    }
}
