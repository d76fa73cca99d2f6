//! Money and allowance: the ledger shows exactly what was paid and spent, once each.

use std::collections::BTreeMap;

use handbill_tests::{Reply, Value};
use rand::rngs::StdRng;

use super::reply_to;
use crate::client::response::body;
use crate::model::account::{Account, Entry, ExpectedLedger};
use crate::model::allowance::{ModelAllowance, possible};
use crate::model::{HIDDEN_MICRO, Micro, PUBLISH_MICRO, micro};
use crate::scene::Scene;

const TOP_UP: &str = "topup-dev:";
const PUBLISH: &str = "publish:";
const VISIBILITY: &str = "visibility:";

pub async fn check(scene: &Scene, account: &Account, shown: &Reply, rng: &mut StdRng) {
    let Some(usage) = reply_to(scene, &account.name, || scene.agent(&account.owner_token, rng).usage()).await
    else {
        return;
    };
    let Some(entries) = ledger(scene, account).await else { return };
    let is_any_given_up = account.sites.iter().any(|site| site.model.lock().unwrap().is_given_up());
    let claim = *account.claim.lock().unwrap();
    let standing = standing(&body(shown), &body(&usage), &entries);
    let mut expected_ledger = account.expected_ledger.lock().unwrap();
    let mut faults = of_money(&expected_ledger, &entries, &body(shown), &body(&usage));
    let standings = possible(expected_ledger.standing, claim, &expected_ledger.uses, scene.free);
    // For an abandoned slug the number of uses is unknown.
    if !standings.contains(&standing) && !is_any_given_up {
        faults.push(format!(
            "the allowance stands at {standing:?}; from {:?}, {} uses and {claim:?} follow {standings:?}",
            expected_ledger.standing,
            expected_ledger.uses.len()
        ));
    }
    faults.extend(of_what_is_left(&body(shown), &standing, scene));
    for fault in faults {
        scene.journal.violation(&account.name, fault);
    }
    expected_ledger.standing = standing;
    expected_ledger.entries = entries;
    expected_ledger.uses.clear();
    expected_ledger.unanswered.clear();
}

async fn ledger(scene: &Scene, account: &Account) -> Option<Vec<Entry>> {
    // The output has both streams, and a log line in it would not be JSON.
    let env = [("HANDBILL_LOG", "off")];
    let shown = scene.world.command(&["--json", "ledger", "show", &account.handle], &env).await;
    if !shown.status.success() {
        scene.journal.violation(&account.name, format!("its ledger cannot be shown: {}", shown.output));
        return None;
    }
    let entries = entries_of(&shown.output);
    if entries.is_none() {
        scene.journal.violation(&account.name, format!("its ledger cannot be read: {}", shown.output));
    }
    entries
}

/// The entries of a JSON document, or `None` if it is not an array of entries.
fn entries_of(document: &str) -> Option<Vec<Entry>> {
    let document: Value = document.parse().ok()?;
    document.as_array()?.iter().map(entry_of).collect()
}

fn entry_of(shown: &Value) -> Option<Entry> {
    Some(Entry { reason: shown["reason"].as_str()?.to_owned(), delta: micro(shown["delta_usd"].as_f64()?) })
}

fn standing(account: &Value, usage: &Value, entries: &[Entry]) -> ModelAllowance {
    ModelAllowance {
        is_claimed: account["status"] == "claimed",
        used: usage["publishes"]["used"].as_u64().unwrap_or(u64::MAX),
        charged: entries.iter().filter(|entry| entry.reason.starts_with(PUBLISH)).count() as u64,
    }
}

fn of_what_is_left(account: &Value, standing: &ModelAllowance, scene: &Scene) -> Option<String> {
    let limit = if standing.is_claimed { scene.free.claimed } else { scene.free.provisional };
    let left = limit.saturating_sub(standing.used);
    let reported = account["free_publishes_left"].as_u64();
    (reported != Some(left))
        .then(|| format!("{reported:?} free publishes are left, and {} were used", standing.used))
}

fn of_money(
    expected_ledger: &ExpectedLedger,
    entries: &[Entry],
    account: &Value,
    usage: &Value,
) -> Vec<String> {
    let mut faults = Vec::new();
    if !entries.starts_with(&expected_ledger.entries) {
        faults.push(format!("entries have changed: {:?} are now {entries:?}", expected_ledger.entries));
    }
    let sum: Micro = entries.iter().map(|entry| entry.delta).sum();
    for reported in [account, usage] {
        let balance = reported["credits_usd"].as_f64().map(micro);
        if balance != Some(sum) || sum < 0 {
            faults.push(format!("the balance is {balance:?}, and the entries come to {sum}: {entries:?}"));
        }
    }
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    entries.iter().for_each(|entry| *times.entry(&entry.reason).or_default() += 1);
    faults.extend(
        times.iter().filter(|(_, times)| **times > 1).map(|(reason, _)| format!("{reason} occurs twice")),
    );
    faults.extend(of_receipts(expected_ledger, entries));
    faults.extend(of_spending(expected_ledger, entries));
    faults
}

/// Every receipt has its entry. An entry without a receipt is a payment without a response, one for each.
fn of_receipts(expected_ledger: &ExpectedLedger, entries: &[Entry]) -> Vec<String> {
    let mut faults = Vec::new();
    for (id, amount) in &expected_ledger.receipts {
        let reason = format!("{TOP_UP}{id}");
        if !entries.contains(&Entry { reason: reason.clone(), delta: *amount }) {
            faults.push(format!("a receipt over {amount} has no entry {reason}"));
        }
    }
    let mut unanswered = expected_ledger.unanswered.clone();
    let known = expected_ledger.entries.len().min(entries.len());
    for entry in &entries[known..] {
        let Some(id) = entry.reason.strip_prefix(TOP_UP) else { continue };
        if expected_ledger.receipts.contains_key(id) {
            continue;
        }
        match unanswered.iter().position(|amount| *amount == entry.delta) {
            Some(place) => {
                unanswered.swap_remove(place);
            }
            None => faults.push(format!("no client paid {} for {}", entry.delta, entry.reason)),
        }
    }
    faults
}

fn of_spending(expected_ledger: &ExpectedLedger, entries: &[Entry]) -> Vec<String> {
    let mut faults = Vec::new();
    for entry in entries {
        let price = if entry.reason.starts_with(PUBLISH) {
            -PUBLISH_MICRO
        } else if entry.reason.starts_with(VISIBILITY) {
            -HIDDEN_MICRO
        } else if entry.reason.starts_with(TOP_UP) {
            continue;
        } else {
            faults.push(format!("an entry without a request: {entry:?}"));
            continue;
        };
        if entry.delta != price {
            faults.push(format!("{entry:?} is not the price, {price}"));
        }
    }
    let is_paid = |artifact: &str| {
        let reason = format!("{VISIBILITY}{artifact}:");
        entries.iter().any(|entry| entry.reason.starts_with(&reason))
    };
    let unpaid = expected_ledger.hidden.iter().filter(|artifact| !is_paid(artifact));
    faults.extend(unpaid.map(|artifact| format!("{artifact} left the public and was not charged")));
    faults
}

#[cfg(test)]
mod tests {
    use handbill_tests::json;

    use super::*;

    fn entry(reason: &str, delta: Micro) -> Entry {
        Entry { reason: reason.to_owned(), delta }
    }

    fn faults(expected_ledger: &ExpectedLedger, entries: &[Entry], usd: f64) -> Vec<String> {
        let reported = json!({ "credits_usd": usd });
        of_money(expected_ledger, entries, &reported, &reported)
    }

    fn paid_once() -> ExpectedLedger {
        ExpectedLedger {
            receipts: BTreeMap::from([("a".to_owned(), 1_000_000)]),
            ..ExpectedLedger::default()
        }
    }

    #[test]
    fn document_with_anything_but_entries_has_none() {
        let shown = r#"[{"reason":"topup-dev:a","delta_usd":1.0}
            ,{"reason":"publish:b","delta_usd":-0.005}
            ]"#;
        assert_eq!(
            entries_of(shown),
            Some(vec![entry("topup-dev:a", 1_000_000), entry("publish:b", -5_000)])
        );
        assert_eq!(entries_of("[]"), Some(Vec::new()));
        for other in ["", "WARN a log line\n[]", r#"[{"reason":"publish:b"}]"#, "{}"] {
            assert_eq!(entries_of(other), None, "{other}");
        }
    }

    #[test]
    fn ledger_that_matches_the_responses_is_sound() {
        let entries = [entry("topup-dev:a", 1_000_000), entry("publish:b", -5_000)];
        assert_eq!(faults(&paid_once(), &entries, 0.995), [""; 0]);
    }

    #[test]
    fn a_receipt_without_an_entry_and_an_entry_without_a_payment_are_found() {
        assert_eq!(faults(&paid_once(), &[], 0.0).len(), 1);
        let entries = [entry("topup-dev:a", 1_000_000), entry("topup-dev:c", 1_000_000)];
        assert_eq!(faults(&paid_once(), &entries, 2.0).len(), 1);
        let unanswered = ExpectedLedger { unanswered: vec![1_000_000], ..paid_once() };
        assert_eq!(faults(&unanswered, &entries, 2.0), [""; 0]);
    }

    #[test]
    fn payment_without_a_response_counts_at_most_once() {
        let unanswered = ExpectedLedger { unanswered: vec![1_000_000], ..ExpectedLedger::default() };
        let twice = [entry("topup-dev:a", 1_000_000), entry("topup-dev:c", 1_000_000)];
        assert_eq!(faults(&unanswered, &twice, 2.0).len(), 1);
        assert_eq!(faults(&unanswered, &twice[..1], 1.0), [""; 0]);
        assert_eq!(faults(&unanswered, &[], 0.0), [""; 0]);
    }

    #[test]
    fn a_wrong_balance_a_wrong_price_and_a_changed_entry_are_found() {
        let entries = [entry("topup-dev:a", 1_000_000)];
        assert_eq!(faults(&paid_once(), &entries, 2.0).len(), 2);
        let entries = [entry("topup-dev:a", 1_000_000), entry("publish:b", -1)];
        assert_eq!(faults(&paid_once(), &entries, 0.999_999).len(), 1);
        let before = ExpectedLedger { entries: vec![entry("publish:x", -5_000)], ..paid_once() };
        assert_eq!(faults(&before, &entries[..1], 1.0).len(), 1);
    }

    #[test]
    fn page_hidden_without_a_charge_is_found() {
        let expected_ledger = ExpectedLedger { hidden: ["art".to_owned()].into(), ..paid_once() };
        let entries = [entry("topup-dev:a", 1_000_000)];
        assert_eq!(faults(&expected_ledger, &entries, 1.0).len(), 1);
        let charged = [entry("topup-dev:a", 1_000_000), entry("visibility:art:2026-11", -500_000)];
        assert_eq!(faults(&expected_ledger, &charged, 0.5), [""; 0]);
    }
}
