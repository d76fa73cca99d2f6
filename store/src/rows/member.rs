//! Rows of the members of an account.

use domain::{AccountId, Crowd, Refusal, Role, Time, UserId};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter};

use crate::change_result::ChangeResult;
use crate::rows;

const MEMBERS_MAX: u64 = 1_000;

pub(crate) struct NewMember {
    pub(crate) account: AccountId,
    pub(crate) user: UserId,
    pub(crate) role: Role,
    pub(crate) joined_at: Time,
}

/// A person's role on an account. `None` if the person is not a member.
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

/// Makes a person a member unless the account has too many. The transaction must hold the account's row.
pub(crate) async fn admit(transaction: &DatabaseTransaction, member: &NewMember) -> ChangeResult<()> {
    let members = entity::membership::Entity::find()
        .filter(entity::membership::Column::AccountId.eq(member.account.to_string()))
        .count(transaction)
        .await?;
    if members >= MEMBERS_MAX {
        return Err(Refusal::TooMany(Crowd::Members).into());
    }
    Ok(insert(transaction, member).await?)
}

/// Inserts a membership. The transaction must hold the account's row.
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

/// Changes the role of a member.
pub(crate) async fn raise(transaction: &DatabaseTransaction, member: &NewMember) -> ChangeResult<()> {
    let rise = entity::membership::ActiveModel {
        account_id: Set(member.account.to_string()),
        user_id: Set(member.user.to_string()),
        role: Set(member.role.as_str().to_owned()),
        ..Default::default()
    };
    entity::membership::Entity::update(rise).exec_without_returning(transaction).await?;
    Ok(())
}
