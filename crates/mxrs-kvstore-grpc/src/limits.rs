//! The sizes that a server accepts. A request is checked against them before memory is taken for it.

/// The most bytes of a value in one frame.
pub const FRAME_BYTES: usize = 1 << 20;
/// The most bytes of an encoded message: a frame and its head.
pub const MESSAGE_BYTES: usize = FRAME_BYTES + (64 << 10);
/// The most bytes of a question, and of what a worker gives to a collection.
pub const CALL_BYTES: usize = 1 << 20;
/// The most bytes of the name of a key, and of a name or value of a setting.
pub const NAME_BYTES: usize = 4096;
/// The most settings of an updater.
pub const SETTINGS: usize = 4096;
/// The most axes of a value.
pub const AXES: usize = 32;
/// The most keys of a training.
pub const KEYS: usize = 1 << 20;
/// The most requests of one connection that a server works on at once.
pub const REQUESTS: u32 = 256;
/// The most bytes of the headers of a request.
pub const HEADER_BYTES: u32 = 16 << 10;
/// The most connections of one server.
pub const CONNECTIONS: usize = 4096;
