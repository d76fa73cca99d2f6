//! The accounts of a person, with the person's role.

use domain::{Account, Role, Time, UserId};
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QuerySelect, RelationDef};

use crate::handles::MemberStore;
use crate::rows;

/// A person's role on one account.
#[derive(Clone, Debug)]
pub struct Membership {
    pub account: Account,
    pub role: Role,
    pub joined_at: Time,
}

impl MemberStore<'_> {
    /// The accounts of a person, highest role first, then oldest first.
    pub async fn list_memberships(self, user: UserId) -> anyhow::Result<Vec<Membership>> {
        let account: RelationDef = entity::membership::Entity::belongs_to(entity::account::Entity)
            .from(entity::membership::Column::AccountId)
            .to(entity::account::Column::Id)
            .into();
        let found = entity::membership::Entity::find()
            .join(JoinType::InnerJoin, account)
            .select_also(entity::account::Entity)
            .filter(entity::membership::Column::UserId.eq(user.to_string()))
            .all(&self.0.database.reader)
            .await?;
        let mut memberships = Vec::with_capacity(found.len());
        for (membership, account) in found {
            let Some(account) = account else { continue };
            memberships.push(Membership {
                account: rows::account(account)?,
                role: rows::parse(&membership.role, "a role")?,
                joined_at: Time::from_millis(membership.joined_at),
            });
        }
        memberships.sort_by_key(|one| (std::cmp::Reverse(one.role), one.joined_at, one.account.id));
        Ok(memberships)
    }
}
