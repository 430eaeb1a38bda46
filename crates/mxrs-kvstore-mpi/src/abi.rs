//! The binary interfaces of MPI libraries: the values of handles and constants, and the layout of a status.

/// A binary interface (ABI) of MPI libraries.
///
/// Handles are passed as numbers of the size of a pointer. In MPICH's interface a handle is a C `int`. As an argument it is
/// in the same register, and in memory it takes the first four bytes of a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Abi {
    /// Open MPI 4 and 5: handles are the addresses of variables of the library.
    OpenMpi,
    /// MPICH 3.1 and later, Intel MPI, Cray MPI, MVAPICH: handles are fixed numbers.
    Mpich,
    /// The standard interface of MPI 5: handles are fixed numbers, other than those of MPICH.
    Standard,
}

/// The values of an interface whose handles are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub comm_world: usize,
    pub byte: usize,
    pub errors_return: usize,
    pub float: usize,
    pub sum: usize,
}

impl Abi {
    /// All interfaces, in the order in which their libraries are tried. Open MPI is first because it is the usual library on
    /// clusters.
    pub const ALL: [Self; 3] = [Self::OpenMpi, Self::Mpich, Self::Standard];

    /// Names of the libraries, as the dynamic linker finds them.
    pub fn libraries(self) -> &'static [&'static str] {
        match self {
            Self::OpenMpi => &["libmpi.so.40", "libmpi.so.80"],
            Self::Mpich => &["libmpich.so.12", "libmpi.so.12", "libmpi_cray.so.12"],
            Self::Standard => &["libmpi_abi.so.1", "libmpi_abi.so.0"],
        }
    }

    /// The numbers of handles; `None` if handles are addresses.
    pub(crate) fn numbers(self) -> Option<Numbers> {
        match self {
            Self::OpenMpi => None,
            Self::Mpich => Some(Numbers {
                comm_world: 0x4400_0000,
                byte: 0x4c00_010d,
                errors_return: 0x5400_0001,
                float: 0x4c00_040a,
                sum: 0x5800_0003,
            }),
            Self::Standard => {
                Some(Numbers { comm_world: 0x101, byte: 0x247, errors_return: 0x143, float: 0x210, sum: 0x21 })
            }
        }
    }

    /// `MPI_ANY_SOURCE`.
    pub(crate) fn any_source(self) -> i32 {
        if self == Self::Mpich { -2 } else { -1 }
    }

    /// `MPI_THREAD_SERIALIZED`.
    pub(crate) fn thread_serialized(self) -> i32 {
        if self == Self::Standard { 2048 } else { 2 }
    }

    /// The position of `MPI_SOURCE` in a status, in units of a C `int`.
    pub(crate) fn source_in_status(self) -> usize {
        if self == Self::Mpich { 2 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of `mpi.h` of MPICH 4.0.2 and 5.0.2, and of `mpi_abi.h` of MPICH 5.0.2.
    #[test]
    fn numbers_are_those_of_the_headers() {
        let mpich = Abi::Mpich.numbers().unwrap();
        assert_eq!((mpich.comm_world, mpich.byte, mpich.errors_return), (0x44000000, 0x4c00010d, 0x54000001));
        assert_eq!((mpich.float, mpich.sum), (0x4c00040a, 0x58000003));
        let standard = Abi::Standard.numbers().unwrap();
        assert_eq!((standard.comm_world, standard.byte, standard.errors_return), (0x101, 0x247, 0x143));
        assert_eq!((standard.float, standard.sum), (0x210, 0x21));
        assert_eq!(Abi::ALL.map(Abi::any_source), [-1, -2, -1]);
        assert_eq!(Abi::ALL.map(Abi::thread_serialized), [2, 2, 2048]);
    }
}
