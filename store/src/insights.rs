//! The figures of the account dashboard: views and publishes by day, views by page, and ledger entries.

use std::collections::HashMap;

use domain::{AccountId, Cursor, Day, DayUse, Host, LedgerEntry, List, Micro, Month, Page, Paged, Reason};
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};

use crate::handles::{LedgerStore, ViewStore};
use crate::pages::{self, Keys};
use crate::rows;

const DAY_MILLIS: i64 = 24 * 3600 * 1000;
/// The alias of a version's day in a query.
const MADE_ON: &str = "made_on";

impl ViewStore<'_> {
    /// The views of each of these pages since a day.
    pub async fn by_host(
        self,
        account: AccountId,
        hosts: &[Host],
        from: Day,
    ) -> anyhow::Result<HashMap<Host, u64>> {
        use entity::daily_view::Column;
        let found: Vec<(String, i64)> = entity::daily_view::Entity::find()
            .select_only()
            .column(Column::Host)
            .expr(sum_of(Expr::col(Column::Views)))
            .filter(Column::Host.is_in(hosts.iter().map(Host::as_str)))
            .filter(Column::AccountId.eq(account.to_string()))
            .filter(Column::Day.gte(from.number()))
            .group_by(Column::Host)
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        found
            .into_iter()
            .map(|(host, views)| Ok((rows::parse(&host, "a host")?, rows::count(views))))
            .collect()
    }

    /// The account's usage on every day of the month, including days without any.
    pub async fn by_day(self, account: AccountId, month: Month) -> anyhow::Result<Vec<DayUse>> {
        let days: Vec<Day> = month.days().collect();
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(vec![]) };
        let views = self.views_by_day(account, *first, *last).await?;
        let publishes = self.publishes_by_day(account, *first, *last).await?;
        let on = |counts: &HashMap<i64, i64>, day: Day| {
            rows::count(counts.get(&day.number()).copied().unwrap_or_default())
        };
        let of_day = |day| DayUse { day, publishes: on(&publishes, day), views: on(&views, day) };
        Ok(days.into_iter().map(of_day).collect())
    }

    async fn views_by_day(
        self,
        account: AccountId,
        first: Day,
        last: Day,
    ) -> anyhow::Result<HashMap<i64, i64>> {
        use entity::daily_view::Column;
        let found: Vec<(i64, i64)> = entity::daily_view::Entity::find()
            .select_only()
            .column(Column::Day)
            .expr(sum_of(Expr::col(Column::Views)))
            .filter(Column::AccountId.eq(account.to_string()))
            .filter(Column::Day.between(first.number(), last.number()))
            .group_by(Column::Day)
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        Ok(found.into_iter().collect())
    }

    async fn publishes_by_day(
        self,
        account: AccountId,
        first: Day,
        last: Day,
    ) -> anyhow::Result<HashMap<i64, i64>> {
        use entity::version::Column;
        // No version is from before 1970, so the integer division rounds down to the day.
        let found: Vec<(i64, i64)> = entity::version::Entity::find()
            .select_only()
            .expr_as(Expr::col(Column::CreatedAt).div(DAY_MILLIS), MADE_ON)
            .expr(Expr::col(Column::Id).count())
            .filter(Column::AccountId.eq(account.to_string()))
            .filter(Column::CreatedAt.gte(first.start().millis()))
            .filter(Column::CreatedAt.lt(Day::from_number(last.number() + 1).start().millis()))
            .group_by(Expr::col(MADE_ON))
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        Ok(found.into_iter().collect())
    }
}

impl LedgerStore<'_> {
    /// The entries of the account's ledger, newest first.
    pub async fn list(self, account: AccountId, page: &Page) -> anyhow::Result<Paged<LedgerEntry>> {
        use entity::ledger_entry::{Column, Entity, Model};
        let query = Entity::find().filter(Column::AccountId.eq(account.to_string()));
        let cursor = |row: &Model| Cursor::numbered(List::Ledger, row.seq);
        let reader = &self.0.database.reader;
        let found = pages::read(reader, query, Keys::Numbered(Column::Seq), page, cursor).await?;
        Ok(found.map(rows::ledger_entry))
    }

    /// The amount of the ledger entry with this reason.
    pub async fn find_amount(self, account: AccountId, reason: &Reason) -> anyhow::Result<Option<Micro>> {
        let found = entity::ledger_entry::Entity::find()
            .filter(entity::ledger_entry::Column::AccountId.eq(account.to_string()))
            .filter(entity::ledger_entry::Column::Reason.eq(reason.to_string()))
            .one(&self.0.database.reader)
            .await?;
        Ok(found.map(|entry| Micro::new(entry.delta_micro)))
    }

    /// Whether the ledger has an entry with this reason.
    pub async fn has_entry(self, account: AccountId, reason: &Reason) -> anyhow::Result<bool> {
        let found = entity::ledger_entry::Entity::find()
            .filter(entity::ledger_entry::Column::AccountId.eq(account.to_string()))
            .filter(entity::ledger_entry::Column::Reason.eq(reason.to_string()))
            .count(&self.0.database.reader)
            .await?;
        Ok(found > 0)
    }
}

/// PostgreSQL sums BIGINTs to NUMERIC. The counts fit into a BIGINT.
fn sum_of(column: Expr) -> Expr {
    Func::cast_as(Func::sum(column), "BIGINT").into()
}
