//! The people on an account. Removing a person also revokes the tokens and invites that they made.

use domain::{AccountId, Cursor, List, Missing, Page, Paged, Refusal, Role, Time, UserId};
use sea_orm::{ColumnTrait, EntityTrait, JoinType, PaginatorTrait, QueryFilter, QuerySelect, RelationDef};

use crate::change::Change;
use crate::change_result::ChangeResult;
use crate::handles::MemberStore;
use crate::pages::Keys;
use crate::rows::member::role_of;
use crate::{invites, rows};

#[derive(Clone, Debug)]
pub struct Member {
    pub user: UserId,
    pub username: String,
    pub role: Role,
    pub joined_at: Time,
}

impl MemberStore<'_> {
    pub async fn count(self, account: AccountId) -> anyhow::Result<u64> {
        let of_account = entity::membership::Column::AccountId.eq(account.to_string());
        let members = entity::membership::Entity::find().filter(of_account);
        Ok(members.count(&self.0.database.reader).await?)
    }

    /// Everyone on the account, in the order of joining.
    pub async fn list(self, account: AccountId, page: &Page) -> anyhow::Result<Paged<Member>> {
        use entity::membership::Column;
        let person: RelationDef = entity::membership::Entity::belongs_to(entity::user::Entity)
            .from(entity::membership::Column::UserId)
            .to(entity::user::Column::Id)
            .into();
        let query = entity::membership::Entity::find()
            .join(JoinType::InnerJoin, person)
            .select_also(entity::user::Entity)
            .filter(Column::AccountId.eq(account.to_string()));
        let keys = Keys::OldestFirst(Column::JoinedAt, Column::UserId);
        let found = keys.cut(query, page).all(&self.0.database.reader).await?;
        let members = found.into_iter().filter_map(|(membership, user)| Some(member(&membership, user?)));
        let cursor =
            |member: &Member| Cursor::new(List::Members, member.joined_at.millis(), member.user.to_string());
        Ok(page.of(members.collect::<anyhow::Result<_>>()?, cursor))
    }

    /// Removes a person, their tokens, the tokens that these minted, and their open invites. Returns the
    /// number of tokens.
    pub async fn remove(self, change: &Change<'_>, user: UserId) -> ChangeResult<u64> {
        let begun = change.begin(self.0).await?;
        let transaction = &begun.transaction;
        match role_of(transaction, change.account, user).await? {
            None => return Err(Refusal::NotFound(Missing::Member).into()),
            // Spec 2.5: the owner cannot be removed.
            Some(Role::Owner) => return Err(Refusal::OwnerStays.into()),
            Some(Role::Member | Role::Admin) => {}
        }
        entity::membership::Entity::delete_by_id((change.account.to_string(), user.to_string()))
            .exec(transaction)
            .await?;
        let tokens = rows::token::revoke_all_of(transaction, change.account, user, change.now).await?;
        let invites = invites::revoke_all_of(transaction, change.account, user, change.now).await?;
        let detail = format!("{tokens} tokens and {invites} invites revoked");
        change.note(transaction, "member.removed", &user.to_string(), detail).await?;
        begun.transaction.commit().await?;
        Ok(tokens)
    }
}

fn member(membership: &entity::membership::Model, user: entity::user::Model) -> anyhow::Result<Member> {
    Ok(Member {
        user: rows::parse(&user.id, "a user id")?,
        username: user.username,
        role: rows::parse(&membership.role, "a role")?,
        joined_at: Time::from_millis(membership.joined_at),
    })
}
