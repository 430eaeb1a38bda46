//! `mxrs env`: every variable with the value it has in this process.

use crate::args::ListFormat;
use crate::exit::Outcome;
use crate::{start, terminal};
use clap::builder::PossibleValuesParser;
use mxrs::env::{Area, COLUMNS};

/// Arguments of `env`.
#[derive(clap::Args)]
pub struct Args {
    /// Only the variables of this area
    #[arg(long, value_parser = PossibleValuesParser::new(Area::ALL.iter().map(|area| area.slug())))]
    area: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    format: ListFormat,
}

/// Runs the command.
///
/// # Errors
/// A variable with a bad value; errors of printing.
pub fn run(args: &Args) -> Outcome {
    let (settings, warnings) = start::settings()?;
    for warning in warnings.iter().filter(|warning| !warning.is_about_shared_name()) {
        tracing::warn!("{warning}");
    }
    let area = args.area.as_deref().map(str::parse::<Area>).transpose()?;
    let listing = settings.listing(area);
    match args.format {
        ListFormat::Json => terminal::print_line(listing.to_json()),
        ListFormat::Markdown => terminal::print(&listing.to_markdown()),
        ListFormat::Table => {
            let mut table = terminal::table(&COLUMNS);
            table.add_rows(listing.cells());
            terminal::print_line(table.to_string())
        }
    }
}
