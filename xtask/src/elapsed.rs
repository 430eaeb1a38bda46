//! Formats durations: `0.4 s`, `12 s`, `3m05s`, `1h02m`.

use std::time::Duration;

/// Formats a duration; long durations are shown with coarser units.
pub fn show(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", duration.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_range_has_its_form() {
        assert_eq!(show(Duration::from_millis(420)), "0.4 s");
        assert_eq!(show(Duration::from_secs(12)), "12 s");
        assert_eq!(show(Duration::from_secs(185)), "3m05s");
        assert_eq!(show(Duration::from_secs(3720)), "1h02m");
    }
}
