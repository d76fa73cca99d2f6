//! Spends without a ledger: one transaction each on pooled connections, with the account's row locked. Both
//! common statements are measured.

use anyhow::{Context, ensure};
use sqlx::{PgPool, postgres::PgPoolOptions};

/// A common default for programs without measurements.
const CONNECTIONS: u32 = 10;
const BALANCE: i64 = 1_000_000_000_000;
const ACCOUNT: i64 = 1;

const TABLES: &str = "
    CREATE TABLE plain_accounts (id BIGINT PRIMARY KEY, balance_micro BIGINT NOT NULL);
    CREATE TABLE plain_entries (
        account_id BIGINT NOT NULL REFERENCES plain_accounts (id),
        reason TEXT NOT NULL,
        delta_micro BIGINT NOT NULL,
        balance_after_micro BIGINT NOT NULL,
        created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
        PRIMARY KEY (account_id, reason)
    );";
const ENTER: &str = "INSERT INTO plain_entries (account_id, reason, delta_micro, balance_after_micro)
    VALUES ($1, $2, $3, $4)";

pub struct Plain(PgPool);

impl Plain {
    pub async fn new(database: &str) -> anyhow::Result<Self> {
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).connect(database).await?;
        sqlx::raw_sql(TABLES).execute(&pool).await.context("make the plain ledger's tables")?;
        let insert = sqlx::query("INSERT INTO plain_accounts (id, balance_micro) VALUES ($1, $2)");
        insert.bind(ACCOUNT).bind(BALANCE).execute(&pool).await?;
        Ok(Self(pool))
    }

    /// Reads the balance with a lock, records the movement, and writes the new balance.
    pub async fn select_for_update(&self, amount_micro: i64, reason: &str) -> anyhow::Result<()> {
        let mut transaction = self.0.begin().await?;
        let select = sqlx::query_scalar("SELECT balance_micro FROM plain_accounts WHERE id = $1 FOR UPDATE");
        let balance: i64 = select.bind(ACCOUNT).fetch_one(&mut *transaction).await?;
        ensure!(balance >= amount_micro, "the account is empty");
        let left = balance - amount_micro;
        let enter = sqlx::query(ENTER).bind(ACCOUNT).bind(reason).bind(-amount_micro).bind(left);
        enter.execute(&mut *transaction).await?;
        let write = sqlx::query("UPDATE plain_accounts SET balance_micro = $2 WHERE id = $1");
        write.bind(ACCOUNT).bind(left).execute(&mut *transaction).await?;
        Ok(transaction.commit().await?)
    }

    /// Reduces the balance if it suffices, and records the movement.
    pub async fn update_where(&self, amount_micro: i64, reason: &str) -> anyhow::Result<()> {
        let mut transaction = self.0.begin().await?;
        let take = sqlx::query_scalar(
            "UPDATE plain_accounts SET balance_micro = balance_micro - $2
             WHERE id = $1 AND balance_micro >= $2 RETURNING balance_micro",
        );
        let left: i64 = take.bind(ACCOUNT).bind(amount_micro).fetch_one(&mut *transaction).await?;
        let enter = sqlx::query(ENTER).bind(ACCOUNT).bind(reason).bind(-amount_micro).bind(left);
        enter.execute(&mut *transaction).await?;
        Ok(transaction.commit().await?)
    }

    /// Checks that the account lost exactly what was spent.
    pub async fn check(&self) -> anyhow::Result<()> {
        let adds_up: bool = sqlx::query_scalar(
            "SELECT balance_micro - $1 = (SELECT coalesce(sum(delta_micro), 0)::bigint FROM plain_entries)
             FROM plain_accounts",
        )
        .bind(BALANCE)
        .fetch_one(&self.0)
        .await?;
        ensure!(adds_up, "the plain ledger does not add up");
        Ok(())
    }
}
