//! `handbill ledger`: verifies the ledger and shows an account's entries. It only reads.

use std::collections::VecDeque;
use std::process::ExitCode;

use client::show::{Fit, dollars, table};
use config::Settings;
use domain::{AccountId, LedgerEntry};
use serde_json::{Value, json};
use store::{LedgerFault, LedgerNews, LedgerProgress, LedgerTerms, Store};

use crate::output::{Form, say};
use crate::parts;
use crate::progress::{Progress, count};

/// How many entries the table shows. With `--json`, which needs no table in memory, all are printed.
const ENTRIES_SHOWN_MAX: usize = 10_000;
/// How many faults the JSON document lists. It has the count of all.
const FAULTS_LISTED_MAX: usize = 10_000;

pub(crate) async fn check(form: Form, settings: &Settings) -> anyhow::Result<ExitCode> {
    let store = parts::open_store_in_use(settings).await?;
    let clock = parts::clock_of(&store, settings).await?;
    let terms = LedgerTerms { tariff: settings.tariff(), now: clock.now() };
    let (mut progress, mut faults) = (Progress::begin(), Vec::new());
    let mut news = |news: LedgerNews| match news {
        LedgerNews::Fault(fault) => {
            form.say(|| fault_text(&fault));
            if form == Form::Json && faults.len() < FAULTS_LISTED_MAX {
                faults.push(fault_json(&fault));
            }
        }
        LedgerNews::Progress(so_far) => progress.print(|| progress_text(&so_far)),
    };
    let done = store.ledger().check(&terms, &mut news).await?;
    store.close().await?;
    form.print(|| conclusion(&done), || checked_json(&done, &faults));
    Ok(if done.faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn conclusion(done: &LedgerProgress) -> String {
    let checked = progress_text(done);
    if done.faults == 0 {
        return format!("{checked}\nEvery balance is the sum of its entries.");
    }
    format!(
        "{checked}\n{} found. Keep a backup of the database in this state, check the account with `handbill ledger \
         show ACCOUNT`, and find out what wrote to the database besides Handbill. Handbill never changes entries.",
        count(done.faults, "fault", "faults")
    )
}

fn checked_json(done: &LedgerProgress, faults: &[Value]) -> Value {
    json!({
        "accounts": done.accounts,
        "entries": done.entries,
        "receipts": done.receipts,
        "fault_count": done.faults,
        "faults": faults,
    })
}

pub(crate) async fn show(account: &str, form: Form, settings: &Settings) -> anyhow::Result<ExitCode> {
    let store = parts::open_store_in_use(settings).await?;
    let Some(id) = store.accounts().find_named(account).await? else {
        store.close().await?;
        let hint = "a handle looks like acct_1a2b3c; the dashboard and `handbill account` show it";
        return Ok(form.refuse("there is no account with that id or handle", "not_found", hint));
    };
    match form {
        Form::People => say(&shown(&store, id).await?),
        Form::Json => print_all(&store, id).await?,
    }
    store.close().await?;
    Ok(ExitCode::SUCCESS)
}

/// The newest entries as a table.
async fn shown(store: &Store, account: AccountId) -> anyhow::Result<String> {
    let mut rows = VecDeque::new();
    let entries = each_entry(store, account, |entry| {
        if rows.len() == ENTRIES_SHOWN_MAX {
            rows.pop_front();
        }
        rows.push_back(columns_of(entry));
    })
    .await?;
    let fit = Fit { shortened: Some("REASON"), left_out: &["BALANCE", "TIME"] };
    let table =
        table(["TIME", "AMOUNT", "BALANCE", "REASON"], fit, rows, "This account has no ledger entries.");
    Ok(if entries > ENTRIES_SHOWN_MAX as u64 {
        format!(
            "{table}\n\nThese are the newest {ENTRIES_SHOWN_MAX} of {entries} entries. --json prints all."
        )
    } else {
        table
    })
}

fn columns_of(entry: &LedgerEntry) -> [String; 4] {
    [entry.created_at.rfc3339(), dollars(entry.delta), dollars(entry.balance_after), entry.reason.clone()]
}

/// Prints all entries as one array, one entry per line, so that a long ledger is never held in memory.
async fn print_all(store: &Store, account: AccountId) -> anyhow::Result<()> {
    let mut opening = "[";
    each_entry(store, account, |entry| {
        say(&format!("{opening}{}", entry_json(entry)));
        opening = ",";
    })
    .await?;
    say(if opening == "[" { "[]" } else { "]" });
    Ok(())
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

fn fault_json(fault: &LedgerFault) -> Value {
    json!({ "account": fault.account, "handle": fault.handle, "message": fault.kind.to_string() })
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
