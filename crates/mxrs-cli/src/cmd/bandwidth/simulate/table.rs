//! The output of `bandwidth simulate` as tables.

use super::Cell;
use super::fit::Fitted;
use crate::args::ListFormat;
use crate::terminal;

fn table(headings: &[&str], rows: Vec<Vec<String>>, format: ListFormat) -> String {
    if format == ListFormat::Markdown {
        return terminal::markdown(headings, rows) + "\n";
    }
    let mut table = terminal::table(headings);
    rows.into_iter().for_each(|row| {
        table.add_row(row);
    });
    table.column_iter_mut().for_each(|column| column.set_cell_alignment(comfy_table::CellAlignment::Right));
    format!("{table}\n")
}

/// The simulated steps.
pub fn cells(cells: &[Cell], format: ListFormat) -> String {
    let headings = [
        "network",
        "store",
        "Gbit/s",
        "workers",
        "step ms",
        "efficiency",
        "exposed",
        "first layer ms",
        "sent MB",
        "memory MB",
        "messages",
    ];
    let row = |cell: &Cell| {
        vec![
            cell.network.clone(),
            cell.kv_store.clone(),
            cell.link_gbit.to_string(),
            cell.workers.to_string(),
            format!("{:.1}", cell.step_ms),
            format!("{:.1} %", cell.efficiency * 100.0),
            format!("{:.1} %", cell.exposed * 100.0),
            format!("{:.1}", cell.first_layer_ms),
            format!("{:.1}", cell.sent_mb),
            format!("{:.1}", cell.memory_mb),
            cell.messages.to_string(),
        ]
    };
    table(&headings, cells.iter().map(row).collect(), format)
}

/// The measured times and the times of the model. Empty for JSON, because the JSON output is only the list of simulated
/// steps.
pub fn fitted(fitted: &Fitted, format: ListFormat) -> String {
    if format == ListFormat::Json {
        return String::new();
    }
    let headings = ["store", "workers", "keys", "MB", "measured ms", "model ms", "error", ""];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for measured in &fitted.all {
        let error = measured.predicted / measured.seconds - 1.0;
        rows.push(vec![
            measured.kv_store.clone(),
            measured.workers.to_string(),
            measured.keys.to_string(),
            format!("{:.3}", measured.bytes as f64 * 1e-6),
            format!("{:.3}", measured.seconds * 1e3),
            format!("{:.3}", measured.predicted * 1e3),
            format!("{:+.0} %", error * 100.0),
            if measured.is_fitted { "fitted".to_owned() } else { "predicted".to_owned() },
        ]);
    }
    let n_close = fitted.all.iter().filter(|m| (m.predicted / m.seconds - 1.0).abs() <= 0.15).count();
    let text = table(&headings, rows, format);
    format!("{text}{n_close} of {} within 15 %; costs: {:?}\n\n", fitted.all.len(), fitted.costs)
}
