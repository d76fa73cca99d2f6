//! Rows of user accounts.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};

/// Usernames by user id.
pub(crate) async fn usernames(
    connection: &impl ConnectionTrait,
    people: impl Iterator<Item = &str>,
) -> anyhow::Result<HashMap<String, String>> {
    use entity::user::Column;
    let found: Vec<(String, String)> = entity::user::Entity::find()
        .select_only()
        .columns([Column::Id, Column::Username])
        .filter(Column::Id.is_in(people))
        .into_tuple()
        .all(connection)
        .await?;
    Ok(found.into_iter().collect())
}
