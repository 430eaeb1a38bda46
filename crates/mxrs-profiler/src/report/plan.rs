//! Memory plans, as the report draws them.

/// A temporary value in the arena of a bound graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// The name of the value.
    pub name: String,
    /// The first byte in the arena.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The first step that uses the value.
    pub first_step: u64,
    /// The last step that uses the value.
    pub last_step: u64,
}

/// The memory plan of a bound graph: where its temporary values are, and from which step to which.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MemoryPlan {
    /// The name of the graph.
    pub name: String,
    /// The size of the arena in bytes.
    pub arena_bytes: u64,
    /// The number of steps.
    pub n_steps: u64,
    /// The temporary values.
    pub rectangles: Vec<Rectangle>,
}
