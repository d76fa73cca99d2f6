//! The rows of one publish in the database, one table at a time, and the statements that copy them. SQLite
//! and PostgreSQL both execute these. A number `n` identifies each copy, and every unique value is derived
//! from it.

use std::ops::RangeInclusive;

/// The slug of the page that was published.
pub const TEMPLATE_SLUG: &str = "template-page";

/// The credit of each account, and the price of each of its publishes.
const TOP_UP_MICRO: u64 = 5_000_000_000;
const PRICE_MICRO: u64 = 5_000;
/// Spreads names as evenly as random ones: the product of a number and this, cut to 32 bits.
const SPREAD: u64 = 2_654_435_761;
const SPREAD_MODULUS: u64 = 1 << 32;

/// A template row to copy: the columns that change.
pub struct Copied {
    pub table: &'static str,
    /// The condition for the template row.
    pub template: String,
    pub other: Vec<(&'static str, String)>,
}

/// Sets the balance of every account to the sum of its rows.
pub const ADD_UP: &str = "
    UPDATE accounts SET
        ledger_entries = (SELECT count(*) FROM ledger_entries AS entry WHERE entry.account_id = accounts.id),
        balance_micro =
            (SELECT coalesce(sum(delta_micro), 0) FROM ledger_entries AS entry WHERE entry.account_id = accounts.id),
        artifact_count = (SELECT count(*) FROM artifacts AS artifact
            WHERE artifact.account_id = accounts.id AND artifact.deleted_at IS NULL),
        storage_bytes =
            (SELECT coalesce(sum(total_bytes), 0) FROM versions AS version WHERE version.account_id = accounts.id);
    UPDATE usage SET publishes = (SELECT count(*) FROM versions AS version WHERE version.account_id = usage.account_id);";

/// An account with its owner, token, usage and audit log for each number. The publisher's is the template.
pub fn of_accounts() -> Vec<Copied> {
    let publisher = format!("(SELECT account_id FROM artifacts WHERE slug = '{TEMPLATE_SLUG}')");
    let person = format!("(SELECT user_id FROM memberships WHERE account_id = {publisher})");
    let (account, user) = (("account_id", id("C", "n")), ("user_id", id("S", "n")));
    let copied = |table, template: String, other: Vec<_>| Copied { table, template, other };
    let secret = || format!("{} || substr(template.secret_hash, 11)", spread_sql());
    vec![
        copied(
            "accounts",
            format!("template.id = {publisher}"),
            vec![
                ("id", id("C", "n")),
                ("handle", format!("'acct_' || {}", spread_sql())),
                ("claim_code", format!("'grown-' || {}", digits("n"))),
            ],
        ),
        copied(
            "users",
            format!("template.id = {person}"),
            vec![("id", id("S", "n")), ("username", format!("'grown-' || {}", digits("n")))],
        ),
        copied(
            "memberships",
            format!("template.account_id = {publisher}"),
            vec![account.clone(), user.clone()],
        ),
        copied("sessions", format!("template.user_id = {person}"), vec![("secret_hash", secret()), user]),
        copied(
            "tokens",
            format!("template.account_id = {publisher}"),
            vec![("id", id("T", "n")), ("secret_hash", secret()), account.clone()],
        ),
        copied("usage", format!("template.account_id = {publisher}"), vec![account.clone()]),
        copied(
            "audit",
            // An account has several entries, and one is copied.
            format!("template.id = (SELECT min(id) FROM audit WHERE account_id = {publisher})"),
            vec![("id", id("D", "n")), account],
        ),
    ]
}

/// An artifact with its version, content and route for each number, shared among the accounts.
pub fn of_artifacts(accounts: usize, hash: &str) -> Vec<Copied> {
    let (artifact, version) = (("artifact_id", id("A", "n")), ("version_id", id("V", "n")));
    let account = ("account_id", owner(accounts));
    let content = format!("{} || '{}'", spread_sql(), &hash[spread(0).len()..]);
    let host = ("host", format!("'page-' || {} || '-grow'", spread_sql()));
    let manifest = ("manifest", format!("replace(template.manifest, '{hash}', {content})"));
    let copied = |table, template: String, other: Vec<_>| Copied { table, template, other };
    vec![
        copied(
            "artifacts",
            format!("template.slug = '{TEMPLATE_SLUG}'"),
            vec![
                ("id", id("A", "n")),
                ("slug", format!("'page-' || {}", spread_sql())),
                ("live_version_id", id("V", "n")),
                host.clone(),
                account.clone(),
            ],
        ),
        copied(
            "versions",
            of_template("artifact_id"),
            vec![("id", id("V", "n")), artifact.clone(), account.clone(), manifest.clone()],
        ),
        copied("blobs", format!("template.hash = '{hash}'"), vec![("hash", content.clone())]),
        copied(
            "blob_refs",
            format!("template.hash = '{hash}'"),
            vec![("hash", content), version.clone(), account.clone()],
        ),
        copied(
            "routes",
            of_template("artifact_id"),
            vec![host, account.clone(), artifact.clone(), version.clone(), manifest],
        ),
        copied(
            "moderation_decisions",
            of_template("artifact_id"),
            vec![("id", id("M", "n")), artifact, version],
        ),
        copied(
            "job_outcomes",
            format!(
                "template.job_id = (SELECT live_version_id FROM artifacts WHERE slug = '{TEMPLATE_SLUG}')"
            ),
            vec![("job_id", id("V", "n")), account],
        ),
    ]
}

/// The first ledger entry of every account.
pub fn top_up() -> String {
    format!(
        "INSERT INTO ledger_entries (account_id, seq, delta_micro, reason, balance_after_micro, created_at)
         SELECT id, 1, {TOP_UP_MICRO}, 'topup-dev:' || id, {TOP_UP_MICRO}, created_at FROM accounts"
    )
}

/// A ledger entry for each publish, after the top-up.
pub fn entries(accounts: usize, numbers: &RangeInclusive<usize>) -> String {
    let seq = format!("((n - 1) / {accounts} + 2)");
    format!(
        "{} INSERT INTO ledger_entries (account_id, seq, delta_micro, reason, balance_after_micro, created_at)
         SELECT {}, {seq}, -{PRICE_MICRO}, 'publish:' || {}, {TOP_UP_MICRO} - {PRICE_MICRO} * ({seq} - 1),
             template.created_at
         FROM artifacts AS template CROSS JOIN numbers WHERE template.slug = '{TEMPLATE_SLUG}'",
        numbered(numbers),
        owner(accounts),
        id("V", "n"),
    )
}

/// The numbers as a table expression, which precedes a statement.
pub fn numbered(numbers: &RangeInclusive<usize>) -> String {
    format!(
        "WITH RECURSIVE numbers(n) AS
             (SELECT CAST({} AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n < {})",
        numbers.start(),
        numbers.end()
    )
}

/// Ten digits that are unique for each number.
pub fn spread(number: usize) -> String {
    format!("{:010}", number as u64 * SPREAD % SPREAD_MODULUS)
}

/// The SQL expression for the same of `n`.
fn spread_sql() -> String {
    format!("substr(CAST(10000000000 + (n * {SPREAD}) % {SPREAD_MODULUS} AS TEXT), 2)")
}

fn of_template(column: &str) -> String {
    format!("template.{column} = (SELECT id FROM artifacts WHERE slug = '{TEMPLATE_SLUG}')")
}

/// The account of number `n`. The first one is the publisher's.
fn owner(accounts: usize) -> String {
    let number = format!("(n - 1) % {accounts}");
    format!("CASE WHEN {number} = 0 THEN template.account_id ELSE {} END", id("C", &number))
}

/// An id with the length of ours, older than all new ones, with a letter for each kind of thing.
fn id(kind: &str, number: &str) -> String {
    format!("'01M80000000000000{kind}' || {}", digits(number))
}

fn digits(number: &str) -> String {
    format!("substr(CAST(100000000 + {number} AS TEXT), 2)")
}
