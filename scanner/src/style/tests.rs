//! Style sheets and what they hide.

mod hostile;
mod looks;
mod sheets;
