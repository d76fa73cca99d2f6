//! Every kind of tampering with the ledger is detected.

use super::*;
use crate::{LedgerFaultKind, LedgerNews, LedgerProgress, LedgerTerms};

impl StoreHarness {
    async fn faults(&self) -> (LedgerProgress, Vec<(String, LedgerFaultKind)>) {
        let mut faults = Vec::new();
        let terms = LedgerTerms { tariff: Tariff::default(), now: START };
        let mut news = |news| {
            if let LedgerNews::Fault(fault) = news {
                faults.push((fault.account, fault.kind));
            }
        };
        let progress = self.store.ledger().check(&terms, &mut news).await.unwrap();
        (progress, faults)
    }

    async fn topped_up(&self, times: i64) -> AccountId {
        let account = self.claimed().await;
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: START };
        for _ in 0..times {
            let operation = LedgerOperation::TopUp(TopUpOperation {
                account,
                job: self.job(),
                amount: Micro::new(1_000_000),
                deadline: None,
                called_by: None,
            });
            self.store.settle(account, &[operation], &terms).await.unwrap();
        }
        account
    }
}

on_both_databases! {
    async fn sound_ledgers_have_no_fault(harness: &StoreHarness) {
        for times in 0..3 {
            let account = harness.topped_up(times).await;
            harness.publish(account, "page", b"one").await;
        }
        let (progress, faults) = harness.faults().await;
        assert_eq!(faults, []);
        assert_eq!((progress.accounts, progress.entries, progress.receipts), (3, 3, 3));
    }

    async fn a_balance_that_is_not_the_sum_is_found(harness: &StoreHarness) {
        let account = harness.topped_up(2).await;
        harness.topped_up(1).await;
        harness.sql(&format!("UPDATE accounts SET balance_micro = 9000000 WHERE id = '{account}'")).await;
        let (progress, faults) = harness.faults().await;
        let kind = LedgerFaultKind::Balance { balance: Micro::new(9_000_000), entries: Micro::new(2_000_000) };
        assert_eq!(faults, [(account.to_string(), kind)]);
        assert_eq!(progress.faults, 1);
    }

    async fn changed_entry_is_found_by_later_entries_and_by_its_receipt(harness: &StoreHarness) {
        let account = harness.topped_up(2).await;
        harness.sql(&format!(
            "UPDATE ledger_entries SET delta_micro = 4000000 WHERE account_id = '{account}' AND seq = 1"
        ))
        .await;
        let (_, faults) = harness.faults().await;
        let has = |is: fn(&LedgerFaultKind) -> bool| faults.iter().filter(|(_, kind)| is(kind)).count();
        assert_eq!(has(|kind| matches!(kind, LedgerFaultKind::Balance { .. })), 1);
        assert_eq!(has(|kind| matches!(kind, LedgerFaultKind::RunningBalance { .. })), 2);
        assert_eq!(has(|kind| matches!(kind, LedgerFaultKind::Receipt { entered: Some(_), .. })), 1);
        assert_eq!(faults.len(), 4, "{faults:?}");
    }

    async fn an_entry_that_was_taken_out_is_found(harness: &StoreHarness) {
        let account = harness.topped_up(3).await;
        harness.sql(&format!("DELETE FROM ledger_entries WHERE account_id = '{account}' AND seq = 2")).await;
        let (_, faults) = harness.faults().await;
        assert!(faults.iter().any(|(_, kind)| matches!(
            kind,
            LedgerFaultKind::Count { counted: 3, entries: 2, last_seq: 3 }
        )), "{faults:?}");
        assert!(faults.iter().any(|(_, kind)| matches!(kind, LedgerFaultKind::Receipt { entered: None, .. })));
    }

    async fn charge_with_a_positive_amount_is_found(harness: &StoreHarness) {
        let account = harness.topped_up(1).await;
        harness.sql(&format!("UPDATE ledger_entries SET reason = 'storage:2026-01' WHERE account_id = '{account}'")).await;
        let (_, faults) = harness.faults().await;
        assert!(faults.iter().any(|(_, kind)| matches!(kind, LedgerFaultKind::WrongWay { seq: 1, .. })), "{faults:?}");
    }

    async fn unpaid_publishes_are_found(harness: &StoreHarness) {
        let account = harness.topped_up(0).await;
        let month = START.month();
        harness.sql(&format!("INSERT INTO usage VALUES ('{account}', '{month}', 101, 0)")).await;
        let (_, faults) = harness.faults().await;
        let kind = LedgerFaultKind::OverUse { publishes: 101, paid: 0, free: 100 };
        assert_eq!(faults, [(account.to_string(), kind)]);
    }

    async fn usage_allowed_by_a_former_limit_is_no_fault(harness: &StoreHarness) {
        let (claimed, provisional) = (harness.topped_up(0).await, harness.account().await);
        let month = START.month();
        let was = |claimed_free_publishes, provisional_free_publishes| Tariff {
            claimed_free_publishes,
            provisional_free_publishes,
            ..Tariff::default()
        };
        for tariff in [was(90, 200), was(120, 4), was(100, 5)] {
            harness.store.metering().record_limits(&tariff, START).await.unwrap();
        }
        harness.sql(&format!("INSERT INTO usage VALUES ('{claimed}', '{month}', 120, 0)")).await;
        harness.sql(&format!("UPDATE accounts SET provisional_publishes = 200 WHERE id = '{provisional}'")).await;
        assert_eq!(harness.faults().await.1, []);
        harness.sql("UPDATE usage SET publishes = 121").await;
        harness.sql(&format!("UPDATE accounts SET provisional_publishes = 201 WHERE id = '{provisional}'")).await;
        let (_, mut faults) = harness.faults().await;
        let over_use = |account: AccountId, publishes, free| {
            (account.to_string(), LedgerFaultKind::OverUse { publishes, paid: 0, free })
        };
        let mut expected = [over_use(claimed, 121, 120), over_use(provisional, 201, 200)];
        faults.sort_by(|one, other| one.0.cmp(&other.0));
        expected.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(faults, expected);
    }

    async fn outcomes_of_a_purged_account_are_no_fault_and_are_swept_when_old(harness: &StoreHarness) {
        let (account, job) = (harness.account().await, harness.job());
        let terms = Terms { tariff: Tariff::default(), chance: harness.chance.clone(), now: START };
        let operation = LedgerOperation::TopUp(TopUpOperation { account, job, amount: Micro::new(1_000_000), deadline: None, called_by: None });
        harness.store.settle(account, &[operation], &terms).await.unwrap();
        let later = START.plus(2 * HOUR);
        harness.store.upkeep().purge_account(account, later).await.unwrap().unwrap();
        let (progress, faults) = harness.faults().await;
        assert_eq!(faults, []);
        assert_eq!((progress.accounts, progress.receipts), (0, 1));
        assert_eq!(harness.store.upkeep().sweep_records(later, later, 10).await.unwrap(), 1);
        assert!(harness.store.outcomes().find(job).await.unwrap().is_none());
    }

    async fn clock_skew_of_a_claim_is_no_ledger_fault(harness: &StoreHarness) {
        let (account, month) = (harness.topped_up(1).await, START.month());
        harness.sql(&format!("INSERT INTO usage VALUES ('{account}', '{month}', 101, 0)")).await;
        harness.sql(&format!("UPDATE ledger_entries SET reason = 'publish:one' WHERE account_id = '{account}'")).await;
        for (ahead, is_fault) in [(Duration::from_secs(60), false), (HOUR, true)] {
            let claimed_at = START.plus(ahead).millis();
            harness.sql(&format!("UPDATE accounts SET claimed_at = {claimed_at} WHERE id = '{account}'")).await;
            let (_, faults) = harness.faults().await;
            let is_over_use = |(_, kind): &(String, LedgerFaultKind)| matches!(kind, LedgerFaultKind::OverUse { .. });
            assert_eq!(faults.iter().any(is_over_use), is_fault, "{faults:?}");
        }
    }
}

/// SQLite cannot drop a constraint of an existing table.
#[tokio::test]
async fn duplicate_ledger_reason_is_found() {
    let harness = sqlite().await;
    let account = harness.topped_up(1).await;
    for sql in [
        "CREATE TABLE loose AS SELECT * FROM ledger_entries",
        "DROP TABLE ledger_entries",
        "ALTER TABLE loose RENAME TO ledger_entries",
        "INSERT INTO ledger_entries SELECT account_id, 2, delta_micro, reason, 2000000, created_at FROM ledger_entries",
        "UPDATE accounts SET balance_micro = 2000000, ledger_entries = 2",
    ] {
        harness.sql(sql).await;
    }
    let (_, faults) = harness.faults().await;
    assert!(
        matches!(&faults[..], [(of, LedgerFaultKind::RepeatedReason { times: 2, .. })] if *of == account.to_string()),
        "{faults:?}"
    );
}
