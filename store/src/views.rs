//! Adds the views that edges have counted to the accounts' months and the pages' days, each batch once.

use std::collections::{BTreeMap, HashSet};

use anyhow::Context;
use domain::{JobId, ViewsJob};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, LockType, OnConflict};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect, TryInsertResult};

use crate::handles::ViewStore;
use crate::rows;

impl ViewStore<'_> {
    /// Adds the views of a job. A repeated job adds nothing.
    pub async fn add(self, job: JobId, counted: &ViewsJob) -> anyhow::Result<()> {
        let transaction = self.0.database.begin().await?;
        if !is_first(&transaction, job, counted).await? {
            return Ok(());
        }
        let mut by_account: BTreeMap<String, i64> = BTreeMap::new();
        for view in &counted.views {
            *by_account.entry(view.account.to_string()).or_default() += rows::number(view.count);
        }
        let alive = existing(&transaction, by_account.keys()).await?;
        let month = counted.counted_at.month().to_string();
        // In the order of the accounts, so that two batches cannot deadlock.
        for (account, views) in by_account.into_iter().filter(|(account, _)| alive.contains(account)) {
            let row = entity::usage::ActiveModel {
                account_id: Set(account),
                month: Set(month.clone()),
                publishes: Set(0),
                views: Set(views),
            };
            let mut add =
                OnConflict::columns([entity::usage::Column::AccountId, entity::usage::Column::Month]);
            add.value(
                entity::usage::Column::Views,
                Expr::col((entity::usage::Entity, entity::usage::Column::Views)).add(views),
            );
            entity::usage::Entity::insert(row).on_conflict(add).exec_without_returning(&transaction).await?;
        }
        add_to_day(&transaction, counted, &alive).await?;
        transaction.commit().await.context("commit views")
    }
}

async fn add_to_day(
    transaction: &DatabaseTransaction,
    counted: &ViewsJob,
    alive: &HashSet<String>,
) -> anyhow::Result<()> {
    use entity::daily_view::Column;
    let mut by_host: BTreeMap<&str, (String, i64)> = BTreeMap::new();
    for view in &counted.views {
        let account = view.account.to_string();
        if alive.contains(&account) {
            by_host.entry(view.host.as_str()).or_insert((account, 0)).1 += rows::number(view.count);
        }
    }
    if by_host.is_empty() {
        return Ok(());
    }
    let day = counted.counted_at.day().number();
    let rows = by_host.into_iter().map(|(host, (account, views))| entity::daily_view::ActiveModel {
        host: Set(host.to_owned()),
        day: Set(day),
        account_id: Set(account),
        views: Set(views),
    });
    let mut add = OnConflict::columns([Column::Host, Column::Day]);
    add.value(
        Column::Views,
        Expr::col((entity::daily_view::Entity, Column::Views)).add(Expr::col(("excluded", Column::Views))),
    );
    entity::daily_view::Entity::insert_many(rows)
        .on_conflict(add)
        .exec_without_returning(transaction)
        .await?;
    Ok(())
}

async fn is_first(transaction: &DatabaseTransaction, job: JobId, counted: &ViewsJob) -> anyhow::Result<bool> {
    let row = entity::job_outcome::ActiveModel {
        job_id: Set(job.to_string()),
        account_id: Set(None),
        kind: Set("views".to_owned()),
        outcome: Set("null".to_owned()),
        created_at: Set(counted.counted_at.millis()),
    };
    let inserted = entity::job_outcome::Entity::insert(row)
        .on_conflict_do_nothing_on([entity::job_outcome::Column::JobId])
        .exec_without_returning(transaction)
        .await?;
    Ok(matches!(inserted, TryInsertResult::Inserted(1..)))
}

async fn existing(
    transaction: &DatabaseTransaction,
    accounts: impl Iterator<Item = &String>,
) -> anyhow::Result<HashSet<String>> {
    let found: Vec<String> = entity::account::Entity::find()
        .select_only()
        .column(entity::account::Column::Id)
        .filter(entity::account::Column::Id.is_in(accounts.cloned().collect::<Vec<_>>()))
        // The lock keeps these accounts from being purged before their views are written.
        .lock(LockType::KeyShare)
        .into_tuple()
        .all(transaction)
        .await?;
    Ok(found.into_iter().collect())
}
