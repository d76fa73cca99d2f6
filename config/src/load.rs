//! Assembles the sections, and defines what other crates get. Nothing is opened or connected here, so
//! settings can be read and shown without any of the services.

use std::path::{Path, PathBuf};

use domain::link::Addresses;
use domain::{DevPaymentTerms, Tariff};

use crate::fault::{Fault, Faults, Source};
use crate::reader::{Reader, SettingLine};
use crate::section::mode::Mode;
use crate::section::secrets;
use crate::{
    Api, Card, Database, Edge, Limits, Log, Ops, Queue, Redis, Secrets, Service, Storage, Traces, Workers,
};

/// All settings, parsed and checked.
#[derive(Clone, Debug)]
pub struct Settings {
    pub dev_mode: bool,
    /// Whether dev mode may be reachable from other machines.
    pub allow_public_dev: bool,
    pub data_dir: PathBuf,
    pub log: Log,
    pub api: Api,
    pub edge: Edge,
    pub database: Database,
    pub queue: Queue,
    pub redis: Redis,
    pub storage: Storage,
    pub secrets: Secrets,
    pub card: Card,
    pub limits: Limits,
    pub workers: Workers,
    pub ops: Ops,
    pub service: Service,
    pub traces: Traces,
    lines: Vec<SettingLine>,
}

/// The sources of settings, besides the built-in defaults.
#[derive(Clone, Debug)]
pub struct Sources<E> {
    /// The settings file. `None`: `handbill.toml` in the working directory, if it exists.
    pub file: Option<PathBuf>,
    /// The environment of the process.
    pub env: E,
}

/// The role of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Everything in one process.
    Serve,
    Api,
    Edge,
    Worker,
}

impl Role {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Role::Serve => "serve",
            Role::Api => "api",
            Role::Edge => "edge",
            Role::Worker => "worker",
        }
    }
}

/// Reads all settings, or returns all faults.
pub fn load<E: Iterator<Item = (String, String)>>(sources: Sources<E>) -> Result<Settings, Faults> {
    let mut reader = Reader::new(sources.file, sources.env);
    let settings = read(&mut reader);
    reader.finish(settings).map(|(settings, lines)| Settings { lines, ..settings })
}

/// Reads the settings of another installation: from its settings file, or from its data directory if it has
/// none. The environment is ignored, because it would apply to both installations.
pub fn load_apart(location: &Path) -> Result<Settings, Faults> {
    if !location.is_dir() {
        return load(Sources { file: Some(location.to_owned()), env: std::iter::empty() });
    }
    let own = location.join("handbill.toml");
    // The file in the working directory belongs to another installation.
    let file = if own.is_file() { own } else { NO_FILE.into() };
    let data_dir = ("HANDBILL_DATA_DIR".to_owned(), location.display().to_string());
    load(Sources { file: Some(file), env: std::iter::once(data_dir) })
}

const NO_FILE: &str = "/dev/null";

// Every section is read before the first `?`, so that a fault in one does not hide those in another.
pub(crate) fn read(reader: &mut Reader) -> Option<Settings> {
    let mode = Mode::read(reader);
    let data_dir = reader.required::<PathBuf>("data_dir");
    let folder = data_dir.clone().unwrap_or_default();
    let log = Log::read(reader);
    let api = Api::read(reader, mode);
    let proxies = api.as_ref().map(|api| api.trusted_proxies.clone()).unwrap_or_default();
    let edge = Edge::read(reader, mode, &proxies);
    let database = Database::read(reader, &folder);
    let queue = Queue::read(reader, &folder, database.as_ref());
    let redis = Redis::read(reader);
    let storage = Storage::read(reader, &folder);
    let secrets = Secrets::read(reader, mode);
    let card = Card::read(reader, mode);
    let limits = Limits::read(reader, mode);
    let workers = Workers::read(reader);
    let ops = Ops::read(reader, mode);
    let service = Service::read(reader);
    let traces = Traces::read(reader);
    Some(Settings {
        dev_mode: mode?.dev_mode,
        allow_public_dev: mode?.allow_public_dev,
        data_dir: data_dir?,
        log: log?,
        api: api?,
        edge: edge?,
        database: database?,
        queue: queue?,
        redis,
        storage: storage?,
        secrets,
        card,
        limits: limits?,
        workers: workers?,
        ops,
        service,
        traces: traces?,
        lines: Vec::new(),
    })
}

impl Settings {
    /// Every setting in effect and where it came from. Secrets are hidden.
    pub fn describe(&self) -> &[SettingLine] {
        &self.lines
    }

    /// Whether `/admin` is open without a password to this machine, while other machines can reach the API.
    pub fn is_admin_for_this_machine_alone(&self) -> bool {
        let is_open =
            self.dev_mode && self.secrets.operator_password.is_none() && self.secrets.operators.is_empty();
        is_open && !self.api.listen.ip().is_loopback()
    }

    /// Whether the settings suffice for an edge only. Its storage keys may then be read-only.
    pub fn are_of_an_edge_alone(&self) -> bool {
        !self.dev_mode && self.secrets.signing.is_none() && self.secrets.links.is_some()
    }

    /// Whether these settings suffice for a role.
    pub fn check_role(&self, role: Role) -> Result<(), Faults> {
        let faults = [self.missing_secret(role), self.missing_redis(role), self.taken_address(role)];
        let faults = faults.into_iter().flatten().chain(self.refused_site(role));
        let faults: Vec<_> = faults.collect();
        if faults.is_empty() { Ok(()) } else { Err(Faults(faults)) }
    }

    fn missing_secret(&self, role: Role) -> Option<Fault> {
        let is_enough = match role {
            Role::Edge => self.secrets.signing.is_some() || self.secrets.links.is_some(),
            Role::Serve | Role::Api | Role::Worker => self.secrets.signing.is_some(),
        };
        (!self.dev_mode && !is_enough).then(|| Fault {
            key: secrets::SIGNING.to_owned(),
            source: Source::Default,
            fault: "is not set, and dev mode is off".to_owned(),
            expected: match role {
                Role::Edge => secrets::expected_of_an_edge(),
                Role::Serve | Role::Api | Role::Worker => secrets::expected(),
            },
        })
    }

    fn missing_redis(&self, role: Role) -> Option<Fault> {
        let name = role.name();
        let is_missing = role != Role::Serve && self.redis.url.is_none();
        is_missing.then(|| Fault {
            key: "redis.url".to_owned(),
            source: Source::Default,
            fault: format!("is not set, and `handbill {name}` needs it to communicate with other processes"),
            expected:
                "expected HANDBILL_REDIS__URL=redis://host:6379/0, or run everything with `handbill serve`"
                    .to_owned(),
        })
    }

    /// Applies to roles that serve pages or the API, so not to a worker.
    fn refused_site(&self, role: Role) -> Vec<Fault> {
        let is_allowed = self.dev_mode || self.edge.allow_same_site || role == Role::Worker;
        if is_allowed { Vec::new() } else { self.same_site_faults() }
    }

    /// Where a setting came from.
    pub fn source_of(&self, key: &str) -> Source {
        let line = self.lines.iter().find(|line| line.key == key);
        line.map_or(Source::Default, |line| line.source.clone())
    }

    /// Checked here, because the listener that fails to bind second would report the wrong setting.
    fn taken_address(&self, role: Role) -> Option<Fault> {
        let (own, api, edge) =
            (self.ops.listen?, ("api.listen", self.api.listen), ("edge.listen", self.edge.listen));
        let listeners: &[_] = match role {
            Role::Serve => &[api, edge],
            Role::Api => &[api],
            Role::Edge => &[edge],
            Role::Worker => &[],
        };
        let (taken_by, _) = listeners.iter().find(|(_, listen)| *listen == own && own.port() != 0)?;
        Some(Fault {
            key: "ops.listen".to_owned(),
            source: self.source_of("ops.listen"),
            fault: format!("{own} is also the address of {taken_by}"),
            expected: "expected a separate address, such as 127.0.0.1:9090".to_owned(),
        })
    }

    pub fn tariff(&self) -> Tariff {
        Tariff {
            provisional_lifetime: self.limits.provisional_lifetime,
            provisional_free_publishes: self.limits.provisional_free_publishes,
            claimed_free_publishes: self.limits.claimed_free_publishes,
            claimed_artifacts_max: self.limits.claimed_artifacts,
            free_storage_bytes: self.limits.free_storage_bytes,
            free_views: self.limits.free_views,
            dev_rail: if self.dev_mode { DevPaymentTerms::Open } else { DevPaymentTerms::Closed },
            card_rail: self.card.rail(),
            ..Tariff::default()
        }
    }

    pub fn addresses(&self) -> Addresses {
        Addresses {
            base_url: self.api.base_url.clone(),
            serve_url: self.edge.serve_url.clone(),
            edge_domain: self.edge.domain.clone(),
            url_style: self.edge.url_style,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_ops_at(listen: &str) -> Settings {
        let redis = ("HANDBILL_REDIS__URL", "redis://127.0.0.1:6379/0");
        let env = [("HANDBILL_OPS__LISTEN", listen), redis].map(|(name, value)| (name.into(), value.into()));
        load(Sources { file: Some(NO_FILE.into()), env: env.into_iter() }).unwrap()
    }

    #[test]
    fn ops_listen_must_differ_from_other_listeners_of_the_process() {
        let api = with_ops_at("127.0.0.1:0").api.listen.to_string();
        let settings = with_ops_at(&api);
        for role in [Role::Serve, Role::Api] {
            let expected = format!(
                "ops.listen (environment variable HANDBILL_OPS__LISTEN): {api} is also the address of api.listen; \
                 expected a separate address, such as 127.0.0.1:9090"
            );
            assert_eq!(settings.check_role(role).unwrap_err().to_string(), expected);
        }
        for role in [Role::Edge, Role::Worker] {
            assert!(settings.check_role(role).is_ok(), "there the API is another process");
        }
    }
}
