//! Metrics of a server, in the text format of Prometheus.

use mxrs_sync::atomic::{AtomicU64, Ordering};
use std::fmt::Write;

/// The upper bounds of the buckets of the staleness histogram, in updates.
const STALENESS: [u64; 9] = [0, 1, 2, 4, 8, 16, 32, 64, 128];

/// Counters of a server. Each is written by one statement, so no lock is needed.
#[derive(Debug, Default)]
pub struct Metrics {
    pub updates: AtomicU64,
    pub duplicates: AtomicU64,
    pub pulls: AtomicU64,
    pub received_bytes: AtomicU64,
    pub sent_bytes: AtomicU64,
    pub refused_requests: AtomicU64,
    pub refused_connections: AtomicU64,
    pub snapshots: AtomicU64,
    pub failed_snapshots: AtomicU64,
    pub snapshot_ns: AtomicU64,
    pub update_ns: AtomicU64,
    staleness: [AtomicU64; STALENESS.len() + 1],
    staleness_sum: AtomicU64,
    staleness_max: AtomicU64,
}

/// Numbers that are read when the metrics are requested.
#[derive(Clone, Debug, Default)]
pub struct Gauges {
    pub n_keys: usize,
    pub value_bytes: u64,
    pub pending_bytes: u64,
    /// The seconds since each worker was last heard, by rank; `None` for a worker that is not there.
    pub silent_s: Vec<Option<f64>>,
}

pub fn count(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl Metrics {
    /// Counts an update by a gradient that was computed `staleness` updates ago.
    pub fn stale(&self, staleness: u64) {
        let class = STALENESS.iter().position(|end| staleness <= *end).unwrap_or(STALENESS.len());
        count(&self.staleness[class], 1);
        count(&self.staleness_sum, staleness);
        self.staleness_max.fetch_max(staleness, Ordering::Relaxed);
    }

    /// All numbers as text.
    pub fn text(&self, server: usize, gauges: &Gauges) -> String {
        let mut text = String::new();
        let mut put = |name: &str, kind: &str, help: &str, labels: &str, value: String| {
            // Writing to a `String` does not fail.
            let _ = writeln!(text, "# HELP mxrs_kvstore_{name} {help}\n# TYPE mxrs_kvstore_{name} {kind}");
            let _ = writeln!(text, "mxrs_kvstore_{name}{{server=\"{server}\"{labels}}} {value}");
        };
        for (name, help, counter) in [
            ("updates_total", "Updates of values.", &self.updates),
            ("duplicate_pushes_total", "Pushes that were sent again and not applied again.", &self.duplicates),
            ("pulls_total", "Values that were sent.", &self.pulls),
            ("received_bytes_total", "Bytes of gradients and first values.", &self.received_bytes),
            ("sent_bytes_total", "Bytes of values.", &self.sent_bytes),
            ("refused_requests_total", "Requests that were refused.", &self.refused_requests),
            ("refused_connections_total", "Connections without a valid handshake.", &self.refused_connections),
            ("snapshots_total", "Complete snapshots.", &self.snapshots),
            ("failed_snapshots_total", "Snapshots that could not be written.", &self.failed_snapshots),
        ] {
            put(name, "counter", help, "", get(counter).to_string());
        }
        for (name, help, counter) in [
            ("update_seconds_total", "Time from a complete gradient to the applied update.", &self.update_ns),
            ("snapshot_seconds_total", "Time for snapshots.", &self.snapshot_ns),
        ] {
            put(name, "counter", help, "", format!("{:.9}", get(counter) as f64 * 1e-9));
        }
        put("keys", "gauge", "Keys with a value.", "", gauges.n_keys.to_string());
        put("value_bytes", "gauge", "Bytes of all values.", "", gauges.value_bytes.to_string());
        put(
            "pending_bytes",
            "gauge",
            "Bytes of gradients that are not applied yet.",
            "",
            gauges.pending_bytes.to_string(),
        );
        put("staleness_max", "gauge", "The largest staleness so far.", "", get(&self.staleness_max).to_string());
        self.histogram(server, &mut text);
        let _ = writeln!(text, "# HELP mxrs_kvstore_worker_silence_seconds Time since the worker was last heard.");
        let _ = writeln!(text, "# TYPE mxrs_kvstore_worker_silence_seconds gauge");
        for (rank, silent) in gauges.silent_s.iter().enumerate() {
            if let Some(silent) = silent {
                let name = "mxrs_kvstore_worker_silence_seconds";
                let _ = writeln!(text, "{name}{{server=\"{server}\",worker=\"{rank}\"}} {silent:.3}");
            }
        }
        text
    }

    fn histogram(&self, server: usize, text: &mut String) {
        let name = "mxrs_kvstore_staleness_updates";
        let _ = writeln!(text, "# HELP {name} Updates of a value between the pull and the push of a worker.");
        let _ = writeln!(text, "# TYPE {name} histogram");
        let mut total = 0;
        for (class, n) in self.staleness.iter().enumerate() {
            total += get(n);
            let end = STALENESS.get(class).map_or("+Inf".to_owned(), u64::to_string);
            let _ = writeln!(text, "{name}_bucket{{server=\"{server}\",le=\"{end}\"}} {total}");
        }
        let _ = writeln!(text, "{name}_sum{{server=\"{server}\"}} {}", get(&self.staleness_sum));
        let _ = writeln!(text, "{name}_count{{server=\"{server}\"}} {total}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_that_of_prometheus() {
        let metrics = Metrics::default();
        [0, 0, 3, 1000].iter().for_each(|staleness| metrics.stale(*staleness));
        count(&metrics.updates, 4);
        let text = metrics.text(2, &Gauges { silent_s: vec![None, Some(1.5)], ..Gauges::default() });
        for line in [
            "mxrs_kvstore_updates_total{server=\"2\"} 4",
            "mxrs_kvstore_staleness_updates_bucket{server=\"2\",le=\"0\"} 2",
            "mxrs_kvstore_staleness_updates_bucket{server=\"2\",le=\"4\"} 3",
            "mxrs_kvstore_staleness_updates_bucket{server=\"2\",le=\"+Inf\"} 4",
            "mxrs_kvstore_staleness_updates_sum{server=\"2\"} 1003",
            "mxrs_kvstore_staleness_max{server=\"2\"} 1000",
            "mxrs_kvstore_worker_silence_seconds{server=\"2\",worker=\"1\"} 1.500",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is missing in\n{text}");
        }
        // Every sample has a help line and a type line before it.
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split('{').next().unwrap();
            let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            let is_told = |kind: &str| text.lines().any(|other| other.starts_with(&format!("# {kind} {family} ")));
            assert!(is_told("HELP") && is_told("TYPE"), "{line}");
        }
    }
}
