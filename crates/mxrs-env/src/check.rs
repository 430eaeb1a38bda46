//! Checks and hints that concern more than one variable, and unknown names.

use crate::resolve::{Resolver, invalid};
use crate::{ALIASES, OneDnnSettings, PoolDevice, PoolSettings, ProfilerSettings, Row, Warning, WarningKind, registry};
use mxrs_types::{Error, PoolKind};

/// Names that tools of the project read. A user who has set them for these tools gets no warning.
const NAMES_OF_TOOLS: &[&str] = &["MXRS_COMMIT", "MXRS_ONEDNN_CACHE", "MXRS_SKIPPED_FILE"];

/// The errors of pool settings that contradict each other: under Round the page size must be a power of two, and the cutoff
/// must not be below it.
pub(crate) fn pool_errors(pools: &PoolSettings) -> Vec<Error> {
    let mut errors = Vec::new();
    for device in PoolDevice::ALL {
        let prefix = match device {
            PoolDevice::Gpu => "MXNET_GPU",
            PoolDevice::Cpu => "MXNET_CPU",
            PoolDevice::CpuPinned => "MXNET_CPU_PINNED",
        };
        let pool = pools.as_written(device);
        let page_name = format!("{prefix}_MEM_POOL_PAGE_SIZE");
        if pool.kind != PoolKind::Round {
            continue;
        }
        if !pool.page_bytes.is_power_of_two() {
            let expected = format!("a power of two, because {prefix}_MEM_POOL_TYPE is Round");
            errors.push(invalid(&page_name, &pool.page_bytes.to_string(), &expected));
            continue;
        }
        let page_log2 = pool.page_bytes.trailing_zeros();
        if u32::from(pool.linear_cutoff) < page_log2 {
            let name = format!("{prefix}_MEM_POOL_ROUND_LINEAR_CUTOFF");
            let expected = format!("an integer >= {page_log2}, the log2 of {page_name}={}", pool.page_bytes);
            errors.push(invalid(&name, &pool.linear_cutoff.to_string(), &expected));
        }
    }
    errors
}

/// Adds hints about values that work, but perhaps not as the user expects.
pub(crate) fn hints(resolver: &mut Resolver<'_>, profiler: &ProfilerSettings, onednn: &OneDnnSettings) {
    let mut hint = |name: &str, text: &str| {
        resolver.warnings.push(Warning::new(WarningKind::Hint, name, text.to_owned()));
    };
    if profiler.autostart && profiler.mode <= 1 {
        hint(
            "MXNET_PROFILER_MODE",
            "MXNET_PROFILER_MODE is a sum of 1 (operators of graphs), 2 (operators called one by one), 4 (C API calls) \
             and 8 (memory); 0 records nothing, 13 is the default",
        );
    }
    if onednn.cache_entries != -1 {
        hint(
            "MXNET_ONEDNN_CACHE_NUM",
            "MXNET_ONEDNN_CACHE_NUM other than -1 only helps when the shapes of the inputs vary",
        );
    }
}

/// Adds a warning for each unknown variable with a prefix of mxrs, and an error for each unknown name given through the
/// API.
pub(crate) fn unknown_names(resolver: &mut Resolver<'_>, extensions: &[&'static [Row]]) {
    let extension_names = extensions.iter().flat_map(|rows| rows.iter().map(|row| row.name));
    let canonical: Vec<&str> = registry::rows().map(|(_, row)| row.name).chain(extension_names).collect();
    let mut known = canonical.clone();
    known.extend(ALIASES.iter().map(|alias| alias.name));
    known.extend(NAMES_OF_TOOLS);
    for name in resolver.snapshot.var_names() {
        let ours = ["MXNET_", "NNVM_", "MXRS_"].iter().any(|prefix| name.starts_with(prefix));
        if ours && !known.contains(&name.as_str()) {
            let text = format!(
                "unknown variable {name}: the nearest known name is {}",
                canonical_name(nearest(&name, &known))
            );
            resolver.warnings.push(Warning::new(WarningKind::Unknown, name, text));
        }
    }
    for name in resolver.snapshot.api_names() {
        if !canonical.contains(&name) {
            let expected = format!("the name of a variable; the nearest is {}", nearest(name, &canonical));
            resolver.errors.push(Error::invalid("setting", format!("`{name}`"), expected));
        }
    }
}

/// The canonical name that is nearest to `name`.
pub(crate) fn nearest_name(name: &str) -> &'static str {
    let known: Vec<&'static str> = registry::rows().map(|(_, row)| row.name).collect();
    nearest(name, &known)
}

/// The canonical name of the variable `name`, so that no warning recommends an older name.
fn canonical_name(name: &str) -> &str {
    ALIASES.iter().find(|alias| alias.name == name).map_or(name, |alias| alias.canonical)
}

/// The known name with the smallest edit distance; the first one if several are equally near.
fn nearest<'a>(name: &str, known: &[&'a str]) -> &'a str {
    // Names are compared first by the part after the prefix, so that `MXRS_ENGINE_TYPE` is near `MXNET_ENGINE_TYPE`. A very
    // long name is cut, because the time to compute the distance grows with its length.
    let name: String = name.chars().take(100).collect();
    let tail = |text: &str| text.split_once('_').map_or(String::new(), |(_, tail)| tail.to_owned());
    let name_tail = tail(&name);
    let distance = |candidate: &&&str| {
        (strsim::damerau_levenshtein(&tail(candidate), &name_tail), strsim::damerau_levenshtein(candidate, &name))
    };
    known.iter().min_by_key(distance).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::{MapSource, Settings, WarningKind};

    fn warning(vars: &[(&str, &str)]) -> String {
        let (_, warnings) = Settings::from_source(&MapSource::new(vars.iter().copied())).unwrap();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        warnings[0].to_string()
    }

    fn error(vars: &[(&str, &str)]) -> String {
        Settings::from_source(&MapSource::new(vars.iter().copied())).unwrap_err().to_string()
    }

    #[test]
    fn misspelt_names_get_the_right_one() {
        for (name, nearest) in [
            ("MXNET_CPU_WORKER_NTHREAD", "MXNET_CPU_WORKER_NTHREADS"),
            ("MXNET_CPU_WORKER_THREADS", "MXNET_CPU_WORKER_NTHREADS"),
            ("MXNET_CPU_WORKERS_NTHREADS", "MXNET_CPU_WORKER_NTHREADS"),
            ("MXRS_CPU_WORKER_NTHREADS", "MXNET_CPU_WORKER_NTHREADS"),
            ("MXRS_ENGINE_TYP", "MXNET_ENGINE_TYPE"),
            ("MXRS_ENGINE_STALL_SEC", "MXRS_ENGINE_STALL_SECS"),
            ("MXNET_ENGINE_BACKTRACE", "MXRS_ENGINE_BACKTRACE"),
            ("NNVM_EXEC_MATCH_RANG", "NNVM_EXEC_MATCH_RANGE"),
            ("MXNET_NNVM_EXEC_MATCH_RANGE", "NNVM_EXEC_MATCH_RANGE"),
        ] {
            let expected = format!("unknown variable {name}: the nearest known name is {nearest}");
            assert_eq!(warning(&[(name, "2")]), expected);
        }
    }

    #[test]
    fn names_of_others_and_empty_values_are_left_alone() {
        let source = MapSource::new([
            ("MXNETX", "1"),
            ("PATH", "/bin"),
            ("DMLC_WHATEVER", "1"),
            ("MXNET_NONSENSE", ""),
            ("MXRS_ONEDNN_CACHE", "x"),
            ("MXRS_SKIPPED_FILE", "x"),
        ]);
        assert_eq!(Settings::from_source(&source).unwrap().1, []);
        assert!(warning(&[("MXNET_INT64_TENSOR_SIZE", "1")]).starts_with("unknown variable MXNET_INT64_TENSOR_SIZE"));
    }

    #[test]
    fn a_page_that_is_no_power_of_two_fails_under_round_only() {
        for device in ["GPU", "CPU", "CPU_PINNED"] {
            let page = format!("MXNET_{device}_MEM_POOL_PAGE_SIZE");
            let kind = format!("MXNET_{device}_MEM_POOL_TYPE");
            assert!(Settings::from_source(&MapSource::new([(&page, "96")])).is_ok());
            assert_eq!(
                error(&[(&page, "96"), (&kind, "Round")]),
                format!("{page}: invalid value \"96\": expected a power of two, because {kind} is Round")
            );
            assert!(Settings::from_source(&MapSource::new([(page.as_str(), "64"), (&kind, "Round")])).is_ok());
        }
    }

    #[test]
    fn a_cutoff_below_the_page_fails_under_round_only() {
        for device in ["GPU", "CPU", "CPU_PINNED"] {
            let page = format!("MXNET_{device}_MEM_POOL_PAGE_SIZE");
            let kind = format!("MXNET_{device}_MEM_POOL_TYPE");
            let cutoff = format!("MXNET_{device}_MEM_POOL_ROUND_LINEAR_CUTOFF");
            let vars = [(page.as_str(), "67108864"), (cutoff.as_str(), "25")];
            assert!(Settings::from_source(&MapSource::new(vars)).is_ok());
            assert_eq!(
                error(&[vars[0], vars[1], (&kind, "Round")]),
                format!("{cutoff}: invalid value \"25\": expected an integer >= 26, the log2 of {page}=67108864")
            );
            assert!(Settings::from_source(&MapSource::new([vars[0], (&cutoff, "26"), (&kind, "Round")])).is_ok());
        }
    }

    #[test]
    fn hints_come_with_old_profiler_modes_and_with_cache_limits() {
        let source = MapSource::new([("MXNET_PROFILER_AUTOSTART", "1"), ("MXNET_PROFILER_MODE", "1")]);
        let warnings = Settings::from_source(&source).unwrap().1;
        let hints: Vec<_> = warnings.iter().filter(|warning| warning.kind() == WarningKind::Hint).collect();
        assert_eq!(hints.len(), 1);
        assert_eq!(hints[0].name(), "MXNET_PROFILER_MODE");
        assert!(warning(&[("MXNET_ONEDNN_CACHE_NUM", "3")]).contains("only helps when the shapes"));
    }
}
