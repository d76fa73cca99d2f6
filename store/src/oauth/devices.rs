//! Devices that wait for a person to sign them in (RFC 8628).

use anyhow::Context;
use domain::{Missing, Refusal, Scopes, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter};

use crate::change_result::ChangeResult;
use crate::handles::OAuthStore;
use crate::rows;

const ALLOWED: &str = "allowed";
const DENIED: &str = "denied";

/// A device to insert.
#[derive(Clone, Debug)]
pub struct NewDevice {
    pub device_hash: String,
    pub user_code_hash: String,
    pub client_hash: String,
    pub client_name: String,
    pub scopes: Scopes,
    pub resource: Option<String>,
    pub expires_at: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceDecision {
    Allowed,
    Denied,
}

/// A device, waiting or decided on.
#[derive(Clone, Debug)]
pub struct Device {
    pub device_hash: String,
    pub client_hash: String,
    pub client_name: String,
    pub scopes: Scopes,
    pub resource: Option<String>,
    pub expires_at: Time,
    pub polled_at: Option<Time>,
    pub decision: Option<DeviceDecision>,
}

impl OAuthStore<'_> {
    /// Inserts a device unless `waiting_max` are waiting already. Returns whether it did.
    pub async fn create_device(
        self,
        device: &NewDevice,
        waiting_max: u64,
        now: Time,
    ) -> anyhow::Result<bool> {
        use entity::oauth_device::{Column, Entity};
        let waiting =
            Entity::find().filter(Column::ExpiresAt.gt(now.millis())).filter(Column::Decision.is_null());
        if waiting.count(&self.0.database.reader).await.context("count devices")? >= waiting_max {
            return Ok(false);
        }
        let row = entity::oauth_device::ActiveModel {
            device_hash: Set(device.device_hash.clone()),
            user_code_hash: Set(device.user_code_hash.clone()),
            client_hash: Set(device.client_hash.clone()),
            client_name: Set(device.client_name.clone()),
            scopes: Set(device.scopes.to_string()),
            resource: Set(device.resource.clone()),
            expires_at: Set(device.expires_at.millis()),
            polled_at: Set(None),
            decision: Set(None),
        };
        Entity::insert(row)
            .exec_without_returning(&self.0.database.writer)
            .await
            .context("write a device")?;
        Ok(true)
    }

    /// The device that waits for this code.
    pub async fn find_waiting_device(
        self,
        user_code_hash: &str,
        now: Time,
    ) -> anyhow::Result<Option<Device>> {
        use entity::oauth_device::{Column, Entity};
        let found = Entity::find()
            .filter(Column::UserCodeHash.eq(user_code_hash))
            .filter(Column::ExpiresAt.gt(now.millis()))
            .filter(Column::Decision.is_null())
            .one(&self.0.database.reader)
            .await?;
        found.map(device).transpose()
    }

    /// The device with this secret, whatever its state.
    pub async fn find_device(self, device_hash: &str) -> anyhow::Result<Option<Device>> {
        let found =
            entity::oauth_device::Entity::find_by_id(device_hash).one(&self.0.database.writer).await?;
        found.map(device).transpose()
    }

    /// Records that the device asked, so that it cannot ask too often.
    pub async fn note_poll(self, device_hash: &str, at: Time) -> anyhow::Result<()> {
        use entity::oauth_device::{Column, Entity};
        Entity::update_many()
            .col_expr(Column::PolledAt, Expr::value(at.millis()))
            .filter(Column::DeviceHash.eq(device_hash))
            .exec(&self.0.database.writer)
            .await?;
        Ok(())
    }

    /// Denies a waiting device. A device that does not wait any more is no error.
    pub async fn deny_device(self, user_code_hash: &str) -> anyhow::Result<()> {
        use entity::oauth_device::{Column, Entity};
        Entity::update_many()
            .col_expr(Column::Decision, Expr::value(DENIED))
            .filter(Column::UserCodeHash.eq(user_code_hash))
            .filter(Column::Decision.is_null())
            .exec(&self.0.database.writer)
            .await?;
        Ok(())
    }
}

/// Allows a waiting device, once.
pub(super) async fn allow(
    transaction: &DatabaseTransaction,
    user_code_hash: &str,
    now: Time,
) -> ChangeResult<()> {
    use entity::oauth_device::{Column, Entity};
    let allowed = Entity::update_many()
        .col_expr(Column::Decision, Expr::value(ALLOWED))
        .filter(Column::UserCodeHash.eq(user_code_hash))
        .filter(Column::ExpiresAt.gt(now.millis()))
        .filter(Column::Decision.is_null())
        .exec(transaction)
        .await?;
    if allowed.rows_affected == 1 { Ok(()) } else { Err(Refusal::NotFound(Missing::DeviceCode).into()) }
}

fn device(row: entity::oauth_device::Model) -> anyhow::Result<Device> {
    let decision = match row.decision.as_deref() {
        None => None,
        Some(ALLOWED) => Some(DeviceDecision::Allowed),
        Some(_) => Some(DeviceDecision::Denied),
    };
    Ok(Device {
        device_hash: row.device_hash,
        client_hash: row.client_hash,
        client_name: row.client_name,
        scopes: rows::parse(&row.scopes, "a list of scopes")?,
        resource: row.resource,
        expires_at: Time::from_millis(row.expires_at),
        polled_at: row.polled_at.map(Time::from_millis),
        decision,
    })
}
