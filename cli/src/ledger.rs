//! `handbill ledger`: verifies the ledger and shows an account's entries. It only reads.

use std::process::ExitCode;

use config::Settings;
use domain::{AccountId, LedgerEntry, Micro};
use serde_json::json;
use store::{LedgerFault, LedgerNews, LedgerProgress, LedgerTerms, Store};

use crate::admin::Form;
use crate::progress::{Progress, count};
use crate::{complain, parts, say};

const HEADINGS: [&str; 4] = ["TIME", "AMOUNT", "BALANCE", "REASON"];
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
        LedgerNews::Fault(fault) => say(&fault_text(&fault)),
        LedgerNews::Progress(so_far) => progress.print(|| progress_text(&so_far)),
    };
    let done = store.ledger().check(&terms, &mut news).await?;
    store.close().await?;
    say(&progress_text(&done));
    if done.faults == 0 {
        say("Every balance is the sum of its entries.");
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!(
        "{} found. Keep a backup of the database in this state, check the account with `handbill ledger show \
         ACCOUNT`, and find out what wrote to the database besides Handbill. Handbill never changes entries.",
        count(done.faults, "fault", "faults")
    ));
    Ok(ExitCode::FAILURE)
}

pub(crate) async fn show(account: &str, form: Form, settings: &Settings) -> anyhow::Result<ExitCode> {
    let store = parts::open_store_in_use(settings).await?;
    let Some(id) = store.accounts().find_named(account).await? else {
        return Ok(complain(
            "handbill: there is no account with that id or handle; a handle looks like acct_1a2b3c",
            1,
        ));
    };
    match form {
        Form::People => say(&line(HEADINGS.map(str::to_owned))),
        Form::Json => {}
    }
    let entries = each_entry(&store, id, |entry| match form {
        Form::People => say(&entry_text(entry)),
        Form::Json => say(&entry_json(entry)),
    })
    .await?;
    if entries == 0 && form == Form::People {
        say("This account has no ledger entries.");
    }
    store.close().await?;
    Ok(ExitCode::SUCCESS)
}

async fn each_entry(
    store: &Store,
    account: AccountId,
    mut print: impl FnMut(&LedgerEntry),
) -> anyhow::Result<u64> {
    let (mut after, mut entries) = (0, 0);
    loop {
        let page = store.ledger().list_after(account, after).await?;
        let Some(last) = page.last() else { return Ok(entries) };
        after = last.seq;
        entries += page.len() as u64;
        page.iter().for_each(&mut print);
    }
}

fn entry_text(entry: &LedgerEntry) -> String {
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

/// Always six decimals, so that amounts line up.
fn dollars(amount: Micro) -> String {
    let sign = if amount.is_negative() { "-" } else { "" };
    let micro = amount.get().unsigned_abs();
    format!("{sign}{}.{:06}", micro / 1_000_000, micro % 1_000_000)
}

/// One entry per line, so that a long ledger can be processed as a stream.
fn entry_json(entry: &LedgerEntry) -> String {
    json!({
        "seq": entry.seq,
        "created_at": entry.created_at.rfc3339(),
        "delta_usd": entry.delta.usd(),
        "balance_after_usd": entry.balance_after.usd(),
        "reason": entry.reason,
    })
    .to_string()
}

fn fault_text(fault: &LedgerFault) -> String {
    let handle = fault.handle.as_deref().unwrap_or("(deleted)");
    format!("FAULT {handle} ({}): {}", fault.account, fault.kind)
}

fn progress_text(so_far: &LedgerProgress) -> String {
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
    fn ledger_amounts_are_aligned() {
        let entry = |delta, balance, millis| LedgerEntry {
            seq: 1,
            delta: Micro::new(delta),
            reason: "publish:x".into(),
            balance_after: Micro::new(balance),
            created_at: Time::from_millis(millis),
        };
        let lines = [
            line(HEADINGS.map(str::to_owned)),
            entry_text(&entry(5_000_000, 5_000_000, 1_767_225_599_250)),
            entry_text(&entry(-5_000, -1_000_000_000_001, 1_767_225_600_000)),
        ];
        assert_eq!(
            lines.join("\n"),
            "TIME                               AMOUNT          BALANCE  REASON\n\
             2025-12-31T23:59:59.25Z          5.000000         5.000000  publish:x\n\
             2026-01-01T00:00:00Z            -0.005000  -1000000.000001  publish:x"
        );
    }
}
