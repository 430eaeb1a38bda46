//! `mxrs env`: lists every environment variable with its value in this process, or shows one variable in detail.

use crate::args::ListFormat;
use crate::exit::{Failure, Outcome};
use crate::{start, terminal};
use clap::builder::PossibleValuesParser;
use comfy_table::{Cell, Color};
use mxrs::env::{Area, COLUMNS, Listing, RowView, State};

/// Index of the column with the state.
const STATE: usize = 4;

/// Arguments of `env`.
#[derive(clap::Args)]
pub struct Args {
    /// Show only this variable, in detail
    name: Option<String>,
    /// List only the variables of this area
    #[arg(long, conflicts_with = "name", value_parser = PossibleValuesParser::new(Area::ALL.iter().map(|area| area.slug())))]
    area: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    format: ListFormat,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if an environment variable has an invalid value, if the name is unknown, or if stdout cannot be written.
pub fn run(args: &Args) -> Outcome {
    // The state of a variable depends on the backends that are loaded; building the runtime also logs the warnings of the
    // settings.
    let runtime = start::runtime(None)?;
    let (settings, capabilities) = (runtime.settings(), runtime.capabilities());
    let listing = match &args.name {
        Some(name) => {
            let view = settings.view_of(name, capabilities);
            Listing { rows: vec![view.map_err(|error| Failure::Usage(error.to_string()))?] }
        }
        None => settings.listing(args.area.as_deref().map(str::parse::<Area>).transpose()?, capabilities),
    };
    match (args.format, &listing.rows[..]) {
        (ListFormat::Json, _) => terminal::print_line(listing.to_json()),
        (ListFormat::Markdown, _) => terminal::print(&listing.to_markdown()),
        (ListFormat::Table, [row]) if args.name.is_some() => terminal::print(&in_full(row)),
        (ListFormat::Table, rows) => {
            let mut table = terminal::table(&COLUMNS);
            for (cells, row) in listing.cells().into_iter().zip(rows) {
                let mut cells = cells.map(Cell::new);
                if terminal::stdout_has_colors() {
                    cells[STATE] = Cell::new(&row.state).fg(color(&row.state));
                }
                table.add_row(cells);
            }
            terminal::print_line(table.to_string())
        }
    }
}

/// Green for a variable that is in effect, yellow for other states.
fn color(state: &State) -> Color {
    if *state == State::InEffect { Color::Green } else { Color::Yellow }
}

/// The detailed description of one variable.
fn in_full(row: &RowView) -> String {
    let fields = [
        ("value", format!("{} ({})", row.value, row.origin)),
        ("default", row.default.clone()),
        ("accepts", row.accepted.clone()),
        ("read at", row.read.to_owned()),
        ("area", row.area.to_string()),
        ("state", row.state.to_string()),
    ];
    let lines: Vec<String> = fields.iter().map(|(key, text)| format!("  {key:<8}{text}\n")).collect();
    format!("{}\n  {}\n\n{}", row.name, row.meaning.split_whitespace().collect::<Vec<_>>().join(" "), lines.concat())
}
