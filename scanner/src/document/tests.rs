//! Parsing of documents.

mod hostile;
mod pages;
mod reading;
