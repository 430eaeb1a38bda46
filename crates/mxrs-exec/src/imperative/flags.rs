//! Two flags of a thread: whether it records calls, and whether operators run as in training. Scopes restore them.

use std::cell::Cell;
use std::marker::PhantomData;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Flags {
    recording: bool,
    training: bool,
}

// Not initialized by a `const` block, because Loom's version of the macro does not support that.
#[cfg(loom)]
mxrs_sync::thread_local! { static FLAGS: Cell<Flags> = Cell::new(Flags { recording: false, training: false }); }
#[cfg(not(loom))]
mxrs_sync::thread_local! {
    static FLAGS: Cell<Flags> = const { Cell::new(Flags { recording: false, training: false }) };
}

fn now() -> Flags {
    FLAGS.with(Cell::get)
}

/// Restores the thread's flags when it is dropped, even if a panic unwinds through the scope.
#[must_use = "the scope ends when this is dropped"]
pub struct FlagScope {
    before: Flags,
    /// Keeps the scope on the thread that made it.
    _thread: PhantomData<*const ()>,
}

impl Drop for FlagScope {
    fn drop(&mut self) {
        // While the thread ends, its flags may be gone already.
        let _ = FLAGS.try_with(|flags| flags.set(self.before));
    }
}

fn enter(change: impl FnOnce(Flags) -> Flags) -> FlagScope {
    let before = now();
    FLAGS.with(|flags| flags.set(change(before)));
    FlagScope { before, _thread: PhantomData }
}

/// Starts a scope in which this thread records calls on arrays and operators run as in training.
pub fn record() -> FlagScope {
    set(true, true)
}

/// Starts a scope in which this thread records nothing and operators run as at inference.
pub fn pause() -> FlagScope {
    set(false, false)
}

/// Starts a scope in which operators run as in training. Recording stays as it is.
pub fn train_mode() -> FlagScope {
    enter(|flags| Flags { training: true, ..flags })
}

/// Starts a scope in which operators run as at inference. Recording stays as it is.
pub fn predict_mode() -> FlagScope {
    enter(|flags| Flags { training: false, ..flags })
}

/// Starts a scope with these two flags.
pub fn set(recording: bool, training: bool) -> FlagScope {
    enter(|_| Flags { recording, training })
}

/// Whether this thread records calls.
pub fn is_recording() -> bool {
    now().recording
}

/// Whether operators of this thread run as in training.
pub fn is_training() -> bool {
    now().training
}

#[cfg(test)]
mod tests {
    use super::{is_recording, is_training, pause, predict_mode, record, train_mode};

    fn now() -> (bool, bool) {
        (is_recording(), is_training())
    }

    /// Rule A7: scopes restore the flags, in nested scopes and when a panic unwinds.
    #[test]
    fn a7_scopes_nest_and_restore() {
        assert_eq!(now(), (false, false));
        {
            let _record = record();
            assert_eq!(now(), (true, true));
            {
                let _predict = predict_mode();
                assert_eq!(now(), (true, false));
                let _pause = pause();
                let _train = train_mode();
                assert_eq!(now(), (false, true));
            }
            assert_eq!(now(), (true, true));
        }
        assert_eq!(now(), (false, false));
    }

    /// Rule A7: scopes restore the flags, in nested scopes and when a panic unwinds.
    #[test]
    fn a7_a_panic_restores_the_flags() {
        let caught = std::panic::catch_unwind(|| {
            let _record = record();
            let _predict = predict_mode();
            panic!("on purpose");
        });
        assert!(caught.is_err());
        assert_eq!(now(), (false, false));
    }

    /// Rule A8: each thread has its own flags.
    #[test]
    fn a8_flags_belong_to_the_thread() {
        let _record = record();
        let other = std::thread::spawn(now).join().unwrap();
        assert_eq!((other, now()), ((false, false), (true, true)));
    }
}
