//! The people of an account: listed, admitted and removed. With a person goes everything that came from them.

use domain::{AccountId, Crowd, Cursor, List, Missing, Page, Paged, Refusal, Role, Time, UserId};
use sea_orm::ActiveValue::Set;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, JoinType, PaginatorTrait, QueryFilter,
    QuerySelect, RelationDef,
};

use crate::change::{Change, Decided};
use crate::pages::Keys;
use crate::{Store, invites, rows, tokens};

/// How many people an account may have.
const MEMBERS_MAX: u64 = 1_000;

/// A person on an account.
#[derive(Clone, Debug)]
pub struct Member {
    pub user: UserId,
    pub username: String,
    pub role: Role,
    pub joined_at: Time,
}

pub(crate) struct NewMember {
    pub(crate) account: AccountId,
    pub(crate) user: UserId,
    pub(crate) role: Role,
    pub(crate) joined_at: Time,
}

impl Store {
    /// How many people are on the account.
    pub async fn member_count(&self, account: AccountId) -> anyhow::Result<u64> {
        let of_account = entity::membership::Column::AccountId.eq(account.to_string());
        let members = entity::membership::Entity::find().filter(of_account);
        Ok(members.count(&self.database.reader).await?)
    }

    /// Everyone on the account, who came first first.
    pub async fn members(&self, account: AccountId, page: &Page) -> anyhow::Result<Paged<Member>> {
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
        let found = keys.cut(query, page).all(&self.database.reader).await?;
        let members = found.into_iter().filter_map(|(membership, user)| Some(member(&membership, user?)));
        let cursor =
            |member: &Member| Cursor::new(List::Members, member.joined_at.millis(), member.user.to_string());
        Ok(page.of(members.collect::<anyhow::Result<_>>()?, cursor))
    }

    /// Removes a person, their tokens, those that these have minted, and their open invites. How many tokens there
    /// were.
    pub async fn remove_member(&self, change: &Change<'_>, user: UserId) -> Decided<u64> {
        let begun = self.begin_change(change).await?;
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
        let tokens = tokens::revoke_all_of(transaction, change.account, user, change.now).await?;
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

/// The role of a person on an account, if they have one.
pub(crate) async fn role_of(
    connection: &impl ConnectionTrait,
    account: AccountId,
    user: UserId,
) -> anyhow::Result<Option<Role>> {
    let found = entity::membership::Entity::find_by_id((account.to_string(), user.to_string()))
        .one(connection)
        .await?;
    found.map(|row| rows::parse(&row.role, "a role")).transpose()
}

/// Makes a person a member, within a transaction that holds the account's row, unless the account has too many.
pub(crate) async fn admit(transaction: &DatabaseTransaction, member: &NewMember) -> Decided<()> {
    let members = entity::membership::Entity::find()
        .filter(entity::membership::Column::AccountId.eq(member.account.to_string()))
        .count(transaction)
        .await?;
    if members >= MEMBERS_MAX {
        return Err(Refusal::TooMany(Crowd::Members).into());
    }
    Ok(insert(transaction, member).await?)
}

/// Writes a membership, within a transaction that holds the account's row.
pub(crate) async fn insert(transaction: &DatabaseTransaction, member: &NewMember) -> anyhow::Result<()> {
    let row = entity::membership::ActiveModel {
        account_id: Set(member.account.to_string()),
        user_id: Set(member.user.to_string()),
        role: Set(member.role.as_str().to_owned()),
        joined_at: Set(member.joined_at.millis()),
    };
    entity::membership::Entity::insert(row).exec_without_returning(transaction).await?;
    Ok(())
}

/// Gives a member this role instead of theirs.
pub(crate) async fn raise(transaction: &DatabaseTransaction, member: &NewMember) -> Decided<()> {
    let rise = entity::membership::ActiveModel {
        account_id: Set(member.account.to_string()),
        user_id: Set(member.user.to_string()),
        role: Set(member.role.as_str().to_owned()),
        ..Default::default()
    };
    entity::membership::Entity::update(rise).exec_without_returning(transaction).await?;
    Ok(())
}
