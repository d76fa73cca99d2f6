//! `handbill size`: what a deployment needs for a number of publishes and views per second.
//!
//! It multiplies the planning figures of docs/operations/scale.md, and a test compares them with that page.
//! It reads no settings and contacts nothing.

mod plan;
mod rate;

use clap::Args;
use client::show::{Fit, facts, or_nothing, paragraph, table};

use crate::output::Form;
use crate::progress::size;
use plan::{Load, Plan};
use rate::Rate;

/// The arguments of the command.
#[derive(Debug, Args)]
pub(crate) struct SizeArguments {
    /// Publishes at the peak, such as `50/s`, `600/min` or `20000/day`.
    #[arg(long, value_name = "RATE")]
    publishes: Rate,
    /// Views of pages at the peak, such as `5000/s`.
    #[arg(long, value_name = "RATE")]
    views: Rate,
    /// Average size of a publish, in kB.
    #[arg(long, value_name = "KB", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    page_kb: u32,
}

pub(crate) fn execute(arguments: &SizeArguments, form: Form) -> anyhow::Result<()> {
    let plan = Plan::of(Load {
        publishes_per_second: arguments.publishes.per_second(),
        views_per_second: arguments.views.per_second(),
        page_bytes: u64::from(arguments.page_kb) * 1000,
    });
    let json = serde_json::to_value(&plan)?;
    form.print(|| text(&plan), || json);
    Ok(())
}

fn text(plan: &Plan) -> String {
    let (publishes, views) = (plan.load.publishes_per_second, plan.load.views_per_second);
    let peak = format!("Peak: {} publishes, {} views", rate::shown(publishes), rate::shown(views));
    let units = plan.units.iter().map(|unit| {
        let memory = or_nothing(unit.memory_bytes_each.map(size));
        [unit.name.to_owned(), unit.processes.to_string(), unit.cores_each.to_string(), memory]
    });
    let fit = Fit { shortened: None, left_out: &["CORES EACH"] };
    let units = table(["ROLE", "PROCESSES", "CORES EACH", "MEMORY EACH"], fit, units, "Nothing.");
    let notes: Vec<_> = plan.notes.iter().map(|note| paragraph(&format!("- {note}"))).collect();
    format!("{peak}\n\n{units}\n\n{}\n\n{}", facts(amounts(plan)), notes.join("\n"))
}

fn amounts(plan: &Plan) -> Vec<(&'static str, String)> {
    let connections =
        plan.database_connections.map(|number| ("PostgreSQL max_connections", number.to_string()));
    let amounts = [
        ("Database, in a year at most", size(plan.database_bytes_per_year)),
        ("Queue, for 48 hours", size(plan.queue_bytes)),
        ("Store, in a year at most", size(plan.store_bytes_per_year)),
        ("Network out at the peak", format!("{}/s", size(plan.network_bytes_per_second))),
    ];
    connections.into_iter().chain(amounts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(publishes_per_second: f64, views_per_second: f64) -> Plan {
        Plan::of(Load { publishes_per_second, views_per_second, page_bytes: 20_000 })
    }

    #[test]
    fn text_lists_every_unit_and_the_amounts() {
        let text = text(&plan(50.0, 5000.0));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "Peak: 50/s publishes, 5000/s views");
        assert_eq!(
            lines[3..14],
            [
                "api         2          1           512.0 MB",
                "worker      2          1           1.7 GB",
                "edge        2          1           704.0 MB",
                "PostgreSQL  1          2           8.0 GB",
                "Redis       1          1           -",
                "",
                "PostgreSQL max_connections   212",
                "Database, in a year at most  630.7 GB",
                "Queue, for 48 hours          2.6 GB",
                "Store, in a year at most     9.5 TB",
                "Network out at the peak      200.0 MB/s",
            ]
        );
    }

    #[test]
    fn json_has_units_in_its_names() {
        let json = serde_json::to_value(plan(50.0, 5000.0)).unwrap();
        assert_eq!(json["load"]["publishes_per_second"], 50.0);
        assert_eq!(json["units"][1]["name"], "worker");
        assert_eq!(json["units"][1]["memory_bytes_each"], 1_712_000_000);
        assert_eq!(json["database_connections"], 212);
    }

    /// The tables of docs/operations/scale.md, so that the page and the command cannot differ.
    #[test]
    fn guide_has_the_figures_and_the_examples_of_the_command() {
        let guide = include_str!("../../docs/operations/scale.md");
        for (what, figure) in plan::figures() {
            let row = format!("| {what} | {figure} |");
            assert!(guide.contains(&row), "docs/operations/scale.md lacks this row: {row}");
        }
        let examples = [plan(20.0, 1000.0), plan(200.0, 20_000.0), plan(1000.0, 100_000.0)];
        for row in example_rows(&examples) {
            assert!(guide.contains(&row), "docs/operations/scale.md lacks this row: {row}");
        }
    }

    fn example_rows(examples: &[Plan; 3]) -> Vec<String> {
        let row = |name: &str, cell: &dyn Fn(&Plan) -> String| {
            format!("| {name} | {} |", examples.each_ref().map(cell).join(" | "))
        };
        let unit = |name: &str| {
            row(name, &|plan| {
                let found = plan.units.iter().find(|unit| unit.name == name);
                found.map_or("none".to_owned(), |unit| {
                    let memory = unit.memory_bytes_each.map(|bytes| format!(", {}", size(bytes)));
                    format!("{} × {} cores{}", unit.processes, unit.cores_each, memory.unwrap_or_default())
                })
            })
        };
        let mut rows: Vec<_> = ["serve", "api", "worker", "edge", "PostgreSQL", "Redis"].map(unit).into();
        rows.push(row("`max_connections`", &|plan| {
            plan.database_connections.map_or("none".to_owned(), |number| number.to_string())
        }));
        rows.push(row("database, in a year at most", &|plan| size(plan.database_bytes_per_year)));
        rows.push(row("queue, for 48 hours", &|plan| size(plan.queue_bytes)));
        rows.push(row("store, in a year at most", &|plan| size(plan.store_bytes_per_year)));
        rows
    }
}
