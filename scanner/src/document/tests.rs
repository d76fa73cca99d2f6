//! Tests of document parsing.

mod hostile;
mod pages;
mod reading;
