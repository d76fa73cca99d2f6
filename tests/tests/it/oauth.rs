//! OAuth: an app gets a token by a person's consent or for a new account, and a stolen code or refresh token
//! ends what it gave.

pub mod app;
mod consent;
mod devices;
mod documents;
mod metadata;
mod theft;
