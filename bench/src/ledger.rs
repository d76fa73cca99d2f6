//! Spends from one hot account: through the ledger's actor, with the same commit without it, and with plain
//! transactions as programs usually do, all on the same PostgreSQL.

mod plain;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use actors::{LedgerTerms, Ledgers};
use anyhow::{Context, ensure};
use domain::{
    Account, AccountId, Chance, ChargeOperation, Clock, LedgerOperation, Micro, Moved, Outcome, Tariff,
};
use futures::future::try_join_all;
use store::{NewToken, Store, Terms};

use crate::Bench;
use crate::figure::{Figure, Goal};
use crate::system::new_database;
use crate::table::{Row, Table};
use plain::Plain;

const CALLERS: usize = 32;
/// The ways alternate, so that other load on the machine affects all of them.
const ROUNDS: u32 = 3;
const ROUND: Duration = Duration::from_secs(3);
const AMOUNT_MICRO: i64 = 1;

/// A way to spend.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpendMethod {
    Actor,
    SelectForUpdate,
    UpdateWhere,
    SettleAlone,
}

const SPEND_METHODS: [SpendMethod; 4] =
    [SpendMethod::Actor, SpendMethod::SelectForUpdate, SpendMethod::UpdateWhere, SpendMethod::SettleAlone];

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let store = Store::open(&new_database(&bench.arguments).await?).await?;
    store.migrate().await?;
    let plain = Plain::new(&new_database(&bench.arguments).await?).await?;
    let harness = Arc::new(LedgerBench::new(store, plain).await?);
    let round = bench.extent().time(ROUND);
    let mut counts = SPEND_METHODS.map(|_| 0);
    for _ in 0..ROUNDS {
        for (method, count) in SPEND_METHODS.into_iter().zip(&mut counts) {
            *count += harness.spends(method, round).await?;
        }
    }
    harness.ledgers.stop().await;
    harness.plain.check().await?;
    add_rows(table, counts.map(|count| Figure::PerSecond(f64::from(count) / (round * ROUNDS).as_secs_f64())));
    Ok(())
}

/// The figures are in the order of the ways.
fn add_rows(
    table: &mut Table,
    [actor, select_for_update, update_where, alone]: [Figure; SPEND_METHODS.len()],
) {
    let row = || Row::of(format!("spends from one account, {CALLERS} callers, the actor"), actor);
    table.add(row().beside("SELECT … FOR UPDATE", select_for_update).goal(Goal::RatioAtLeast(10.0)));
    table.add(row().beside("UPDATE … WHERE balance >= $1", update_where));
    table.add(row().beside("its own commit, one by one", alone));
}

/// One account in each ledger, and the ways to spend from it.
struct LedgerBench {
    store: Store,
    ledgers: Ledgers,
    plain: Plain,
    account: AccountId,
    clock: Clock,
    chance: Chance,
    spent: AtomicU64,
}

impl LedgerBench {
    async fn new(store: Store, plain: Plain) -> anyhow::Result<Self> {
        let (clock, chance) = (Clock::system(), Chance::from_system());
        let terms = LedgerTerms {
            tariff: Tariff::default(),
            chance: chance.clone(),
            clock: clock.clone(),
            idle_after: LedgerTerms::IDLE_AFTER,
        };
        Ok(Self {
            account: insert_account(&store, &clock, &chance).await?,
            ledgers: Ledgers::start(store.clone(), terms).await?,
            store,
            plain,
            clock,
            chance,
            spent: AtomicU64::new(0),
        })
    }

    /// The number of spends of all callers in a round. Each is a task of its own, as calls of the service
    /// are.
    async fn spends(self: &Arc<Self>, method: SpendMethod, round: Duration) -> anyhow::Result<u32> {
        let end = Instant::now() + round;
        let callers = (0..CALLERS).map(|_| {
            let harness = self.clone();
            let caller = tokio::spawn(async move {
                let mut spends = 0;
                while Instant::now() < end {
                    harness.spend(method).await?;
                    spends += 1;
                }
                anyhow::Ok(spends)
            });
            async { caller.await? }
        });
        Ok(try_join_all(callers).await?.into_iter().sum())
    }

    async fn spend(&self, method: SpendMethod) -> anyhow::Result<()> {
        let reason = format!("bench:{}", self.spent.fetch_add(1, Ordering::Relaxed));
        let outcome = match method {
            SpendMethod::SelectForUpdate => return self.plain.select_for_update(AMOUNT_MICRO, &reason).await,
            SpendMethod::UpdateWhere => return self.plain.update_where(AMOUNT_MICRO, &reason).await,
            SpendMethod::Actor => self.ledgers.settle(self.operation(reason)).await?,
            SpendMethod::SettleAlone => self.settle_alone(self.operation(reason)).await?,
        };
        ensure!(matches!(outcome, Outcome::Moved(Moved { is_new: true, .. })), "a spend did not count");
        Ok(())
    }

    fn operation(&self, reason: String) -> LedgerOperation {
        LedgerOperation::Charge(ChargeOperation {
            account: self.account,
            amount: Micro::new(AMOUNT_MICRO),
            reason,
        })
    }

    /// The same commit without the actor's batches. The callers wait for the account's row lock.
    async fn settle_alone(&self, operation: LedgerOperation) -> anyhow::Result<Outcome> {
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: self.clock.now() };
        let outcomes = self.store.settle(self.account, &[operation], &terms).await?;
        outcomes.into_iter().next().context("an operation had no outcome")
    }
}

async fn insert_account(store: &Store, clock: &Clock, chance: &Chance) -> anyhow::Result<AccountId> {
    let account = Account::provisional(clock.now(), Duration::from_secs(24 * 3600), chance);
    let token = NewToken::first_of(&account, chance.base36(64), chance);
    store.accounts().create(&account, &token).await?;
    Ok(account.id)
}
