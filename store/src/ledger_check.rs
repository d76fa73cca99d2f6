//! Checks that every account's ledger adds up. It reads page by page, each page from one snapshot, so that an
//! account is compared with exactly its entries. It must never correct anything: a wrong balance is for
//! people to investigate.

mod fault;

use anyhow::Context;
use domain::{AccountId, LedgerEntry, Micro, Month, Outcome, Reason, Receipt, Tariff, Time};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, FromQueryResult, QueryFilter, QueryOrder,
    QuerySelect, Statement, Value,
};

pub use fault::{LedgerFault, LedgerFaultKind};

use crate::handles::LedgerStore;
use crate::monthly_limits::FreeLimits;
use crate::rows;

const ACCOUNTS_PAGE: i64 = 200;
const OUTCOMES_PAGE: u64 = 500;
const ENTRIES_PAGE: u64 = 1_000;
/// Per check and page of accounts. The first faults are enough to investigate.
const FAULTS_SHOWN_MAX: u64 = 20;

/// Events that are reported during a check.
#[derive(Clone, Debug)]
pub enum LedgerNews {
    Progress(LedgerProgress),
    Fault(LedgerFault),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerProgress {
    pub accounts: u64,
    pub entries: u64,
    pub receipts: u64,
    pub faults: u64,
}

/// What the ledgers are compared with.
#[derive(Clone, Debug)]
pub struct LedgerTerms {
    pub tariff: Tariff,
    pub now: Time,
}

/// An account with the sums of its entries.
#[derive(FromQueryResult)]
struct Summed {
    id: String,
    handle: String,
    status: String,
    created_at: i64,
    balance_micro: i64,
    ledger_entries: i64,
    provisional_publishes: i64,
    entries: i64,
    moved_micro: i64,
    last_seq: i64,
    month_publishes: i64,
    month_views: i64,
    paid_publishes: i64,
}

// PostgreSQL sums BIGINTs to NUMERIC, hence the casts. Paid publishes count from the claim on, or for the
// whole life of a provisional account, as the allowance does. The two times come from different clocks, hence
// the tolerance of five minutes: a difference between clocks is not a fault of the ledger.
const SUMMED: &str = "
    SELECT a.id AS id, a.handle AS handle, a.status AS status, a.created_at AS created_at,
        a.balance_micro AS balance_micro,
        a.ledger_entries AS ledger_entries, a.provisional_publishes AS provisional_publishes,
        (SELECT COUNT(*) FROM ledger_entries e WHERE e.account_id = a.id) AS entries,
        CAST((SELECT COALESCE(SUM(e.delta_micro), 0) FROM ledger_entries e WHERE e.account_id = a.id) AS BIGINT)
            AS moved_micro,
        (SELECT COALESCE(MAX(e.seq), 0) FROM ledger_entries e WHERE e.account_id = a.id) AS last_seq,
        COALESCE(u.publishes, 0) AS month_publishes, COALESCE(u.views, 0) AS month_views,
        (SELECT COUNT(*) FROM ledger_entries e WHERE e.account_id = a.id AND e.reason LIKE 'publish:%'
            AND (a.status = 'provisional' OR (e.created_at >= $3 - 300000 AND e.created_at >= COALESCE(a.claimed_at, 0) - 300000)))
            AS paid_publishes
    FROM accounts a LEFT JOIN usage u ON u.account_id = a.id AND u.month = $2
    WHERE a.id > $1 ORDER BY a.id LIMIT $4";

#[derive(FromQueryResult)]
struct Noted {
    account_id: String,
    seq: i64,
    reason: String,
    delta_micro: i64,
    balance_after_micro: i64,
    run_micro: i64,
}

const WRONG_RUN: &str = "
    SELECT account_id, seq, reason, delta_micro, balance_after_micro, run_micro FROM (
        SELECT account_id, seq, reason, delta_micro, balance_after_micro,
            CAST(SUM(delta_micro) OVER (PARTITION BY account_id ORDER BY seq) AS BIGINT) AS run_micro
        FROM ledger_entries WHERE account_id >= $1 AND account_id <= $2
    ) AS running
    WHERE balance_after_micro <> run_micro ORDER BY account_id, seq LIMIT $3";

const WRONG_WAY: &str = "
    SELECT account_id, seq, reason, delta_micro, balance_after_micro, balance_after_micro AS run_micro
    FROM ledger_entries
    WHERE account_id >= $1 AND account_id <= $2 AND CASE WHEN reason LIKE 'topup-%' THEN delta_micro <= 0
        WHEN reason LIKE 'publish:%' OR reason LIKE 'visibility:%' OR reason LIKE 'storage:%'
            OR reason LIKE 'traffic:%' THEN delta_micro >= 0
        ELSE FALSE END
    ORDER BY account_id, seq LIMIT $3";

#[derive(FromQueryResult)]
struct Repeated {
    account_id: String,
    reason: String,
    times: i64,
}

const REPEATED: &str = "
    SELECT account_id, reason, COUNT(*) AS times FROM ledger_entries
    WHERE account_id >= $1 AND account_id <= $2
    GROUP BY account_id, reason HAVING COUNT(*) > 1 ORDER BY account_id, reason LIMIT $3";

impl LedgerStore<'_> {
    /// Checks the ledgers of all accounts and all receipts that are still stored.
    pub async fn check(
        self,
        terms: &LedgerTerms,
        report: &mut impl FnMut(LedgerNews),
    ) -> anyhow::Result<LedgerProgress> {
        let mut progress = LedgerProgress::default();
        let mut after = String::new();
        loop {
            let reading = self.0.database.begin_reading().await?;
            let page = summed_after(&reading, &after, terms).await?;
            let (Some(first), Some(last)) = (page.first(), page.last()) else { break };
            let range = [first.id.clone(), last.id.clone()];
            after.clone_from(&last.id);
            let limits = FreeLimits::read(&reading, &terms.tariff).await?;
            let month = terms.now.month();
            let mut faults: Vec<LedgerFault> =
                page.iter().flat_map(|account| faults_of(account, &limits, month)).collect();
            faults.extend(faults_of_entries(&reading, &page, &range).await?);
            reading.commit().await.context("end reading ledgers")?;
            progress.accounts += page.len() as u64;
            progress.entries += page.iter().map(|account| rows::count(account.entries)).sum::<u64>();
            report_faults(faults, &mut progress, report);
        }
        self.check_receipts(&mut progress, report).await?;
        Ok(progress)
    }

    /// Every receipt that was issued must match an entry of the same amount.
    async fn check_receipts(
        self,
        progress: &mut LedgerProgress,
        report: &mut impl FnMut(LedgerNews),
    ) -> anyhow::Result<()> {
        let mut after = String::new();
        loop {
            let page = entity::job_outcome::Entity::find()
                .filter(entity::job_outcome::Column::JobId.gt(after.as_str()))
                .filter(entity::job_outcome::Column::AccountId.is_not_null())
                .order_by_asc(entity::job_outcome::Column::JobId)
                .limit(OUTCOMES_PAGE)
                .all(&self.0.database.reader)
                .await?;
            let Some(last) = page.last() else { return Ok(()) };
            after.clone_from(&last.job_id);
            let mut faults = Vec::new();
            for row in page {
                let outcome: Outcome = serde_json::from_str(&row.outcome)
                    .with_context(|| format!("malformed outcome of job {} in the database", row.job_id))?;
                let (Some(receipt), Some(account)) = (receipt_of(&outcome), row.account_id) else { continue };
                progress.receipts += 1;
                faults.extend(self.check_receipt(account, receipt).await?);
            }
            report_faults(faults, progress, report);
        }
    }

    async fn check_receipt(self, account: String, receipt: &Receipt) -> anyhow::Result<Option<LedgerFault>> {
        let reason = Reason::DevTopUp(rows::parse(&receipt.id, "a receipt's id")?).to_string();
        let entry = entity::ledger_entry::Entity::find()
            .filter(entity::ledger_entry::Column::AccountId.eq(account.as_str()))
            .filter(entity::ledger_entry::Column::Reason.eq(reason.as_str()))
            .one(&self.0.database.reader)
            .await?;
        let entered = entry.map(|entry| Micro::new(entry.delta_micro));
        if entered == Some(receipt.amount) {
            return Ok(None);
        }
        let found =
            entity::account::Entity::find_by_id(account.as_str()).one(&self.0.database.reader).await?;
        // A purged account's ledger is deleted with it.
        Ok(found.map(|row| LedgerFault {
            account,
            handle: Some(row.handle),
            kind: LedgerFaultKind::Receipt { reason, amount: receipt.amount, entered },
        }))
    }

    /// The entries of an account after this number, in order.
    pub async fn list_after(self, account: AccountId, after: i64) -> anyhow::Result<Vec<LedgerEntry>> {
        let found = entity::ledger_entry::Entity::find()
            .filter(entity::ledger_entry::Column::AccountId.eq(account.to_string()))
            .filter(entity::ledger_entry::Column::Seq.gt(after))
            .order_by_asc(entity::ledger_entry::Column::Seq)
            .limit(ENTRIES_PAGE)
            .all(&self.0.database.reader)
            .await?;
        Ok(found.into_iter().map(rows::ledger_entry).collect())
    }
}

async fn summed_after(
    reading: &DatabaseTransaction,
    after: &str,
    terms: &LedgerTerms,
) -> anyhow::Result<Vec<Summed>> {
    let month = terms.now.month();
    let values: [Value; 4] =
        [after.into(), month.to_string().into(), month.start().millis().into(), ACCOUNTS_PAGE.into()];
    rows_of(reading, SUMMED, values).await.context("add up ledgers")
}

async fn faults_of_entries(
    reading: &DatabaseTransaction,
    page: &[Summed],
    [first, last]: &[String; 2],
) -> anyhow::Result<Vec<LedgerFault>> {
    let range = || -> [Value; 3] {
        [first.as_str().into(), last.as_str().into(), rows::number(FAULTS_SHOWN_MAX).into()]
    };
    let fault = |account: String, kind| {
        let handle = page.iter().find(|summed| summed.id == account).map(|summed| summed.handle.clone());
        LedgerFault { account, handle, kind }
    };
    let mut faults = Vec::new();
    for row in rows_of::<Noted, 3>(reading, WRONG_RUN, range()).await? {
        let (recorded, entries) = (Micro::new(row.balance_after_micro), Micro::new(row.run_micro));
        let kind = LedgerFaultKind::RunningBalance { seq: row.seq, reason: row.reason, recorded, entries };
        faults.push(fault(row.account_id, kind));
    }
    for row in rows_of::<Noted, 3>(reading, WRONG_WAY, range()).await? {
        let delta = Micro::new(row.delta_micro);
        let kind = LedgerFaultKind::WrongWay { seq: row.seq, reason: row.reason, delta };
        faults.push(fault(row.account_id, kind));
    }
    for row in rows_of::<Repeated, 3>(reading, REPEATED, range()).await? {
        let kind = LedgerFaultKind::RepeatedReason { reason: row.reason, times: row.times };
        faults.push(fault(row.account_id, kind));
    }
    Ok(faults)
}

async fn rows_of<T: FromQueryResult, const N: usize>(
    reading: &DatabaseTransaction,
    sql: &'static str,
    values: [Value; N],
) -> anyhow::Result<Vec<T>> {
    let statement = Statement::from_sql_and_values(reading.get_database_backend(), sql, values);
    Ok(T::find_by_statement(statement).all(reading).await?)
}

fn report_faults(
    faults: Vec<LedgerFault>,
    progress: &mut LedgerProgress,
    report: &mut impl FnMut(LedgerNews),
) {
    progress.faults += faults.len() as u64;
    faults.into_iter().for_each(|fault| report(LedgerNews::Fault(fault)));
    report(LedgerNews::Progress(*progress));
}

fn faults_of(account: &Summed, limits: &FreeLimits, month: Month) -> Vec<LedgerFault> {
    let mut kinds = Vec::new();
    if account.balance_micro != account.moved_micro {
        let (balance, entries) = (Micro::new(account.balance_micro), Micro::new(account.moved_micro));
        kinds.push(LedgerFaultKind::Balance { balance, entries });
    }
    let (counted, entries, last_seq) = (account.ledger_entries, account.entries, account.last_seq);
    if counted != entries || entries != last_seq {
        kinds.push(LedgerFaultKind::Count { counted, entries, last_seq });
    }
    for (what, count) in [
        ("publishes of its whole life", account.provisional_publishes),
        ("publishes of the month", account.month_publishes),
        ("views of the month", account.month_views),
    ] {
        if count < 0 {
            kinds.push(LedgerFaultKind::NegativeAllowance { what, count });
        }
    }
    kinds.extend(over_use(account, limits, month));
    let fault =
        |kind| LedgerFault { account: account.id.clone(), handle: Some(account.handle.clone()), kind };
    kinds.into_iter().map(fault).collect()
}

fn over_use(account: &Summed, limits: &FreeLimits, month: Month) -> Option<LedgerFaultKind> {
    let (publishes, free) = match account.status.as_str() {
        "provisional" => {
            let created_at = Time::from_millis(account.created_at);
            (account.provisional_publishes, limits.provisional_since(created_at))
        }
        _ => (account.month_publishes, limits.claimed(month)),
    };
    let paid = account.paid_publishes;
    (publishes.saturating_sub(paid) > free).then_some(LedgerFaultKind::OverUse { publishes, paid, free })
}

fn receipt_of(outcome: &Outcome) -> Option<&Receipt> {
    match outcome {
        Outcome::Published(published) => published.receipt.as_ref(),
        Outcome::VisibilitySet(set) => set.receipt.as_ref(),
        Outcome::ToppedUp(topped_up) => Some(&topped_up.receipt),
        Outcome::Moved(_) | Outcome::Refused(_) => None,
    }
}
