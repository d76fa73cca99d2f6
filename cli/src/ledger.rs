//! `handbill ledger`: whether the money adds up, and what moved on an account. It only reads.

use std::process::ExitCode;

use config::Settings;
use domain::{AccountId, LedgerEntry, Micro};
use serde_json::json;
use store::{LedgerFault, LedgerNews, LedgerProgress, LedgerTerms, Store};

use crate::admin::Form;
use crate::progress::{Progress, count};
use crate::{complain, parts, say};

const HEADINGS: [&str; 4] = ["WHEN", "MOVED", "BALANCE", "REASON"];
/// `2026-11-21T20:18:07.123Z`
const WHEN_WIDTH: usize = 24;
/// `-1000000.000001`
const MONEY_WIDTH: usize = 15;

pub(crate) async fn check(settings: &Settings) -> anyhow::Result<ExitCode> {
    let store = parts::open_store_in_use(settings).await?;
    let clock = parts::clock_of(&store, settings).await?;
    let terms = LedgerTerms { tariff: settings.tariff(), now: clock.now() };
    let mut progress = Progress::begin();
    let mut news = |news: LedgerNews| match news {
        LedgerNews::Fault(fault) => say(&told_fault(&fault)),
        LedgerNews::Progress(so_far) => progress.tell(|| told_progress(&so_far)),
    };
    let done = store.ledger().check(&terms, &mut news).await?;
    store.close().await?;
    say(&told_progress(&done));
    if done.faults == 0 {
        say("every balance is the sum of its entries");
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!(
        "{} found. What to do: keep a backup of the database as it is, look at the account with `handbill ledger show \
         ACCOUNT`, and find out who wrote to the database by another way than Handbill; entries are never changed",
        count(done.faults, "fault", "faults")
    ));
    Ok(ExitCode::FAILURE)
}

pub(crate) async fn show(account: &str, form: Form, settings: &Settings) -> anyhow::Result<ExitCode> {
    let store = parts::open_store_in_use(settings).await?;
    let Some(id) = store.accounts().find_named(account).await? else {
        return Ok(complain(
            "handbill: there is no account of that id or handle; a handle looks like acct_1a2b3c",
            1,
        ));
    };
    match form {
        Form::People => say(&line(HEADINGS.map(str::to_owned))),
        Form::Json => {}
    }
    let entries = each_entry(&store, id, |entry| match form {
        Form::People => say(&told_entry(entry)),
        Form::Json => say(&told_in_json(entry)),
    })
    .await?;
    if entries == 0 && form == Form::People {
        say("no money has moved on this account");
    }
    store.close().await?;
    Ok(ExitCode::SUCCESS)
}

async fn each_entry(
    store: &Store,
    account: AccountId,
    mut shown: impl FnMut(&LedgerEntry),
) -> anyhow::Result<u64> {
    let (mut after, mut entries) = (0, 0);
    loop {
        let page = store.ledger().list_after(account, after).await?;
        let Some(last) = page.last() else { return Ok(entries) };
        after = last.seq;
        entries += page.len() as u64;
        page.iter().for_each(&mut shown);
    }
}

fn told_entry(entry: &LedgerEntry) -> String {
    line([
        entry.created_at.rfc3339(),
        dollars(entry.delta),
        dollars(entry.balance_after),
        entry.reason.clone(),
    ])
}

fn line([when, moved, balance, reason]: [String; 4]) -> String {
    format!("{when:<WHEN_WIDTH$}  {moved:>MONEY_WIDTH$}  {balance:>MONEY_WIDTH$}  {reason}")
}

/// All six decimals, so that amounts stand below each other.
fn dollars(amount: Micro) -> String {
    let sign = if amount.is_negative() { "-" } else { "" };
    let micro = amount.get().unsigned_abs();
    format!("{sign}{}.{:06}", micro / 1_000_000, micro % 1_000_000)
}

/// An entry a line, so that a long ledger can be read as it comes.
fn told_in_json(entry: &LedgerEntry) -> String {
    json!({
        "seq": entry.seq,
        "created_at": entry.created_at.rfc3339(),
        "delta_usd": entry.delta.usd(),
        "balance_after_usd": entry.balance_after.usd(),
        "reason": entry.reason,
    })
    .to_string()
}

fn told_fault(fault: &LedgerFault) -> String {
    let handle = fault.handle.as_deref().unwrap_or("(gone)");
    format!("FAULT {handle} ({}): {}", fault.account, fault.kind)
}

fn told_progress(so_far: &LedgerProgress) -> String {
    format!(
        "{} checked, {}, {}",
        count(so_far.accounts, "account", "accounts"),
        count(so_far.entries, "entry", "entries"),
        count(so_far.receipts, "receipt", "receipts"),
    )
}

#[cfg(test)]
mod tests {
    use domain::Time;

    use super::*;

    #[test]
    fn amounts_stand_below_each_other_whatever_they_are() {
        let entry = |delta, balance, millis| LedgerEntry {
            seq: 1,
            delta: Micro::new(delta),
            reason: "publish:x".into(),
            balance_after: Micro::new(balance),
            created_at: Time::from_millis(millis),
        };
        let lines = [
            line(HEADINGS.map(str::to_owned)),
            told_entry(&entry(5_000_000, 5_000_000, 1_767_225_599_250)),
            told_entry(&entry(-5_000, -1_000_000_000_001, 1_767_225_600_000)),
        ];
        assert_eq!(
            lines.join("\n"),
            "WHEN                                MOVED          BALANCE  REASON\n\
             2025-12-31T23:59:59.25Z          5.000000         5.000000  publish:x\n\
             2026-01-01T00:00:00Z            -0.005000  -1000000.000001  publish:x"
        );
    }
}
