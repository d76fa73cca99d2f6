//! The rows of bundles in the database. Sweeps of them are in `bundle_sweep`.

use std::time::Duration;

use anyhow::Context;
use domain::{Time, WrittenBundle};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait, OnConflict, SimpleExpr};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};

use crate::blob_state::BlobState;
use crate::rows;
use crate::script::Script;

/// A new bundle is first checked after this time, and is not repacked earlier. By that time, no attempt of
/// its publish is running any more, so its name is never used for another object.
pub(crate) const FIRST_CHECK_AFTER: Duration = Duration::from_secs(24 * 3600);

/// Makes the first sweep after `at` check a bundle. A sweep of blobs calls this after it has marked a row and
/// before it deletes the row. Otherwise it could overwrite the claim of a publish that finds the row deleted.
/// The bundle's row is written even if its check is due already: this waits for a sweep that is about to
/// record the check as done, and then asks again.
pub(crate) async fn ask_for_check(
    connection: &impl ConnectionTrait,
    bundle: &str,
    at: Time,
) -> anyhow::Result<()> {
    let check_at = || Expr::col(entity::bundle::Column::CheckAt);
    let earliest = CaseStatement::new().case(check_at().lt(at.millis()), check_at()).finally(at.millis());
    entity::bundle::Entity::update_many()
        .col_expr(entity::bundle::Column::CheckAt, earliest.into())
        .filter(entity::bundle::Column::Id.eq(bundle))
        .filter(entity::bundle::Column::State.eq(BlobState::Present.as_str()))
        .exec(connection)
        .await
        .context("ask for the check of a bundle")?;
    Ok(())
}

/// Inserts the rows of new bundles. A redelivered publish finds its row.
pub(crate) fn insert(
    script: &mut Script,
    written: impl IntoIterator<Item = WrittenBundle>,
    now: Time,
) -> anyhow::Result<()> {
    let keep = OnConflict::column(entity::bundle::Column::Id).do_nothing().to_owned();
    let rows = written.into_iter().map(|bundle| new_row(bundle, now));
    script.insert::<entity::bundle::Entity>(rows, Some(keep))
}

/// The row of a new bundle.
pub(crate) fn new_row(bundle: WrittenBundle, now: Time) -> entity::bundle::ActiveModel {
    entity::bundle::ActiveModel {
        id: Set(bundle.id.to_string()),
        size_bytes: Set(rows::number(bundle.size_bytes)),
        state: Set(BlobState::Present.as_str().to_owned()),
        created_at: Set(now.millis()),
        check_at: Set(Some(now.plus(FIRST_CHECK_AFTER).millis())),
    }
}

/// A condition that a bundle has no contents.
pub(crate) fn is_empty() -> SimpleExpr {
    Expr::cust("NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.bundle = bundles.id)")
}

/// A condition that a bundle has this number of contents, not counting those that are being deleted.
pub(crate) fn has_contents(number: usize) -> SimpleExpr {
    const NUMBER: &str =
        "(SELECT count(*) FROM blobs WHERE blobs.bundle = bundles.id AND blobs.state = 'present')";
    Expr::cust(NUMBER).eq(rows::number(number as u64))
}
