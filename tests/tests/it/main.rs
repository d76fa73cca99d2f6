//! The service as its users see it, a file per chapter of the specification.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod accounts;
mod arrears;
mod artifacts;
mod bad_input;
mod checkout;
mod claiming;
mod contract;
mod credits;
mod edge_browser;
mod edge_hammer;
mod edge_paths;
mod edge_redbot;
mod errors;
mod expectations;
mod faults;
mod invites;
mod metering;
mod moderation;
mod operator;
mod outages;
mod pages;
mod payment;
mod people;
mod program;
mod publish;
mod reports;
mod schedules;
mod scopes;
mod serving;
mod sessions;
mod simultaneous;
mod teams;
mod tokens;
mod visibility;
mod webhook;
