//! Adds the views that edges have counted to the accounts' months and the pages' days, each batch once.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use anyhow::Context;
use domain::{JobId, ViewsJob};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, LockType, OnConflict};
use sea_orm::{DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect, TryInsertResult};

use crate::handles::ViewStore;
use crate::many::among;
use crate::rows;
use crate::script::Script;

impl ViewStore<'_> {
    /// Adds the views of a job. A repeated job adds nothing.
    pub async fn add(self, job: JobId, counted: &ViewsJob) -> anyhow::Result<()> {
        let transaction = self.0.database.begin().await?;
        if !is_first(&transaction, job, counted).await? {
            return Ok(());
        }
        let sums = Sums::of(counted, &existing(&transaction, counted).await?);
        let mut script = Script::for_the(&transaction);
        add_to_month(&mut script, sums.by_account, &counted.counted_at.month().to_string())?;
        add_to_day(&mut script, sums.by_host, counted.counted_at.day().number())?;
        script.run(&transaction).await?;
        transaction.commit().await.context("commit views")
    }
}

/// The views of accounts that exist. Rows are written in the order of these maps, so that two batches cannot
/// deadlock.
#[derive(Default)]
struct Sums<'a> {
    by_account: BTreeMap<String, i64>,
    by_host: BTreeMap<&'a str, (String, i64)>,
}

impl<'a> Sums<'a> {
    fn of(counted: &'a ViewsJob, accounts: &HashSet<String>) -> Self {
        let mut sums = Self::default();
        for view in &counted.views {
            let (account, views) = (view.account.to_string(), rows::number(view.count));
            if accounts.contains(&account) {
                sums.by_host.entry(view.host.as_str()).or_insert_with(|| (account.clone(), 0)).1 += views;
                *sums.by_account.entry(account).or_default() += views;
            }
        }
        sums
    }
}

fn add_to_month(script: &mut Script, by_account: BTreeMap<String, i64>, month: &str) -> anyhow::Result<()> {
    use entity::usage::{ActiveModel, Column, Entity};
    let rows = by_account.into_iter().map(|(account, views)| ActiveModel {
        account_id: Set(account),
        month: Set(month.to_owned()),
        publishes: Set(0),
        views: Set(views),
    });
    let mut add = OnConflict::columns([Column::AccountId, Column::Month]);
    add.value(Column::Views, Expr::col((Entity, Column::Views)).add(Expr::col(("excluded", Column::Views))));
    script.insert::<Entity>(rows, Some(add))
}

fn add_to_day(script: &mut Script, by_host: BTreeMap<&str, (String, i64)>, day: i64) -> anyhow::Result<()> {
    use entity::daily_view::{ActiveModel, Column, Entity};
    let rows = by_host.into_iter().map(|(host, (account, views))| ActiveModel {
        host: Set(host.to_owned()),
        day: Set(day),
        account_id: Set(account),
        views: Set(views),
    });
    let mut add = OnConflict::columns([Column::Host, Column::Day]);
    add.value(Column::Views, Expr::col((Entity, Column::Views)).add(Expr::col(("excluded", Column::Views))));
    script.insert::<Entity>(rows, Some(add))
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

async fn existing(transaction: &DatabaseTransaction, counted: &ViewsJob) -> anyhow::Result<HashSet<String>> {
    let accounts: BTreeSet<String> = counted.views.iter().map(|view| view.account.to_string()).collect();
    let found: Vec<String> = entity::account::Entity::find()
        .select_only()
        .column(entity::account::Column::Id)
        .filter(among(transaction, entity::account::Column::Id, accounts))
        // The lock keeps these accounts from being purged before their views are written.
        .lock(LockType::KeyShare)
        .into_tuple()
        .all(transaction)
        .await?;
    Ok(found.into_iter().collect())
}
