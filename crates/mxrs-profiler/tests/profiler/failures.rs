//! Files that cannot be written.

use crate::{Turn, names, operator};
use mxrs_profiler::{Config, Profiler, State};

#[test]
fn a_path_that_cannot_be_written_is_an_error_of_the_start() {
    let turn = Turn::take();
    std::fs::create_dir(turn.path("folder")).unwrap();
    for name in ["no/such/folder.json", "folder"] {
        let profiler = Profiler::new(Config { filename: turn.path(name), ..turn.config() }).unwrap();
        let error = profiler.set_state(State::Run).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
        assert_eq!(profiler.state(), State::Stop);
        // After the error, the profiler can start with another file name.
        profiler.set_config(turn.config()).unwrap();
        profiler.set_state(State::Run).unwrap();
        operator("x", || ());
        profiler.dump(true).unwrap();
        assert_eq!(names(&turn.path("t.json")), ["x"]);
    }
    let profiler = Profiler::new(Config { perfetto: Some(turn.path("no/p")), ..turn.config() }).unwrap();
    let error = profiler.set_state(State::Run).unwrap_err().to_string();
    assert!(error.contains("no/p"), "{error}");
}

/// If a file of a dump cannot be written, the error names it, the other files are written, and the old content of the file
/// stays.
#[test]
fn a_file_of_a_dump_that_cannot_be_written_does_not_keep_the_others() {
    let turn = Turn::take();
    let config = Config {
        folded: Some(turn.path("no/stacks.txt")),
        report: Some(turn.path("report.html")),
        memory_csv_prefix: Some(turn.path("mem")),
        ..turn.config()
    };
    let profiler = turn.running(config);
    operator("x", || ());
    let error = profiler.dump(true).unwrap_err().to_string();
    assert!(error.contains("stacks.txt"), "{error}");
    assert_eq!(names(&turn.path("t.json")), ["x"]);
    assert!(std::fs::read_to_string(turn.path("report.html")).unwrap().ends_with("</html>\n"));
    assert!(turn.path(&format!("mem-pid_{}.csv", std::process::id())).exists());
}

/// `/dev/full` is a device that is always full. (`trace::file` has tests of a disk that fills while the trace grows.)
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let turn = Turn::take();
    let profiler = Profiler::new(Config { filename: "/dev/full".into(), ..turn.config() }).unwrap();
    let error = profiler.set_state(State::Run).unwrap_err().to_string();
    assert!(error.contains("/dev/full") && error.contains("space"), "{error}");
    profiler.set_config(Config { perfetto: Some("/dev/full".into()), ..turn.config() }).unwrap();
    assert!(profiler.set_state(State::Run).is_err());
    profiler.set_config(turn.config()).unwrap();
    profiler.set_state(State::Run).unwrap();
}
