//! The output of workers, line by line, each with its worker and the time.

use std::io::{BufRead, BufReader, Read, Write};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the lines of a stream go.
#[derive(Clone, Copy, Debug)]
pub enum To {
    /// The standard output of this program.
    Out,
    /// The standard error of this program.
    Err,
}

/// Starts a thread that copies the lines of a stream, each with `[worker R HH:MM:SS.mmm]` before it (UTC). Lines of several
/// processes are not mixed. `name` is `worker R` or `server R`; `None` for a program that marks the lines itself.
pub fn forward(stream: impl Read + Send + 'static, name: Option<String>, to: To) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            if !line.ends_with(b"\n") {
                line.push(b'\n');
            }
            let mark = name.as_ref().map_or(String::new(), |name| format!("[{name} {}] ", clock(SystemTime::now())));
            // If the program that reads this output has ended, the lines are dropped, so that the workers do not block.
            let _ = match to {
                To::Out => write(&mut std::io::stdout().lock(), &mark, &line),
                To::Err => write(&mut std::io::stderr().lock(), &mark, &line),
            };
            line.clear();
        }
    })
}

fn write(out: &mut impl Write, mark: &str, line: &[u8]) -> std::io::Result<()> {
    out.write_all(mark.as_bytes())?;
    out.write_all(line)?;
    out.flush()
}

/// The time of day in UTC.
fn clock(now: SystemTime) -> String {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let seconds = since.as_secs() % (24 * 60 * 60);
    format!("{:02}:{:02}:{:02}.{:03}", seconds / 3600, seconds / 60 % 60, seconds % 60, since.subsec_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_shows_the_time_of_day() {
        let at = |millis| clock(UNIX_EPOCH + Duration::from_millis(millis));
        assert_eq!(at(0), "00:00:00.000");
        // 2026-11-27 03:04:05.678 UTC.
        assert_eq!(at(1_795_748_645_678), "03:04:05.678");
    }
}
