//! Ledger actors with a real store: order, batches, and failing actors.

use std::time::Duration;

use domain::{
    Account, AccountId, Activation, BlobHash, Chance, ChargeOperation, Clock, CreatedVia, CreditOperation,
    CreditSource, LedgerOperation, Manifest, ManifestFile, Micro, Moved, Outcome, Page, Payment,
    PublishOperation, PublishOrder, Published, Refusal, SweepNumber, Target, Tariff, Time, VersionId,
};
use futures::future::join_all;
use sqlx::Connection;
use store::{NewToken, Store};

use crate::{LedgerTerms, Ledgers};

/// A new database with one provisional account.
struct LedgerHarness {
    store: Store,
    account: AccountId,
    clock: Clock,
    chance: Chance,
    _folder: tempfile::TempDir,
}

async fn sqlite() -> LedgerHarness {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("ledger.db").display());
    harness(&url, folder).await
}

/// `None` when there is no Postgres, which skips the test.
async fn postgres() -> Option<LedgerHarness> {
    let server = test_servers::postgres()?;
    let name = format!("actors_{}", Chance::from_system().base36(12));
    let mut connection = sqlx::PgConnection::connect(&server).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .execute(&mut connection)
        .await
        .unwrap();
    let (address, _) = server.rsplit_once('/').unwrap();
    Some(harness(&format!("{address}/{name}"), tempfile::tempdir().unwrap()).await)
}

async fn harness(url: &str, folder: tempfile::TempDir) -> LedgerHarness {
    let store = Store::open(url).await.unwrap();
    store.migrate().await.unwrap();
    let (clock, chance) = (Clock::manual(Time::from_millis(1_790_000_000_000)), Chance::seeded(5));
    let account = insert_account(&store, &clock, &chance).await;
    LedgerHarness { store, account, clock, chance, _folder: folder }
}

async fn insert_account(store: &Store, clock: &Clock, chance: &Chance) -> AccountId {
    let account = Account::provisional(clock.now(), Duration::from_secs(1800), chance);
    let token = NewToken::first_of(&account, chance.base36(64), chance);
    store.accounts().create(&account, &token).await.unwrap();
    account.id
}

impl LedgerHarness {
    async fn ledgers(&self) -> Ledgers {
        self.ledgers_that_idle(LedgerTerms::IDLE_AFTER).await
    }

    async fn ledgers_that_idle(&self, idle_after: Duration) -> Ledgers {
        let terms = LedgerTerms {
            tariff: Tariff { provisional_free_publishes: 10_000, ..Tariff::default() },
            chance: self.chance.clone(),
            clock: self.clock.clone(),
            idle_after,
        };
        Ledgers::start(self.store.clone(), terms).await.unwrap()
    }

    async fn strict_ledgers(&self) -> Ledgers {
        let terms = LedgerTerms {
            tariff: Tariff { provisional_free_publishes: 0, ..Tariff::default() },
            chance: self.chance.clone(),
            clock: self.clock.clone(),
            idle_after: LedgerTerms::IDLE_AFTER,
        };
        Ledgers::start(self.store.clone(), terms).await.unwrap()
    }

    fn publish(&self, slug: &str) -> PublishOperation {
        let path = "index.html".parse().unwrap();
        let file = ManifestFile {
            path,
            hash: BlobHash::of(slug.as_bytes()),
            size_bytes: 7,
            content_type: "text/html; charset=utf-8".into(),
            variants: vec![],
            bundled: None,
        };
        PublishOperation {
            order: PublishOrder {
                account: self.account,
                version: VersionId::new(self.clock.now(), &self.chance),
                slug: slug.parse().unwrap(),
                target: Target::NewOrExisting,
                activation: Activation::Live,
                pinned_to: None,
                payment: None,
                created_via: CreatedVia::Api,
                message: None,
                created_by: None,
                deadline: None,
                is_provisional: None,
                called_by: None,
            },
            manifest: Manifest::new(vec![file]),
            title: None,
            bundle: None,
            blobs_as_of: SweepNumber::default(),
            verdict: None,
        }
    }

    fn credit(&self, micro: i64, reason: &str) -> LedgerOperation {
        LedgerOperation::Credit(CreditOperation {
            account: self.account,
            amount: Micro::new(micro),
            reason: reason.into(),
            source: CreditSource::Dev,
        })
    }

    fn charge(&self, micro: i64, reason: &str) -> LedgerOperation {
        LedgerOperation::Charge(ChargeOperation {
            account: self.account,
            amount: Micro::new(micro),
            reason: reason.into(),
        })
    }

    async fn balance(&self) -> Micro {
        self.store.accounts().find(self.account).await.unwrap().unwrap().balance
    }
}

fn published(outcome: Outcome) -> Published {
    match outcome {
        Outcome::Published(published) => *published,
        other => panic!("not published: {other:?}"),
    }
}

/// Runs a test on both databases.
macro_rules! on_both_databases {
    ($(async fn $name:ident($harness:ident: &LedgerHarness) $body:block)+) => {$(
        mod $name {
            use super::*;

            async fn body($harness: &LedgerHarness) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                body(&super::sqlite().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                let Some(harness) = super::postgres().await else { return };
                body(&harness).await;
            }
        }
    )+};
}

on_both_databases! {
    async fn concurrent_publishes_get_every_number_once(harness: &LedgerHarness) {
        let ledgers = harness.ledgers().await;
        let operations = (0..200).map(|_| LedgerOperation::Publish(Box::new(harness.publish("one-page"))));
        let outcomes = join_all(operations.map(|operation| ledgers.settle(operation))).await;
        let mut seqs: Vec<u32> = outcomes.into_iter().map(|outcome| published(outcome.unwrap()).seq).collect();
        seqs.sort_unstable();
        assert_eq!(seqs, (1..=200).collect::<Vec<_>>());
    }

    async fn two_processes_with_an_actor_for_one_account_stay_correct(harness: &LedgerHarness) {
        let (one, other) = (harness.ledgers().await, harness.ledgers().await);
        let settle = |n: usize| {
            let ledgers = if n.is_multiple_of(2) { &one } else { &other };
            ledgers.settle(LedgerOperation::Publish(Box::new(harness.publish(["first", "second"][n % 3 % 2]))))
        };
        let outcomes = join_all((0..100).map(settle)).await;
        let mut seqs = std::collections::BTreeMap::<String, Vec<u32>>::new();
        for outcome in outcomes {
            let published = published(outcome.unwrap());
            seqs.entry(published.slug.to_string()).or_default().push(published.seq);
        }
        for (slug, mut seqs) in seqs {
            seqs.sort_unstable();
            assert_eq!(seqs, (1..=u32::try_from(seqs.len()).unwrap()).collect::<Vec<_>>(), "{slug}");
        }
    }

    async fn resubmitted_operation_settles_once(harness: &LedgerHarness) {
        let ledgers = harness.strict_ledgers().await;
        let mut operation = harness.publish("paid-page");
        operation.order.payment = Some(Payment::Dev(Micro::new(5_000)));
        let tries = (0..8).map(|_| ledgers.settle(LedgerOperation::Publish(Box::new(operation.clone()))));
        let outcomes: Vec<_> = join_all(tries).await.into_iter().map(|outcome| published(outcome.unwrap())).collect();
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]));
        assert_eq!(outcomes[0].receipt.as_ref().unwrap().amount, Micro::new(5_000));
        assert_eq!(harness.balance().await, Micro::ZERO);
        let artifact = harness.store.artifacts().find(harness.account, &operation.order.slug).await.unwrap().unwrap();
        assert_eq!(harness.store.artifacts().list_versions(harness.account, artifact.id, &Page::whole()).await.unwrap().rows.len(), 1);
    }

    async fn refused_operation_changes_nothing_and_its_refusal_is_stored(harness: &LedgerHarness) {
        let ledgers = harness.strict_ledgers().await;
        let operation = harness.publish("unpaid");
        for _ in 0..2 {
            let outcome = ledgers.settle(LedgerOperation::Publish(Box::new(operation.clone()))).await.unwrap();
            let Outcome::Refused(refusal) = outcome else { panic!("{outcome:?}") };
            assert!(matches!(*refusal, Refusal::PaymentRequired(_)), "{refusal:?}");
        }
        assert!(harness.store.artifacts().find(harness.account, &operation.order.slug).await.unwrap().is_none());
    }

    async fn each_reason_moves_money_once_and_balance_is_sum_of_entries(harness: &LedgerHarness) {
        let (one, other) = (harness.ledgers().await, harness.ledgers().await);
        let operations = (0..240_i64).map(|n| {
            let reason = format!("{}", n / 3);
            if n % 2 == 0 { harness.credit(1_000, &format!("in:{reason}")) } else { harness.charge(400, &format!("out:{reason}")) }
        });
        let settled = join_all(operations.enumerate().map(|(n, operation)| {
            let ledgers = if n.is_multiple_of(5) { &other } else { &one };
            ledgers.settle(operation)
        }))
        .await;
        let new = settled
            .into_iter()
            .filter(|outcome| matches!(outcome, Ok(Outcome::Moved(Moved { is_new: true, .. }))))
            .count();
        // There are 80 reasons, each with even and odd numbers, so each is used once in both directions.
        assert_eq!(new, 160);
        assert_eq!(harness.balance().await, Micro::new(80 * 1_000 - 80 * 400));
    }

    async fn prepaid_credit_is_never_spent_twice(harness: &LedgerHarness) {
        let (one, other) = (harness.strict_ledgers().await, harness.strict_ledgers().await);
        one.settle(harness.credit(5 * 5_000, "topup")).await.unwrap();
        let tries = (0..20).map(|n: usize| {
            let ledgers = if n.is_multiple_of(2) { &one } else { &other };
            ledgers.settle(LedgerOperation::Publish(Box::new(harness.publish("metered"))))
        });
        let outcomes = join_all(tries).await;
        let paid = outcomes.iter().filter(|outcome| matches!(outcome, Ok(Outcome::Published(_)))).count();
        assert_eq!(paid, 5);
        assert_eq!(harness.balance().await, Micro::ZERO);
    }

    async fn failing_operation_does_not_fail_others_in_its_batch(harness: &LedgerHarness) {
        let ledgers = harness.ledgers().await;
        let first = harness.publish("taken");
        ledgers.settle(LedgerOperation::Publish(Box::new(first.clone()))).await.unwrap();
        // Another account has already used this version id, so the database rejects it every time.
        let mut bad = harness.publish("faulty");
        bad.order.account = insert_account(&harness.store, &harness.clock, &harness.chance).await;
        ledgers.settle(LedgerOperation::Publish(Box::new(bad.clone()))).await.unwrap();
        let mut same_id = harness.publish("same-id");
        same_id.order.version = bad.order.version;
        let neighbours = (0..10).map(|_| LedgerOperation::Publish(Box::new(harness.publish("taken"))));
        let operations = neighbours.chain([LedgerOperation::Publish(Box::new(same_id))]);
        let outcomes = join_all(operations.map(|operation| ledgers.settle(operation))).await;
        let (well, ill) = outcomes.split_at(10);
        assert!(well.iter().all(|outcome| matches!(outcome, Ok(Outcome::Published(_)))), "{well:?}");
        // It gets the outcome that is stored under its id, and creates no second version.
        assert!(!matches!(&ill[0], Ok(Outcome::Published(published)) if published.account == harness.account), "{ill:?}");
    }

    async fn idle_actor_exits_without_losing_operations(harness: &LedgerHarness) {
        let ledgers = harness.ledgers_that_idle(Duration::from_millis(1)).await;
        for round in 0..60 {
            let operations = (0..4).map(|n| harness.credit(1, &format!("in:{round}:{n}")));
            for outcome in join_all(operations.map(|operation| ledgers.settle(operation))).await {
                assert!(matches!(outcome, Ok(Outcome::Moved(Moved { is_new: true, .. }))), "{outcome:?}");
            }
            tokio::time::sleep(Duration::from_micros(round * 100)).await;
        }
        assert_eq!(harness.balance().await, Micro::new(240));
    }
}

#[tokio::test]
async fn stop_settles_submitted_operations() {
    let harness = sqlite().await;
    let ledgers = harness.ledgers().await;
    let settled = join_all((0..50).map(|n| ledgers.settle(harness.credit(1, &format!("in:{n}"))))).await;
    ledgers.stop().await;
    assert_eq!(settled.iter().filter(|outcome| outcome.is_ok()).count(), 50);
    assert_eq!(harness.balance().await, Micro::new(50));
}
