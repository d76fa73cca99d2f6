//! The record of an account, for a moderator who decides on one of its pages.

use domain::{AccountId, ArtifactId, Host, Time};
use sea_orm::sea_query::{Expr, SelectStatement};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::decisions::StoredDecision;
use crate::handles::AccountStore;
use crate::rows;

/// How many decisions and reports a history lists at most, newest first.
pub const HISTORY_SHOWN_MAX: u64 = 10;

#[derive(Clone, Debug, Default)]
pub struct AccountHistory {
    /// Pages that are not deleted.
    pub pages: u64,
    /// Moderators' decisions on the account's other pages, including deleted ones.
    pub decisions: Vec<StoredDecision>,
    /// Reports on the account's other pages, including deleted ones.
    pub reports: Vec<AccountReport>,
}

#[derive(Clone, Debug)]
pub struct AccountReport {
    pub host: Host,
    pub reason: Option<String>,
    pub at: Time,
    pub is_open: bool,
}

impl AccountStore<'_> {
    /// The history of an account, without the artifact that the moderator is deciding on.
    pub async fn history(self, account: AccountId, but: ArtifactId) -> anyhow::Result<AccountHistory> {
        use entity::moderation_decision::Column;
        let reader = &self.0.database.reader;
        let decisions = entity::moderation_decision::Entity::find()
            // Must match the condition of the index `moderation_decisions_by_people`. SQLite needs it as a
            // literal.
            .filter(Expr::cust("source = 'moderator'"))
            .filter(Column::ArtifactId.in_subquery(others(account, but)))
            .order_by_desc(Column::Id)
            .limit(HISTORY_SHOWN_MAX)
            .all(reader)
            .await?;
        Ok(AccountHistory {
            pages: rows::artifact::live(account).count(reader).await?,
            decisions: self.0.moderation().with_names(decisions).await?,
            reports: self.list_reports_on_others(account, but).await?,
        })
    }

    async fn list_reports_on_others(
        self,
        account: AccountId,
        but: ArtifactId,
    ) -> anyhow::Result<Vec<AccountReport>> {
        use entity::report::Column;
        let found = entity::report::Entity::find()
            .filter(Column::ArtifactId.in_subquery(others(account, but)))
            .order_by_desc(Column::Id)
            .limit(HISTORY_SHOWN_MAX)
            .all(&self.0.database.reader)
            .await?;
        let report = |row: entity::report::Model| {
            Ok(AccountReport {
                host: rows::parse(&row.host, "a host")?,
                reason: row.reason,
                at: Time::from_millis(row.created_at),
                is_open: row.handled_at.is_none(),
            })
        };
        found.into_iter().map(report).collect()
    }
}

/// The account's other artifacts, including deleted ones.
fn others(account: AccountId, but: ArtifactId) -> SelectStatement {
    rows::artifact::ids_even_deleted()
        .and_where(entity::artifact::Column::AccountId.eq(account.to_string()))
        .and_where(entity::artifact::Column::Id.ne(but.to_string()))
        .to_owned()
}
