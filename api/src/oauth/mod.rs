//! The OAuth endpoints for programs: metadata, registration, tokens, revocation and the sign-in of devices.
//! `pages::oauth` has the consent pages.
//!
//! Their errors have the form of RFC 6749. They use no cookie, so the pages of any site may call them: see
//! [`crate::http::cors`].

pub mod answer;
pub mod devices;
pub mod metadata;
pub mod register;
pub mod tokens;

pub use metadata::challenged;
