//! Speed of products of matrices in float32 or bfloat16: mxrs, OpenBLAS and oneDNN, each in a separate process. OpenBLAS takes
//! part in float32 only.
//!
//! The products ([`shapes`]) are in one list, `shapes.txt`. For each product every library ([`library`]) prepares it and its
//! result is checked; then the libraries take turns ([`contest`]): in every round each runs for a fraction of a second while
//! the others are stopped. The tables ([`tables`]) give the ratio for each product, the geometric mean and the worst.

pub mod contest;
pub mod library;
pub mod onednn;
pub mod openblas;
pub mod operands;
pub mod ours;
pub mod shapes;
pub mod tables;

use clap::ValueEnum;

/// A library that multiplies matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// mxrs, this library.
    Mxrs,
    /// OpenBLAS.
    Openblas,
    /// oneDNN.
    Onednn,
}

impl Peer {
    /// All libraries.
    pub const ALL: [Self; 3] = [Self::Mxrs, Self::Openblas, Self::Onednn];

    /// Name on the command line and in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::Mxrs => "mxrs",
            Self::Openblas => "openblas",
            Self::Onednn => "onednn",
        }
    }

    /// Name in tables.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Mxrs => "mxrs",
            Self::Openblas => "OpenBLAS",
            Self::Onednn => "oneDNN",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_command_line() {
        assert_eq!(Peer::ALL, Peer::value_variants());
        for peer in Peer::ALL {
            assert_eq!(Peer::from_str(peer.key(), false), Ok(peer));
        }
    }
}
