//! Moderators' decisions in a table that survives the purge of their pages. A ruling is written together with
//! its decision and never changed or deleted.

use anyhow::Context;
use domain::{DecisionId, Host, ModeratedBy, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::decisions::{DecisionFilter, NO_FINDINGS, StoredDecision};
use crate::handles::ModerationStore;
use crate::rows;

/// Stores a moderator's decision under its own id.
pub(crate) async fn insert(
    transaction: &DatabaseTransaction,
    decision: &entity::moderation_decision::Model,
    host: &str,
    seq: i32,
) -> anyhow::Result<()> {
    let row = entity::ruling::ActiveModel {
        id: Set(decision.id.clone()),
        host: Set(host.to_owned()),
        seq: Set(seq),
        status: Set(decision.status.clone()),
        decided_by: Set(decision.decided_by.clone()),
        operator: Set(decision.operator.clone()),
        note: Set(decision.note.clone()),
        created_at: Set(decision.created_at),
    };
    entity::ruling::Entity::insert(row)
        .exec_without_returning(transaction)
        .await
        .context("store a ruling")?;
    Ok(())
}

impl ModerationStore<'_> {
    /// Moderators' decisions, newest first, even if their page was purged.
    pub(crate) async fn list_rulings(
        self,
        wanted: &DecisionFilter,
        at_most: u64,
    ) -> anyhow::Result<Vec<StoredDecision>> {
        use entity::ruling::Column;
        let mut query = entity::ruling::Entity::find().order_by_desc(Column::Id).limit(at_most);
        if let Some(host) = &wanted.host {
            query = query.filter(Column::Host.eq(host.as_str()));
        }
        if let Some(before) = &wanted.before {
            query = query.filter(Column::Id.lt(before.to_string()));
        }
        let found = query.all(&self.0.database.reader).await?;
        let people = found.iter().filter_map(|row| row.decided_by.as_deref());
        let usernames = rows::user::usernames(&self.0.database.reader, people).await?;
        let read = |row: entity::ruling::Model| {
            let id: DecisionId = rows::parse(&row.id, "a decision id")?;
            let host: Host = rows::parse(&row.host, "a host")?;
            let person = row.decided_by.map(|id| usernames.get(&id).cloned().unwrap_or(id));
            Ok(StoredDecision {
                id,
                host,
                seq: u32::try_from(row.seq).unwrap_or(0),
                status: rows::moderation(&row.status)?,
                source: ModeratedBy::Moderator,
                decided_by: row.operator.or(person),
                note: row.note,
                evidence: NO_FINDINGS.to_owned(),
                scanner_version: None,
                at: Time::from_millis(row.created_at),
            })
        };
        found.into_iter().map(read).collect()
    }
}
