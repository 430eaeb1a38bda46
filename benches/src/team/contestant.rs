//! Implementations of a loop on several threads: one thread alone, our team, rayon, OpenMP.

use super::openmp::OpenMp;
use super::work::measure;
use super::{Answer, Order, THREADS};
use anyhow::{Context, Result, bail};
use mxrs_sync::{Team, TeamConfig, affinity};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// A contestant; the variants are in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One thread runs both chunks (halves) of each loop.
    Serial,
    /// libgomp with default settings: idle threads spin for a while, then sleep.
    OpenMp,
    /// libgomp with idle threads that keep spinning.
    OpenMpActive,
    /// libgomp with idle threads that go to sleep soon.
    OpenMpPassive,
    /// `rayon::join`, called inside the pool.
    RayonJoin,
    /// `rayon::scope` with one spawn, called inside the pool.
    RayonScope,
    /// The team of threads of mxrs.
    Team,
}

impl Kind {
    /// All contestants. Ratios are relative to the second, OpenMP.
    pub const ALL: [Self; 7] = [
        Self::Serial,
        Self::OpenMp,
        Self::OpenMpActive,
        Self::OpenMpPassive,
        Self::RayonJoin,
        Self::RayonScope,
        Self::Team,
    ];

    /// Name of the contestant in the table and on the command line of its process.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::OpenMp => "OpenMP",
            Self::OpenMpActive => "OpenMP, active",
            Self::OpenMpPassive => "OpenMP, passive",
            Self::RayonJoin => "rayon join",
            Self::RayonScope => "rayon scope",
            Self::Team => "mxrs team",
        }
    }

    /// The contestant with this name.
    ///
    /// # Errors
    /// Fails if no contestant has this name.
    pub fn parse(word: &str) -> Result<Self> {
        match Self::ALL.into_iter().find(|kind| kind.word() == word) {
            Some(kind) => Ok(kind),
            None => bail!("no contestant is called {word}"),
        }
    }

    /// Whether the contestant needs the library of [`super::openmp::build`].
    pub const fn is_openmp(self) -> bool {
        matches!(self, Self::OpenMp | Self::OpenMpActive | Self::OpenMpPassive)
    }

    /// Environment variables of the contestant's process. libgomp reads them when it is loaded.
    pub fn variables(self, pin: bool) -> Vec<(&'static str, &'static str)> {
        let policy = match self {
            Self::OpenMpActive => Some(("OMP_WAIT_POLICY", "ACTIVE")),
            Self::OpenMpPassive => Some(("OMP_WAIT_POLICY", "PASSIVE")),
            _ => None,
        };
        let binding = (pin && self.is_openmp()).then_some(("OMP_PROC_BIND", "TRUE"));
        policy.into_iter().chain(binding).collect()
    }
}

/// A contestant that is ready to run.
pub enum Contestant {
    /// See [`Kind::Serial`].
    Serial,
    /// See [`Kind::Team`].
    Team(Arc<Team>),
    /// See [`Kind::RayonJoin`].
    RayonJoin(rayon::ThreadPool),
    /// See [`Kind::RayonScope`].
    RayonScope(rayon::ThreadPool),
    /// See [`Kind::OpenMp`].
    OpenMp(OpenMp),
}

impl Contestant {
    /// Starts a contestant in this process. With `pin`, each of its threads is tied to one CPU (OpenMP's threads by
    /// [`Kind::variables`]).
    ///
    /// # Errors
    /// Fails if the system refuses a thread or a CPU, or if OpenMP's library is not given or cannot be loaded.
    pub fn start(kind: Kind, openmp: Option<&Path>, pin: bool) -> Result<Self> {
        let cpus = if pin { affinity::current() } else { None };
        Ok(match kind {
            Kind::Serial => Self::Serial,
            Kind::Team => {
                let threads = NonZeroUsize::new(THREADS).context("a team has threads")?;
                let cpus = cpus.map(|cpus| cpus.into_iter().map(|cpu| vec![cpu]).collect());
                Self::Team(Team::new(TeamConfig { threads, cpus })?)
            }
            Kind::RayonJoin => Self::RayonJoin(pool(cpus)?),
            Kind::RayonScope => Self::RayonScope(pool(cpus)?),
            Kind::OpenMp | Kind::OpenMpActive | Kind::OpenMpPassive => {
                Self::OpenMp(OpenMp::load(openmp.context("OpenMP's loop was not compiled")?)?)
            }
        })
    }

    /// Runs one round.
    pub fn run(&self, order: Order) -> Answer {
        match self {
            Self::Serial => measure(order, |body| (0..THREADS).for_each(body)),
            Self::Team(team) => measure(order, |body| team.run(THREADS, body)),
            // Called from a thread of the pool, where a join is cheapest.
            Self::RayonJoin(pool) => pool.install(|| {
                measure(order, |body| {
                    rayon::join(|| body(0), || body(1));
                })
            }),
            Self::RayonScope(pool) => pool.install(|| {
                measure(order, |body| {
                    rayon::scope(|scope| {
                        scope.spawn(|_| body(1));
                        body(0);
                    });
                })
            }),
            Self::OpenMp(openmp) => measure(order, |body| openmp.run(THREADS, body)),
        }
    }
}

fn pool(cpus: Option<Vec<usize>>) -> Result<rayon::ThreadPool> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(THREADS).start_handler(move |thread| {
        if let Some(cpus) = &cpus
            && let Err(error) = affinity::pin_current(&[cpus[thread % cpus.len()]])
        {
            eprintln!("warning: {error}");
        }
    });
    Ok(builder.build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_who_needs_no_compiler_runs_a_round() {
        let order = Order { steps: 1000, n_loops: 20, gap_ns: 1000 };
        for kind in Kind::ALL.into_iter().filter(|kind| !kind.is_openmp()) {
            let answer = Contestant::start(kind, None, false).unwrap().run(order);
            assert!(answer.median_ns > 0.0 && answer.p90_ns >= answer.median_ns, "{kind:?}: {answer:?}");
        }
        assert!(Contestant::start(Kind::OpenMp, None, false).is_err());
    }

    #[test]
    fn words_lead_back_and_only_openmp_has_variables() {
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.word()).unwrap(), kind);
            assert!(kind.is_openmp() || kind.variables(true).is_empty());
        }
        assert_eq!(Kind::OpenMpPassive.variables(false), [("OMP_WAIT_POLICY", "PASSIVE")]);
        assert_eq!(Kind::OpenMp.variables(false), []);
    }
}
