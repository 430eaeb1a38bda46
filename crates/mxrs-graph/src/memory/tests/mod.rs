//! The planner against the manual's words, its invariants and an interpreter that poisons freed bytes.

mod documented;
mod edge_cases;
mod interpreter;
mod parallel;
mod program;
mod properties;
