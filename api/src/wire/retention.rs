//! The settings of retention in requests. `null` turns a setting off, and differs from leaving it out.

use domain::{Refusal, RetentionChange};
use poem_openapi::types::MaybeUndefined;

pub fn retention_change(kept: &MaybeUndefined<u32>, days: &MaybeUndefined<u32>) -> RetentionChange {
    RetentionChange { versions_kept: change(kept), versions_days: change(days) }
}

/// The refusal of a change of an artifact without any setting. `field` is the first that it could have had.
pub fn must_be_given(field: &str) -> Refusal {
    let fault = format!("{field}: is missing; give it, versions_kept or versions_days");
    Refusal::InvalidBody { fault }
}

fn change(setting: &MaybeUndefined<u32>) -> Option<Option<u32>> {
    match setting {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => Some(None),
        MaybeUndefined::Value(number) => Some(Some(*number)),
    }
}
