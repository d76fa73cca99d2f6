//! One SeaORM model per table, with columns only: no business rules, no relations, no queries.
//!
//! Ids are ULIDs as text, money is integer micro-dollars, times are milliseconds since 1970 in UTC. The
//! schema with its constraints is in `migration`.

pub mod account;
pub mod appeal;
pub mod artifact;
pub mod audit;
pub mod blob;
pub mod blob_ref;
pub mod blob_sweep;
pub mod blocked_content;
pub mod bundle;
pub mod card_payment;
pub mod content_verdict;
pub mod daily_view;
pub mod early_card_reversal;
pub mod erasure;
pub mod former_version;
pub mod held_page;
pub mod idempotency_key;
pub mod invite;
pub mod job_outcome;
pub mod ledger_entry;
pub mod membership;
pub mod moderation_decision;
pub mod monthly_limit;
pub mod monthly_view;
pub mod oauth_device;
pub mod oauth_grant;
pub mod report;
pub mod rescan_walk;
pub mod route;
pub mod ruling;
pub mod schedule;
pub mod session;
pub mod token;
pub mod usage;
pub mod user;
pub mod version;
