//! Compares the planner with the manual, its invariants, and an interpreter that overwrites freed bytes.

mod documented;
mod edge_cases;
mod interpreter;
mod parallel;
mod program;
mod properties;
