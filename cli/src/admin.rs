//! The operator's commands on a running service. The work itself is queued, and the workers do it.
//!
//! A command prints for people what the pages at `/admin` show, and with `--json` what the operator's routes
//! return. A command must not be able to do more than these routes.

mod board;
mod command;
mod credit;
mod jobs;
mod operators;
mod refusals;
mod scans;
mod suspensions;

use std::process::ExitCode;

use config::Settings;
use service::{Failure, RescanScope, Service};

use crate::output::Form;
use crate::system::{Schema, SharedServices, System};

use command::OperatorCommand;
pub(crate) use command::{AdminCommand, parse_queue};
use refusals::refused;

pub(crate) async fn execute(
    command: &AdminCommand,
    form: Form,
    settings: &Settings,
) -> anyhow::Result<ExitCode> {
    if let AdminCommand::Operator(OperatorCommand::Add { name }) = command {
        // Needs no database.
        return operators::add(name, form).await;
    }
    let system = System::open(settings, Schema::Require).await?;
    let shared = SharedServices::open(settings, &system).await?;
    let done = match dispatch(command, form, &shared.service).await {
        Err(failure) => failure.handle().map(|refusal| refused(&refusal, command, form)),
        Ok(code) => Ok(code),
    };
    shared.close().await;
    system.close().await?;
    done
}

async fn dispatch(command: &AdminCommand, form: Form, service: &Service) -> Result<ExitCode, Failure> {
    match command {
        AdminCommand::Rescan { all, host } => {
            let request = match host {
                Some(host) => RescanScope::Host(host.clone()),
                None if *all => RescanScope::Everything,
                None => RescanScope::Older,
            };
            return Ok(scans::rescan(service, form, request).await?);
        }
        AdminCommand::Scans => scans::show(service, form).await?,
        AdminCommand::Queues => board::show(service, form).await?,
        AdminCommand::Jobs(wanted) => jobs::list(service, form, wanted.read()).await?,
        AdminCommand::Job(named) => jobs::show(service, form, *named).await?,
        AdminCommand::Retry { job, signed } => jobs::retry(service, form, *job, &signed.name()).await?,
        AdminCommand::Cancel { job, signed } => jobs::cancel(service, form, *job, &signed.name()).await?,
        AdminCommand::Discard { job, signed } => {
            jobs::discard(service, form, *job, &signed.name()).await?;
        }
        AdminCommand::RequeueDead { queue, signed } => {
            board::requeue_dead(service, form, *queue, &signed.name()).await?;
        }
        AdminCommand::DiscardDead { queue, signed } => {
            board::discard_dead(service, form, *queue, &signed.name()).await?;
        }
        AdminCommand::Pause { queue, signed } => {
            board::pause(service, form, *queue, &signed.name()).await?;
        }
        AdminCommand::Resume { queue, signed } => {
            board::resume(service, form, *queue, &signed.name()).await?;
        }
        AdminCommand::Credit(order) => credit::grant(service, form, order).await?,
        AdminCommand::Suspend(order) => suspensions::suspend(service, form, order).await?,
        AdminCommand::Lift(order) => suspensions::lift(service, form, order).await?,
        // Handled before anything was opened.
        AdminCommand::Operator(_) => {}
        AdminCommand::Schedules => board::schedules(service, form).await?,
        AdminCommand::Run { schedule, signed } => {
            board::run(service, form, schedule, &signed.name()).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
