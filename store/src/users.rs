//! People. A password is here by its hash only, which may not leave in an error.

use anyhow::Context;
use domain::{PasswordHash, Time, UserId, Username};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, TryInsertResult};

use crate::sessions::{self, NewSession};
use crate::{Store, rows};

/// A person as signing in needs one.
#[derive(Clone, Debug)]
pub struct User {
    pub id: UserId,
    pub username: Username,
    pub password_hash: PasswordHash,
    pub created_at: Time,
}

impl Store {
    pub async fn user(&self, username: &Username) -> anyhow::Result<Option<User>> {
        let found = entity::user::Entity::find()
            .filter(entity::user::Column::Username.eq(username.as_str()))
            .one(&self.database.reader)
            .await?;
        let Some(row) = found else { return Ok(None) };
        Ok(Some(User {
            id: rows::parse(&row.id, "a user id")?,
            username: rows::parse(&row.username, "a username")?,
            password_hash: PasswordHash::kept(row.password_hash),
            created_at: Time::from_millis(row.created_at),
        }))
    }

    /// Writes a new person who is signed in. False when the name is taken, also by one who came in the same moment.
    pub async fn insert_user(&self, user: &User, session: &NewSession) -> anyhow::Result<bool> {
        let transaction = self.database.begin().await?;
        let row = entity::user::ActiveModel {
            id: Set(user.id.to_string()),
            username: Set(user.username.to_string()),
            password_hash: Set(user.password_hash.as_str().to_owned()),
            created_at: Set(user.created_at.millis()),
        };
        let inserted = entity::user::Entity::insert(row)
            .on_conflict_do_nothing_on([entity::user::Column::Username])
            .exec_without_returning(&transaction)
            .await
            .context("write a user")?;
        if !matches!(inserted, TryInsertResult::Inserted(1..)) {
            return Ok(false);
        }
        sessions::insert(&transaction, session).await?;
        transaction.commit().await.context("commit a new person")?;
        Ok(true)
    }
}
