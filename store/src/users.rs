//! People, and the beginning and end of their sessions. A password is here by its hash only, and so is a session's
//! secret; neither may leave in an error.

use anyhow::Context;
use domain::{PasswordHash, Time, UserId, Username};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, TryInsertResult};

use crate::{Store, rows};

/// A person as signing in needs one.
#[derive(Clone, Debug)]
pub struct User {
    pub id: UserId,
    pub username: Username,
    pub password_hash: PasswordHash,
    pub created_at: Time,
}

/// A session to be written: its secret is known by hash only.
#[derive(Clone, Debug)]
pub struct NewSession {
    pub secret_hash: String,
    pub user: UserId,
    pub created_at: Time,
    pub expires_at: Time,
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

    /// Writes a new person. False when the name is taken, also by one who came in the same moment.
    pub async fn insert_user(&self, user: &User) -> anyhow::Result<bool> {
        let row = entity::user::ActiveModel {
            id: Set(user.id.to_string()),
            username: Set(user.username.to_string()),
            password_hash: Set(user.password_hash.as_str().to_owned()),
            created_at: Set(user.created_at.millis()),
        };
        let inserted = entity::user::Entity::insert(row)
            .on_conflict_do_nothing_on([entity::user::Column::Username])
            .exec_without_returning(&self.database.writer)
            .await
            .context("write a user")?;
        Ok(matches!(inserted, TryInsertResult::Inserted(1..)))
    }

    pub async fn insert_session(&self, session: &NewSession) -> anyhow::Result<()> {
        let row = entity::session::ActiveModel {
            secret_hash: Set(session.secret_hash.clone()),
            user_id: Set(session.user.to_string()),
            created_at: Set(session.created_at.millis()),
            last_used_at: Set(session.created_at.millis()),
            expires_at: Set(session.expires_at.millis()),
        };
        entity::session::Entity::insert(row)
            .exec_without_returning(&self.database.writer)
            .await
            .context("write a session")?;
        Ok(())
    }

    /// Ends a session; one that has ended already is no error.
    pub async fn delete_session(&self, secret_hash: &str) -> anyhow::Result<()> {
        entity::session::Entity::delete_by_id(secret_hash).exec(&self.database.writer).await?;
        Ok(())
    }
}
