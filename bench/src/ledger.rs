//! Spends on one hot account: by the ledger's actor, and by row-lock transactions of their own without it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use actors::{LedgerTerms, Ledgers};
use anyhow::ensure;
use domain::{Account, AccountId, Chance, ChargeDeed, Clock, Deed, Micro, Moved, Outcome, Tariff};
use futures::future::try_join_all;
use store::{NewToken, Store, Terms};

use crate::Bench;
use crate::house::new_database;
use crate::table::{NO_GOAL, Table};

const CALLERS: usize = 32;
/// Both ways take turns, so that what else the machine does hits both.
const ROUNDS: u32 = 3;
const ROUND: Duration = Duration::from_secs(3);

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let store = Store::open(&new_database(&bench.arguments).await?).await?;
    store.migrate().await?;
    let bed = Bed::new(store).await?;
    let (mut by_actor, mut by_row_lock) = (0, 0);
    for _ in 0..ROUNDS {
        by_actor += bed.spends(async |deed| Ok(bed.ledgers.settle(deed).await?)).await?;
        by_row_lock += bed.spends(async |deed| bed.settle_alone(deed).await).await?;
    }
    bed.ledgers.stop().await;
    let seconds = u64::from(ROUNDS) * ROUND.as_secs();
    let ratio = by_actor as f64 / by_row_lock as f64;
    table.add("ledger, 32 callers, a transaction each", format!("{} /s", by_row_lock / seconds), NO_GOAL, "");
    table.add("ledger, 32 callers, the actor", format!("{} /s", by_actor / seconds), NO_GOAL, "");
    table.add("ledger, actor to transactions", format!("{ratio:.1} ×"), "≥ 5 ×", "");
    Ok(())
}

/// One account, and the two ways to spend from it.
struct Bed {
    store: Store,
    ledgers: Ledgers,
    account: AccountId,
    clock: Clock,
    chance: Chance,
    spent: AtomicU64,
}

impl Bed {
    async fn new(store: Store) -> anyhow::Result<Self> {
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
            clock,
            chance,
            spent: AtomicU64::new(0),
        })
    }

    /// How many spends all callers together get done in a round.
    async fn spends<F>(&self, settle: F) -> anyhow::Result<u64>
    where
        F: AsyncFn(Deed) -> anyhow::Result<Outcome>,
    {
        let end = Instant::now() + ROUND;
        let callers = (0..CALLERS).map(|_| async {
            let mut spends = 0;
            while Instant::now() < end {
                let outcome = settle(self.spend()).await?;
                ensure!(
                    matches!(outcome, Outcome::Moved(Moved { is_new: true, .. })),
                    "a spend did not count"
                );
                spends += 1;
            }
            Ok(spends)
        });
        Ok(try_join_all(callers).await?.into_iter().sum())
    }

    fn spend(&self) -> Deed {
        let number = self.spent.fetch_add(1, Ordering::Relaxed);
        Deed::Charge(ChargeDeed {
            account: self.account,
            amount: Micro::new(1),
            reason: format!("bench:{number}"),
        })
    }

    /// The same commit, without the actor to order and gather the callers: they queue at the account's row.
    async fn settle_alone(&self, deed: Deed) -> anyhow::Result<Outcome> {
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: self.clock.now() };
        let outcomes = self.store.settle(self.account, &[deed], &terms).await?;
        outcomes.into_iter().next().ok_or_else(|| anyhow::anyhow!("a deed had no outcome"))
    }
}

async fn insert_account(store: &Store, clock: &Clock, chance: &Chance) -> anyhow::Result<AccountId> {
    let account = Account::provisional(clock.now(), Duration::from_secs(24 * 3600), chance);
    let token = NewToken::first_of(&account, chance.base36(64), chance);
    store.insert_account(&account, &token).await?;
    Ok(account.id)
}
