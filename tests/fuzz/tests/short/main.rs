//! A short run of the fuzz targets: every judge on the stored seeds, and on thousands of mutations of them
//! from a fixed random seed. So each run is the same, and a failure can be reproduced.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod corpus;
mod mutation;

use corpus::Corpus;
use mutation::Mutator;

/// The inputs of a judge besides its seeds.
struct Run {
    target: &'static str,
    mutations: usize,
    input_bytes_max: usize,
}

/// At least this share of the inputs must be accepted, because mutations that are mostly noise prove nothing.
const TAKEN_PER_THOUSAND_MIN: usize = 5;

impl Run {
    fn feed(&self, mut judge: impl FnMut(&[u8]) -> bool) {
        let corpus = Corpus::of(self.target);
        assert!(!corpus.seeds.is_empty(), "{} has no seeds", self.target);
        for (name, seed) in &corpus.seeds {
            let print_on_panic = PrintOnPanic { input: seed, name };
            judge(seed);
            drop(print_on_panic);
        }
        let mut mutator = Mutator::of(&corpus, self.input_bytes_max);
        let taken = (0..self.mutations).filter(|number| {
            let input = mutator.next();
            let _shown = PrintOnPanic { input: &input, name: &format!("mutation {number}") };
            judge(&input)
        });
        let (taken, most) = (taken.count(), self.mutations);
        assert!(taken * 1_000 >= most * TAKEN_PER_THOUSAND_MIN, "{taken} of {most} were taken for something");
    }
}

/// Prints the input if its judge panics.
struct PrintOnPanic<'a> {
    input: &'a [u8],
    name: &'a str,
}

impl Drop for PrintOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: \"{}\"", self.name, self.input.escape_ascii());
        }
    }
}

#[test]
fn site_paths_stay_inside_their_site() {
    Run { target: "site_paths", mutations: 5_000, input_bytes_max: 2_048 }.feed(judges::site_paths::judge);
}

#[test]
fn rules_of_a_site_never_lead_out_of_it_or_loosen_its_protection() {
    Run { target: "site_rules", mutations: 20_000, input_bytes_max: 2_048 }.feed(judges::site_rules::judge);
}

#[test]
fn payment_settles_only_the_matching_price() {
    Run { target: "x_payment", mutations: 50_000, input_bytes_max: 256 }.feed(judges::x_payment::judge);
}

#[test]
fn unsigned_card_events_are_rejected() {
    Run { target: "webhook", mutations: 10_000, input_bytes_max: 2_048 }.feed(judges::webhook::judge);
}

#[test]
fn settings_are_loaded_or_refused_with_one_line_per_fault_and_show_no_secret() {
    Run { target: "configuration", mutations: 2_000, input_bytes_max: 4_096 }
        .feed(judges::configuration::judge);
}

#[test]
fn multipart_form_yields_a_valid_site_or_a_refusal() {
    Run { target: "multipart", mutations: 10_000, input_bytes_max: 4_096 }.feed(judges::multipart::judge);
}

#[test]
fn an_archive_is_a_site_that_keeps_the_rules_or_is_refused() {
    Run { target: "archives", mutations: 5_000, input_bytes_max: 8_192 }.feed(judges::archives::judge);
}

#[test]
fn mcp_messages_are_answered_under_their_id_without_internal_errors() {
    let mut judge = judges::json_rpc::ResponseChecker::default();
    Run { target: "json_rpc", mutations: 1_000, input_bytes_max: 4_096 }.feed(|input| judge.judge(input));
}

#[test]
fn edge_requests_resolve_to_the_named_file_or_nothing() {
    Run { target: "path_resolver", mutations: 50_000, input_bytes_max: 512 }
        .feed(judges::path_resolver::judge);
}

#[test]
fn sites_are_scanned_in_bounded_time_and_deterministically() {
    Run { target: "scanner", mutations: 1_000, input_bytes_max: 16_384 }.feed(judges::scanned::judge_site);
}

#[test]
fn hostile_floods_are_scanned_in_bounded_time() {
    Run { target: "scanner_flood", mutations: 100, input_bytes_max: 600 }.feed(judges::scanned::judge_flood);
}
