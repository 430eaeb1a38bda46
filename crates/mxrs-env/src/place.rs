//! The rank of a process among those that a launcher has started. Launchers set variables with names of their own, which
//! are not settings of mxrs.

use crate::Snapshot;

/// The launchers that are known by the variables that they set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacedBy {
    /// Open MPI's `mpirun`.
    OpenMpi,
    /// A launcher that connects processes by PMI: `mpiexec` of MPICH or Intel MPI, or Slurm's `srun --mpi=pmi2`.
    Pmi,
    /// A launcher that connects processes by PMIx, as Open MPI needs it: Slurm's `srun --mpi=pmix`.
    Pmix,
    /// PyTorch's `torchrun`, or another launcher that sets the same variables.
    Torchrun,
}

/// The rank of a process among those that a launcher has started, and how many processes the launcher has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The launcher.
    pub by: PlacedBy,
    /// The rank of this process, from 0.
    pub rank: usize,
    /// How many processes the launcher has started; `None` if the launcher does not set this number.
    pub size: Option<usize>,
}

/// The variables with rank and size, by launcher. Launchers of MPI come first, because one of them may have started
/// `torchrun`; then the variables of both are set.
const VARIABLES: [(PlacedBy, &str, &str); 4] = [
    (PlacedBy::OpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    (PlacedBy::Pmi, "PMI_RANK", "PMI_SIZE"),
    (PlacedBy::Pmix, "PMIX_RANK", "SLURM_NTASKS"),
    (PlacedBy::Torchrun, "RANK", "WORLD_SIZE"),
];

impl Place {
    /// The place that the variables of a launcher give.
    pub(crate) fn of(snapshot: &Snapshot) -> Option<Self> {
        let number = |name: &str| snapshot.var(name)?.to_str()?.trim().parse().ok();
        VARIABLES.into_iter().find_map(|(by, rank, size)| Some(Self { by, rank: number(rank)?, size: number(size) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MapSource;

    #[test]
    fn launchers_are_known_by_their_variables() {
        let of = |vars: &[(&str, &str)]| Place::of(&Snapshot::take(&MapSource::new(vars.iter().copied())));
        let place = |by, rank, size| Some(Place { by, rank, size });
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("RANK", "two")]), None);
        assert_eq!(of(&[("RANK", "2"), ("WORLD_SIZE", "4")]), place(PlacedBy::Torchrun, 2, Some(4)));
        assert_eq!(of(&[("PMI_RANK", "1"), ("PMI_SIZE", "3"), ("RANK", "2")]), place(PlacedBy::Pmi, 1, Some(3)));
        let ompi = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2"), ("PMIX_RANK", "0")];
        assert_eq!(of(&ompi), place(PlacedBy::OpenMpi, 0, Some(2)));
        assert_eq!(of(&[("PMIX_RANK", "5")]), place(PlacedBy::Pmix, 5, None));
    }
}
