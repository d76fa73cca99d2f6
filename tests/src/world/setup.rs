//! Sets up a world: starts and migrates the servers first, then starts the program.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;

use super::{Mode, Servers, World};
use crate::clock::WorldClock;
use crate::port::Port;
use crate::server::outage::{Kind, OwnServer};
use crate::server::postgres::OwnDatabase;
use crate::server::{card, redis, s3, sqlite};
use crate::{CardServer, Collector, S3};

/// A kernel file system in which nobody can create a directory.
const UNWRITABLE: &str = "/sys";

#[derive(Debug)]
pub struct Setup {
    mode: Mode,
    program: &'static str,
    env: BTreeMap<String, String>,
    own_postgres: bool,
    own_redis: bool,
    card_server: bool,
    collector: bool,
    has_ops: bool,
    is_without_folder: bool,
}

impl Setup {
    pub(super) fn new(mode: Mode, program: &'static str) -> Self {
        Self {
            mode,
            program,
            env: BTreeMap::new(),
            own_postgres: false,
            own_redis: false,
            card_server: false,
            collector: false,
            has_ops: false,
            is_without_folder: false,
        }
    }

    /// Sets a variable for every process.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.insert(name.to_owned(), value.into());
        self
    }

    /// Gives the world a Postgres of its own, which the test may stop.
    #[must_use]
    pub fn with_own_postgres(mut self) -> Self {
        self.own_postgres = true;
        self
    }

    /// Gives the world a Redis of its own, which the test may stop.
    #[must_use]
    pub fn with_own_redis(mut self) -> Self {
        self.own_redis = true;
        self
    }

    /// Gives the world a card processor, and the program its address and both secrets. In dev mode a card key
    /// must be allowed explicitly, because it is for real money.
    #[must_use]
    pub fn with_card_processor(mut self) -> Self {
        self.card_server = true;
        self.env("HANDBILL_ALLOW_PUBLIC_DEV", "true")
            .env("HANDBILL_CARD__SECRET_KEY", card::SECRET_KEY)
            .env("HANDBILL_CARD__WEBHOOK_SECRET", card::WEBHOOK_SECRET)
    }

    /// Gives the world a trace collector, and the program its address.
    #[must_use]
    pub fn with_collector(mut self) -> Self {
        self.collector = true;
        self
    }

    /// Gives every process an operators' listener with its own address.
    #[must_use]
    pub fn with_ops(mut self) -> Self {
        self.has_ops = true;
        self
    }

    /// Sets no data directory, and a working directory in which nobody can write, not even root.
    #[must_use]
    pub fn without_folder(mut self) -> Self {
        self.is_without_folder = true;
        self
    }

    /// Starts everything and waits until it responds. In the embedded mode the program finds a database of
    /// the newest schema; after [`Self::prepare`] it finds none.
    pub async fn start(self) -> World {
        let (mode, program) = (self.mode, self.program);
        let world = self.prepare().await;
        if mode == Mode::Embedded && world.env.contains_key("HANDBILL_DATA_DIR") {
            let database_url = |path: &Path| format!("sqlite://{}", path.display());
            let template =
                sqlite::template(program, async |path| world.migrate(database_url(path)).await).await;
            sqlite::copy(&template, &world.folder().join("data"));
        }
        world.start_program().await;
        world
    }

    /// Starts and migrates the servers, without any process of the program.
    pub async fn prepare(self) -> World {
        let folder =
            tempfile::Builder::new().prefix("handbill-world-").tempdir().expect("a temporary folder");
        let mut world = World {
            mode: self.mode,
            program: self.program,
            env: BTreeMap::new(),
            client: crate::call::client(),
            clock: WorldClock::at(folder.path().join("clock")),
            processes: Mutex::default(),
            working_dir: if self.is_without_folder { UNWRITABLE.into() } else { folder.path().to_owned() },
            has_ops: self.has_ops,
            is_kept: false,
            commands: AtomicU32::new(0),
            ports: Mutex::default(),
            api: Port::take(),
            edge: Port::take(),
            servers: Servers::default(),
            folder,
        };
        world.env = world.addresses();
        if self.is_without_folder {
            world.env.remove("HANDBILL_DATA_DIR");
        }
        if self.mode == Mode::Production {
            world.open_servers(&self).await;
        }
        if self.card_server {
            let card = world.servers.card.insert(CardServer::start().await);
            world.env.insert("HANDBILL_CARD__API_URL".to_owned(), card.url());
        }
        if self.collector {
            let collector = world.servers.collector.insert(Collector::start().await);
            world.env.insert("HANDBILL_TRACES__OTLP_URL".to_owned(), collector.url());
        }
        world.env.extend(self.env);
        world
    }
}

impl World {
    /// Starts the program of a world that was only prepared.
    pub async fn start_program(&self) {
        match self.mode {
            Mode::Embedded => {
                let addresses = vec![self.api.url(), self.edge.url()];
                self.run("serve", &["serve"], addresses, &[]).await;
            }
            Mode::Production => {
                self.run("api", &["api"], vec![self.api.url()], &[]).await;
                self.run("edge", &["edge"], vec![self.edge.url()], &[]).await;
                self.run("worker", &["worker"], vec![], &[]).await;
            }
        }
    }

    fn addresses(&self) -> BTreeMap<String, String> {
        let pairs = [
            ("HANDBILL_DATA_DIR", self.folder.path().join("data").display().to_string()),
            ("HANDBILL_API__LISTEN", self.api.address()),
            ("HANDBILL_API__BASE_URL", self.api.url()),
            ("HANDBILL_EDGE__LISTEN", self.edge.address()),
            ("HANDBILL_EDGE__SERVE_URL", self.edge.url()),
            ("HANDBILL_SECRETS__SIGNING", Self::SIGNING_SECRET.to_owned()),
            ("HANDBILL_TEST_CLOCK", self.clock.path()),
        ];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    async fn open_servers(&mut self, setup: &Setup) {
        let s3 = S3::start_in(&self.folder.path().join("s3")).await;
        let redis_url = if setup.own_redis {
            let server = OwnServer::of(Kind::Redis).await;
            self.servers.redis.insert(server).url()
        } else {
            redis::own_number().await
        };
        let pairs = [
            ("HANDBILL_REDIS__URL", redis_url),
            ("HANDBILL_STORAGE__URL", format!("s3://{}/blobs", s3::BUCKET)),
            ("HANDBILL_STORAGE__ENDPOINT", s3.endpoint()),
            ("HANDBILL_STORAGE__ACCESS_KEY_ID", s3::ACCESS_KEY_ID.to_owned()),
            ("HANDBILL_STORAGE__SECRET_ACCESS_KEY", s3::SECRET_ACCESS_KEY.to_owned()),
        ];
        self.env.extend(pairs.map(|(name, value)| (name.to_owned(), value)));
        self.servers.s3 = Some(s3);
        let database_url = self.open_database(setup).await;
        self.env.insert("HANDBILL_DATABASE__URL".to_owned(), database_url);
    }

    async fn open_database(&mut self, setup: &Setup) -> String {
        if setup.own_postgres {
            let server = OwnServer::of(Kind::Postgres).await;
            let url = server.url();
            self.servers.postgres = Some(server);
            self.migrate(url.clone()).await;
            return url;
        }
        let database = OwnDatabase::migrated(self.program, async |url| self.migrate(url).await).await;
        let url = database.url();
        self.servers.database = Some(database);
        url
    }

    async fn migrate(&self, database_url: String) {
        let migrated = self.command(&["migrate"], &[("HANDBILL_DATABASE__URL", &database_url)]).await;
        assert!(migrated.status.success(), "migrate ended with {}:\n{}", migrated.status, migrated.output);
    }
}
