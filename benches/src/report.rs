//! The report of a comparison, as aligned tables, as Markdown or as JSON.

use crate::machine::Machine;
use crate::summary::Summary;
use clap::ValueEnum;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

/// How the report is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned tables.
    #[default]
    Table,
    /// Markdown tables.
    Markdown,
    /// One JSON object.
    Json,
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number, and how many decimals are shown of it.
    Number(f64, usize),
    /// A median, its spread in percent, and how many decimals of the median are shown.
    Spread(f64, f64, usize),
    /// Nothing was measured; the text gives the reason in a word or two.
    Absent(String),
}

impl Cell {
    /// A cell with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number, shown with `decimals` digits after the point. If there is no value, the cell is absent with the reason
    /// `or_else`.
    pub fn number(value: Option<f64>, decimals: usize, or_else: &str) -> Self {
        value.map_or_else(|| Self::Absent(or_else.to_owned()), |value| Self::Number(value, decimals))
    }

    /// A median and its spread, shown as multiples of `unit`. If nothing was measured, the cell is absent with the reason
    /// `or_else`.
    pub fn summary(summary: Option<Summary>, unit: f64, decimals: usize, or_else: &str) -> Self {
        let spread = |s: Summary| Self::Spread(s.median / unit, s.spread_percent(), decimals);
        summary.map_or_else(|| Self::Absent(or_else.to_owned()), spread)
    }

    fn shown(&self) -> String {
        match self {
            Self::Text(text) | Self::Absent(text) => text.clone(),
            Self::Number(value, decimals) => format!("{value:.decimals$}"),
            Self::Spread(value, percent, decimals) => format!("{value:.decimals$} ±{percent:.0}%"),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Number(value, _) => json!(value),
            Self::Spread(value, percent, _) => json!({ "median": value, "spread_percent": percent }),
            Self::Absent(_) => Value::Null,
        }
    }
}

/// A column: its key in JSON, its heading in the table.
pub type Column = (&'static str, &'static str);

/// One table of a report.
#[derive(Clone, Debug)]
pub struct Section {
    /// Key in JSON.
    pub key: &'static str,
    /// What the table shows, with its unit.
    pub title: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Section {
    /// A table without rows.
    pub fn new(key: &'static str, title: impl Into<String>, columns: &[Column]) -> Self {
        Self { key, title: title.into(), columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Appends a row.
    ///
    /// # Panics
    /// Panics if the number of cells is not the number of columns, which is a bug of the program.
    pub fn row(&mut self, cells: Vec<Cell>) {
        assert_eq!(cells.len(), self.columns.len(), "cells of a row of `{}`", self.key);
        self.rows.push(cells);
    }

    /// Whether the table has any row.
    pub fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_header(self.columns.iter().map(|(_, heading)| *heading));
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| {
                let is_number = matches!(cell, Cell::Number(..) | Cell::Spread(..));
                let alignment = if is_number { CellAlignment::Right } else { CellAlignment::Left };
                comfy_table::Cell::new(cell.shown()).set_alignment(alignment)
            }));
        }
        format!("{}\n{table}\n", self.title)
    }

    fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("**{}**\n\n", self.title);
        text += &line(self.columns.iter().map(|(_, heading)| escaped(heading)).collect());
        text += &line(self.columns.iter().map(|_| "---".to_owned()).collect());
        for row in &self.rows {
            text += &line(row.iter().map(|cell| escaped(&cell.shown())).collect());
        }
        text
    }

    fn json(&self) -> Value {
        let row = |row: &Vec<Cell>| {
            let cells = self.columns.iter().zip(row).map(|((key, _), cell)| ((*key).to_owned(), cell.json()));
            Value::Object(cells.collect::<Map<_, _>>())
        };
        json!({ "title": self.title, "rows": self.rows.iter().map(row).collect::<Vec<_>>() })
    }
}

/// Escapes text for a cell of a Markdown table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A library that mxrs is compared with.
#[derive(Clone, Debug)]
pub struct PeerStatus {
    /// Its name, with the version if it reports one.
    pub name: String,
    /// Why the library was not measured, and which flag would help; `None` if it took part.
    pub missing: Option<String>,
}

/// The results of one comparison.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was compared.
    pub title: String,
    /// The machine that it ran on.
    pub machine: Machine,
    /// Libraries that mxrs was compared with.
    pub peers: Vec<PeerStatus>,
    /// Tables of results.
    pub sections: Vec<Section>,
    /// Remarks that a reader needs to judge the results.
    pub notes: Vec<String>,
}

impl Report {
    /// The whole report, with a line end.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Table => self.text(Section::table),
            Format::Markdown => self.text(Section::markdown),
            Format::Json => format!("{:#}\n", self.json()),
        }
    }

    fn text(&self, table: fn(&Section) -> String) -> String {
        let mut text = format!("{}, on {}\n", self.title, self.machine);
        for (at, PeerStatus { name, missing }) in self.peers.iter().enumerate() {
            match missing {
                // A library may take part in several variants; it is listed once.
                None if self.peers[..at].iter().any(|peer| peer.name == *name) => {}
                None => text += &format!("measured: {name}\n"),
                Some(why) => text += &format!("not measured: {name}: {why}\n"),
            }
        }
        for section in &self.sections {
            text += &format!("\n{}", table(section));
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        for note in &self.notes {
            text += &format!("- {note}\n");
        }
        text
    }

    fn json(&self) -> Value {
        let peers = self.peers.iter().map(|peer| json!({ "name": peer.name, "missing": peer.missing }));
        let sections = self.sections.iter().map(|section| (section.key.to_owned(), section.json()));
        json!({
            "title": self.title,
            "machine": { "cpu": self.machine.cpu, "n_cpus": self.machine.n_cpus },
            "peers": peers.collect::<Vec<_>>(),
            "sections": sections.collect::<Map<_, _>>(),
            "notes": self.notes,
        })
    }
}

/// Prints a program's output, or its error to stderr, and returns the exit code.
pub fn print_or_fail(text: anyhow::Result<String>) -> ExitCode {
    match text {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut section = Section::new("speed", "Speed", &[("load", "load"), ("ours", "ours"), ("peer", "peer")]);
        section.row(vec![Cell::text("chain"), Cell::Number(12.345, 1), Cell::number(None, 1, "not found")]);
        let measured = Summary::of(&[1e6, 2e6, 3e6]);
        section.row(vec![Cell::text("fan"), Cell::Number(5.0, 1), Cell::summary(measured, 1e6, 1, "")]);
        Report {
            title: "Engine".into(),
            machine: Machine { cpu: "a CPU".into(), n_cpus: 2 },
            peers: vec![
                PeerStatus { name: "rayon 1.12".into(), missing: None },
                PeerStatus { name: "rayon 1.12".into(), missing: None },
                PeerStatus { name: "MXNet".into(), missing: Some("give --mxnet PATH".into()) },
            ],
            sections: vec![section],
            notes: vec!["empty bodies".into()],
        }
    }

    #[test]
    fn the_table_is_aligned_and_names_who_is_missing() {
        let text = report().render(Format::Table);
        let head = "Engine, on a CPU, 2 CPUs\nmeasured: rayon 1.12\nnot measured: MXNet: give --mxnet PATH\n\nSpeed\n";
        assert!(text.starts_with(head), "{text}");
        let widths: Vec<usize> = text.lines().filter(|l| l.starts_with('│')).map(|l| l.chars().count()).collect();
        assert_eq!(widths.len(), 3, "{text}");
        assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
        assert!(text.contains(" 12.3 ┆ not found"), "{text}");
        assert!(text.contains("  5.0 ┆  2.0 ±25%"), "{text}");
        assert!(text.ends_with("\n- empty bodies\n"), "{text}");
    }

    #[test]
    fn markdown_has_the_same_rows() {
        let mut report = report();
        report.sections[0].row(vec![Cell::text("a|b"), Cell::Number(1.0, 0), Cell::Absent("none".into())]);
        let text = report.render(Format::Markdown);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows[..3], ["| load | ours | peer |", "| --- | --- | --- |", "| chain | 12.3 | not found |"]);
        assert_eq!(rows[4], "| a\\|b | 1 | none |");
    }

    #[test]
    fn json_keeps_all_digits_and_says_null_for_what_was_not_measured() {
        let value: Value = serde_json::from_str(&report().render(Format::Json)).unwrap();
        let row = &value["sections"]["speed"]["rows"][0];
        assert_eq!(*row, json!({ "load": "chain", "ours": 12.345, "peer": null }));
        let spread = &value["sections"]["speed"]["rows"][1]["peer"];
        assert_eq!(*spread, json!({ "median": 2.0, "spread_percent": 25.0 }));
        assert_eq!(value["peers"][0]["missing"], Value::Null);
        assert_eq!(value["peers"][2]["missing"], "give --mxnet PATH");
    }

    #[test]
    #[should_panic(expected = "cells of a row of `speed`")]
    fn a_row_of_the_wrong_length_is_a_slip() {
        report().sections[0].row(vec![Cell::text("chain")]);
    }
}
