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
fn names_of_files_stay_inside_their_site() {
    Run { target: "site_paths", mutations: 5_000, input_bytes_max: 2_048 }.feed(judges::site_paths::judge);
}

#[test]
fn an_offer_settles_what_it_fits_and_nothing_else() {
    Run { target: "x_payment", mutations: 50_000, input_bytes_max: 256 }.feed(judges::x_payment::judge);
}

#[test]
fn nothing_is_believed_of_the_card_processor_that_it_has_not_signed() {
    Run { target: "webhook", mutations: 10_000, input_bytes_max: 2_048 }.feed(judges::webhook::judge);
}

#[test]
fn settings_are_loaded_or_refused_line_by_line_and_tell_no_secret() {
    Run { target: "configuration", mutations: 2_000, input_bytes_max: 4_096 }
        .feed(judges::configuration::judge);
}

#[test]
fn a_form_is_a_site_that_keeps_the_rules_or_is_refused() {
    Run { target: "multipart", mutations: 10_000, input_bytes_max: 4_096 }.feed(judges::multipart::judge);
}

#[test]
fn a_message_to_mcp_is_answered_under_its_id_and_never_by_a_fault_of_ours() {
    let mut judge = judges::json_rpc::ResponseChecker::default();
    Run { target: "json_rpc", mutations: 1_000, input_bytes_max: 4_096 }.feed(|input| judge.judge(input));
}

#[test]
fn a_request_to_the_edge_finds_what_it_names_or_nothing() {
    Run { target: "path_resolver", mutations: 50_000, input_bytes_max: 512 }
        .feed(judges::path_resolver::judge);
}

#[test]
fn a_site_is_judged_in_time_and_in_one_way() {
    Run { target: "scanner", mutations: 1_000, input_bytes_max: 16_384 }.feed(judges::scanned::judge_site);
}

#[test]
fn a_flood_is_judged_in_time() {
    Run { target: "scanner_flood", mutations: 100, input_bytes_max: 600 }.feed(judges::scanned::judge_flood);
}
