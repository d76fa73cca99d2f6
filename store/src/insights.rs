//! The figures of the account dashboard: views and publishes by day, views by page, and ledger entries.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use anyhow::anyhow;
use domain::{
    AccountId, Cursor, Day, DayUse, Host, LedgerEntry, List, Micro, Month, MonthCharges, MonthlyUse, Page,
    Paged, Reason,
};
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};

use crate::handles::{LedgerStore, ViewStore};
use crate::pages::{self, Keys};
use crate::rows;

const DAY_MILLIS: i64 = 24 * 3600 * 1000;
/// The alias of a version's day in a query.
const MADE_ON: &str = "made_on";

impl ViewStore<'_> {
    /// The views of each of these pages in a month.
    pub async fn by_host(
        self,
        account: AccountId,
        hosts: &[Host],
        month: Month,
    ) -> anyhow::Result<HashMap<Host, u64>> {
        use entity::monthly_view::Column;
        let found = in_month(account, month)
            .filter(Column::Host.is_in(hosts.iter().map(Host::as_str)))
            .all(&self.0.database.reader)
            .await?;
        found.iter().map(host_and_views).collect()
    }

    /// The views of each of these pages on each day since one, without days that have none.
    pub async fn by_host_and_day(
        self,
        account: AccountId,
        hosts: &[Host],
        from: Day,
    ) -> anyhow::Result<HashMap<Host, Vec<(Day, u64)>>> {
        use entity::daily_view::{Column, Entity};
        let found = Entity::find()
            .filter(Column::Host.is_in(hosts.iter().map(Host::as_str)))
            .filter(Column::Day.gte(from.number()))
            .order_by_asc(Column::Host)
            .order_by_asc(Column::Day)
            .all(&self.0.database.reader)
            .await?;
        let mut views: HashMap<Host, Vec<(Day, u64)>> = HashMap::new();
        for row in of_account(account, found) {
            let of_host = views.entry(rows::parse(&row.host, "a host")?).or_default();
            of_host.push((Day::from_number(row.day), rows::count(row.views)));
        }
        Ok(views)
    }

    /// The hosts of the account with the most views in a month, those with the most first.
    pub async fn most_viewed(
        self,
        account: AccountId,
        month: Month,
        at_most: u64,
    ) -> anyhow::Result<Vec<(Host, u64)>> {
        use entity::monthly_view::Column;
        let found = in_month(account, month)
            .order_by_desc(Column::Views)
            .order_by_asc(Column::Host)
            .limit(at_most)
            .all(&self.0.database.reader)
            .await?;
        found.iter().map(host_and_views).collect()
    }

    /// The views of a page on these days. Days without any are left out.
    pub async fn of_host(
        self,
        account: AccountId,
        host: &Host,
        days: &RangeInclusive<Day>,
    ) -> anyhow::Result<HashMap<Day, u64>> {
        use entity::daily_view::{Column, Entity};
        let found = Entity::find()
            .filter(Column::Host.eq(host.as_str()))
            .filter(Column::Day.between(days.start().number(), days.end().number()))
            .all(&self.0.database.reader)
            .await?;
        let views = of_account(account, found);
        Ok(views.map(|row| (Day::from_number(row.day), rows::count(row.views))).collect())
    }

    /// The months in which the account has published or was viewed, newest first.
    pub async fn months(self, account: AccountId) -> anyhow::Result<Vec<Month>> {
        use entity::usage::Column;
        let found: Vec<String> = entity::usage::Entity::find()
            .select_only()
            .column(Column::Month)
            .filter(Column::AccountId.eq(account.to_string()))
            .order_by_desc(Column::Month)
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        let month = |text: String| text.parse().map_err(|()| anyhow!("{text} is not a month"));
        found.into_iter().map(month).collect()
    }

    /// The account's usage of a month.
    pub async fn in_month(self, account: AccountId, month: Month) -> anyhow::Result<MonthlyUse> {
        let key = (account.to_string(), month.to_string());
        let found = entity::usage::Entity::find_by_id(key).one(&self.0.database.reader).await?;
        Ok(found.map_or_else(MonthlyUse::default, |row| MonthlyUse {
            publishes: rows::count(row.publishes),
            views: rows::count(row.views),
        }))
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

    /// What the ledger has charged for a month. Publishes are charged at once, so their month is that of the
    /// entry. Other entries name their month.
    pub async fn charges_of(self, account: AccountId, month: Month) -> anyhow::Result<MonthCharges> {
        use entity::ledger_entry::Column;
        let named = async |reason: Reason| -> anyhow::Result<Micro> {
            Ok(self.find_amount(account, &reason).await?.map_or(Micro::ZERO, |amount| -amount))
        };
        let publishes = Condition::all()
            .add(Column::Reason.like("publish:%"))
            .add(Column::CreatedAt.gte(month.start().millis()))
            .add(Column::CreatedAt.lt(month.next().start().millis()));
        let visibility = Condition::all()
            .add(Column::Reason.like(format!("visibility:%:{month}")))
            .add(Column::CreatedAt.gte(month.start().millis()));
        Ok(MonthCharges {
            publishes: self.charged(account, publishes).await?,
            views: named(Reason::Traffic(month)).await?,
            storage: named(Reason::Storage(month)).await?,
            visibility: self.charged(account, visibility).await?,
        })
    }

    async fn charged(self, account: AccountId, entries: Condition) -> anyhow::Result<Micro> {
        use entity::ledger_entry::{Column, Entity};
        let total: Option<Option<i64>> = Entity::find()
            .select_only()
            .expr(sum_of(Expr::col(Column::DeltaMicro)))
            .filter(Column::AccountId.eq(account.to_string()))
            .filter(entries)
            .into_tuple()
            .one(&self.0.database.reader)
            .await?;
        Ok(-Micro::new(total.flatten().unwrap_or_default()))
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

    /// Those of these reasons that the ledger has entries with.
    pub async fn entries_among(
        self,
        account: AccountId,
        reasons: Vec<Reason>,
    ) -> anyhow::Result<HashSet<String>> {
        use entity::ledger_entry::{Column, Entity};
        if reasons.is_empty() {
            return Ok(HashSet::new());
        }
        let found: Vec<String> = Entity::find()
            .select_only()
            .column(Column::Reason)
            .filter(Column::AccountId.eq(account.to_string()))
            .filter(Column::Reason.is_in(reasons.iter().map(Reason::to_string)))
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        Ok(found.into_iter().collect())
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

/// Rows of other accounts are left out here and not by the query. With the account in its condition, SQLite
/// would read all of the account's days from an index instead of those of the hosts.
fn of_account(
    account: AccountId,
    found: Vec<entity::daily_view::Model>,
) -> impl Iterator<Item = entity::daily_view::Model> {
    let account = account.to_string();
    found.into_iter().filter(move |row| row.account_id == account)
}

fn in_month(account: AccountId, month: Month) -> Select<entity::monthly_view::Entity> {
    use entity::monthly_view::{Column, Entity};
    Entity::find()
        .filter(Column::AccountId.eq(account.to_string()))
        .filter(Column::Month.eq(month.to_string()))
}

fn host_and_views(row: &entity::monthly_view::Model) -> anyhow::Result<(Host, u64)> {
    Ok((rows::parse(&row.host, "a host")?, rows::count(row.views)))
}

/// PostgreSQL sums BIGINTs to NUMERIC. The counts fit into a BIGINT.
fn sum_of(column: Expr) -> Expr {
    Func::cast_as(Func::sum(column), "BIGINT").into()
}
