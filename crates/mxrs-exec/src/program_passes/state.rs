//! The state that program passes transform: a program, and the parts of its memory that are planned so far.

use super::pack::Preparation;
use super::plan_memory::plan;
use crate::program::Program;
use crate::ready::Labels;
use mxrs_graph::{MemoryPlan, PlanOptions};
use mxrs_types::Result;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The state between two program passes.
pub struct ProgramState {
    /// The program.
    pub program: Arc<Program>,
    /// The order and memory of the prepare steps, from the `pack` pass on.
    pub preparation: Option<Arc<Preparation>>,
    /// The memory plan of exactly this program, if a pass has needed it.
    plan: OnceLock<MemoryPlan>,
    planning_time: OnceLock<Duration>,
}

/// A program with its memory plan: the result of all passes of binding. The program has no memory yet. Any number of [ready
/// programs](crate::ready::ReadyProgram) can be made from it.
pub struct Planned {
    /// The program after the last pass.
    pub program: Arc<Program>,
    /// The memory plan of the temporary values.
    pub plan: Arc<MemoryPlan>,
    /// The order and memory of the prepare steps.
    pub preparation: Arc<Preparation>,
    /// The labels under which a profiler records the steps.
    pub labels: Arc<Labels>,
}

impl ProgramState {
    /// The state of a program that was just lowered.
    pub fn new(program: Arc<Program>) -> Self {
        Self { program, preparation: None, plan: OnceLock::new(), planning_time: OnceLock::new() }
    }

    /// This state with another program that has the same prepare steps.
    pub fn with_program(&self, program: Program) -> Self {
        Self { preparation: self.preparation.clone(), ..Self::new(Arc::new(program)) }
    }

    /// This state with another program whose memory plan is known already.
    pub fn with_plan(&self, program: Program, plan: MemoryPlan) -> Self {
        Self { plan: plan.into(), ..self.with_program(program) }
    }

    /// This state with ordered prepare steps and their memory. `program` differs only in the order of the prepare steps.
    pub fn with_preparation(&self, program: Arc<Program>, preparation: Preparation) -> Self {
        let (plan, planning_time) = (self.plan.clone(), self.planning_time.clone());
        Self { program, preparation: Some(Arc::new(preparation)), plan, planning_time }
    }

    /// The memory plan of this program. It is made once, and logged only with [`PlanOptions::verbose`].
    ///
    /// # Errors
    /// Returns the errors of the planner.
    pub fn plan(&self, options: &PlanOptions) -> Result<&MemoryPlan> {
        if let Some(plan) = self.plan.get().filter(|_| !options.verbose) {
            return Ok(plan);
        }
        let start = Instant::now();
        let plan = plan(&self.program, options)?;
        self.planning_time.get_or_init(|| start.elapsed());
        Ok(self.plan.get_or_init(|| plan))
    }

    /// How long [`Self::plan`] took to make the plan; `None` if it made none, because a pass supplied it.
    pub fn planning_time(&self) -> Option<Duration> {
        self.planning_time.get().copied()
    }

    /// The program with its plans, at the end of the pipeline.
    ///
    /// # Errors
    /// Returns the errors of the planner if no pass has planned the program.
    pub fn into_planned(self, options: &PlanOptions) -> Result<Planned> {
        self.plan(&PlanOptions { verbose: false, ..*options })?;
        let preparation = match self.preparation {
            Some(preparation) => preparation,
            None => Arc::new(Preparation::new(&self.program)?),
        };
        let plan = self.plan.into_inner().map_or_else(|| plan(&self.program, options), Ok)?;
        let plan = Arc::new(plan);
        let labels = Arc::new(Labels::new(&self.program, &plan));
        Ok(Planned { program: self.program, plan, preparation, labels })
    }
}
