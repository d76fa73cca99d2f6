//! The last fire time of each schedule.

use domain::Time;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use crate::handles::ScheduleStore;

impl ScheduleStore<'_> {
    /// The last time at which a schedule fired. `None` if it never did.
    pub async fn last_fire_time(self, schedule: &str) -> anyhow::Result<Option<Time>> {
        let found = entity::schedule::Entity::find_by_id(schedule).one(&self.0.database.reader).await?;
        Ok(found.map(|row| Time::from_millis(row.last_slot_at)))
    }

    /// Records that a schedule fired. Fire times only move forward.
    pub async fn record_fire_time(self, schedule: &str, slot: Time) -> anyhow::Result<()> {
        let row = entity::schedule::ActiveModel {
            name: Set(schedule.to_owned()),
            last_slot_at: Set(slot.millis()),
        };
        entity::schedule::Entity::insert(row)
            .on_conflict(OnConflict::column(entity::schedule::Column::Name).do_nothing().to_owned())
            .exec_without_returning(&self.0.database.writer)
            .await?;
        entity::schedule::Entity::update_many()
            .col_expr(entity::schedule::Column::LastSlotAt, Expr::value(slot.millis()))
            .filter(entity::schedule::Column::Name.eq(schedule))
            .filter(entity::schedule::Column::LastSlotAt.lt(slot.millis()))
            .exec(&self.0.database.writer)
            .await?;
        Ok(())
    }
}
