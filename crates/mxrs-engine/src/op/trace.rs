//! The first frames of a backtrace, for errors that carry a bounded stack trace.

use std::backtrace::Backtrace;
use std::fmt::Display;

/// Parts of the names of frames that capture the backtrace or push the task; such frames say nothing about the caller.
const OWN_FRAMES: [&str; 3] = ["std::backtrace", "mxrs_engine::op::words", "mxrs_engine::push"];

/// The text `Stack trace:` and at most `depth` frames of the code that pushed a task, the innermost first.
pub(crate) fn stack_trace(place: &Backtrace, depth: usize) -> String {
    frames(place, depth)
}

/// The result of `stack_trace`, for anything that prints like a backtrace.
fn frames(place: &dyn Display, depth: usize) -> String {
    let text = place.to_string();
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        // A frame is a line like `   3: name`, in some cases followed by a line like `             at file:line`.
        match line.trim_start().split_once(": ") {
            Some((number, name)) if number.bytes().all(|byte| byte.is_ascii_digit()) => found.push(name.to_owned()),
            _ => {
                if let (Some(frame), Some(at)) = (found.last_mut(), line.trim_start().strip_prefix("at ")) {
                    *frame = format!("{frame} at {at}");
                }
            }
        }
    }
    let is_own = |frame: &String| OWN_FRAMES.iter().any(|own| frame.contains(own));
    let callers = found.iter().skip_while(|frame| is_own(frame)).take(depth).enumerate();
    let lines: Vec<String> = callers.map(|(i, frame)| format!("\n  [{i}] {frame}")).collect();
    format!("Stack trace:{}", lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_those_of_the_caller_and_no_more_than_asked_for() {
        let text = "   0: std::backtrace::Backtrace::create\n   1: mxrs_engine::op::words::OpName::traced\n             at /x/words.rs:58:9\n   \
                    2: train::step\n             at /x/train.rs:7:1\n   3: train::main\n   4: main\n";
        assert_eq!(frames(&text, 2), "Stack trace:\n  [0] train::step at /x/train.rs:7:1\n  [1] train::main");
        assert_eq!(frames(&text, 9).lines().count(), 1 + 3, "all there are");
        assert_eq!(frames(&"disabled backtrace", 3), "Stack trace:");
    }
}
