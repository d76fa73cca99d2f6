//! Handbill in operation: one process, or one for each role with its servers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context;
use domain::Chance;
use sqlx::{Connection, PgConnection};

use crate::program::{Launch, Program, free_address};
use crate::s3::{self, S3};
use crate::{Arguments, Bench};

/// Limits that no measurement reaches.
const LIMITS: [(&str, &str); 7] = [
    ("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES", "1000000"),
    ("HANDBILL_LIMITS__CLAIMED_ARTIFACTS", "1000000"),
    ("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES", "1000000"),
    ("HANDBILL_LIMITS__PROVISIONAL_LIFETIME", "24h"),
    ("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE", "100000"),
    ("HANDBILL_LIMITS__LOGINS_PER_MINUTE", "100000"),
    ("HANDBILL_LIMITS__REGISTRATIONS_PER_MINUTE", "100000"),
];

/// The number of Redis databases in use.
static REDIS_DATABASES: AtomicUsize = AtomicUsize::new(1);

/// A running Handbill.
pub struct BenchSystem {
    pub api_url: String,
    site: Site,
    programs: Vec<Program>,
    s3: Option<S3>,
}

impl BenchSystem {
    /// `handbill serve` with a folder.
    pub async fn embedded(bench: &Bench, name: &str) -> anyhow::Result<Self> {
        let site = Site::new(bench, name)?;
        let mut serve = site.launch("serve").start()?;
        serve.answers(site.api, "/v1/status").await.context("handbill serve")?;
        Ok(site.system(vec![serve], None))
    }

    /// `handbill api`, `edge` and `worker` with PostgreSQL, Redis and S3, all on this machine.
    pub async fn production(bench: &Bench, name: &str) -> anyhow::Result<Self> {
        Self::production_with(bench, name, Duration::ZERO).await
    }

    /// Production mode with a store that takes this long to start each request.
    pub async fn production_with(bench: &Bench, name: &str, s3_latency: Duration) -> anyhow::Result<Self> {
        let mut site = Site::new(bench, name)?;
        let s3 = S3::start(&site.folder.join("s3"), s3_latency).await?;
        let redis = bench.arguments.redis.as_ref().context("this needs a Redis: --redis")?;
        // Several systems may run side by side, and must not receive each other's notices.
        let redis = format!("{redis}/{}", REDIS_DATABASES.fetch_add(1, Ordering::Relaxed));
        let database = new_database(&bench.arguments).await?;
        site.settings.extend(
            [
                ("HANDBILL_DATABASE__URL", database),
                ("HANDBILL_REDIS__URL", redis),
                ("HANDBILL_STORAGE__URL", format!("s3://{}", s3::BUCKET)),
                ("HANDBILL_STORAGE__ENDPOINT", s3.endpoint()),
                ("HANDBILL_STORAGE__ACCESS_KEY_ID", s3::ACCESS_KEY_ID.to_owned()),
                ("HANDBILL_STORAGE__SECRET_ACCESS_KEY", s3::SECRET_ACCESS_KEY.to_owned()),
            ]
            .map(|(key, value)| (key.to_owned(), value)),
        );
        site.launch("migrate").start()?.end().await.context("handbill migrate")?;
        let mut api = site.launch("api").start()?;
        let mut edge = site.launch("edge").start()?;
        let worker = site.launch("worker").start()?;
        api.answers(site.api, "/v1/status").await.context("handbill api")?;
        edge.answers(site.edge, "/").await.context("handbill edge")?;
        Ok(site.system(vec![api, edge, worker], Some(s3)))
    }

    /// The address of its database.
    pub fn database_url(&self) -> String {
        let embedded = || format!("sqlite://{}", self.site.folder.join("data/handbill.db").display());
        self.site.settings.get("HANDBILL_DATABASE__URL").cloned().unwrap_or_else(embedded)
    }

    /// The directory of its contents, each named by its hash.
    pub fn blobs(&self) -> PathBuf {
        let folder = &self.site.folder;
        match self.s3 {
            Some(_) => folder.join("s3").join(s3::BUCKET).join("blobs"),
            None => folder.join("data/blobs/blobs"),
        }
    }

    /// Starts another edge and returns its address.
    pub async fn start_edge(&mut self) -> anyhow::Result<SocketAddr> {
        let address = free_address()?;
        let mut launch = self.another("edge");
        launch.settings.insert("HANDBILL_EDGE__LISTEN".to_owned(), address.to_string());
        let mut edge = launch.start()?;
        edge.answers(address, "/").await.context("another edge")?;
        self.programs.push(edge);
        Ok(address)
    }

    /// Starts another API and returns its address.
    pub async fn start_api(&mut self) -> anyhow::Result<String> {
        let address = free_address()?;
        let mut launch = self.another("api");
        launch.settings.insert("HANDBILL_API__LISTEN".to_owned(), address.to_string());
        let mut api = launch.start()?;
        api.answers(address, "/v1/status").await.context("another API")?;
        self.programs.push(api);
        Ok(format!("http://{address}"))
    }

    /// Starts another worker.
    pub fn start_worker(&mut self) -> anyhow::Result<()> {
        self.programs.push(self.another("worker").start()?);
        Ok(())
    }

    /// The process ids of a role.
    pub fn process_ids(&self, role: &str) -> anyhow::Result<Vec<u32>> {
        self.programs.iter().filter(|program| program.name.starts_with(role)).map(Program::id).collect()
    }

    /// The resident memory of all its processes.
    pub fn resident_bytes(&self) -> anyhow::Result<u64> {
        self.programs.iter().map(Program::resident_bytes).sum()
    }

    /// The number of requests that its S3 server has received.
    pub fn s3_requests(&self) -> u64 {
        self.s3.as_ref().map_or(0, S3::requests)
    }

    /// Ends its processes. The directory and the addresses stay.
    pub async fn stop(self) -> anyhow::Result<Site> {
        for program in self.programs {
            program.kill().await?;
        }
        Ok(self.site)
    }

    fn another(&self, role: &str) -> Launch {
        let name = format!("{role}-{}", self.programs.len());
        Launch { name, ..self.site.launch(role) }
    }
}

/// The directory and addresses of a running Handbill.
pub struct Site {
    program: PathBuf,
    folder: PathBuf,
    pub api: SocketAddr,
    pub edge: SocketAddr,
    settings: BTreeMap<String, String>,
}

impl Site {
    pub fn new(bench: &Bench, name: &str) -> anyhow::Result<Self> {
        let folder = bench.folder.path().join(name);
        let (api, edge) = (free_address()?, free_address()?);
        let settings = [
            ("HANDBILL_DATA_DIR", folder.join("data").display().to_string()),
            ("HANDBILL_SECRETS__SIGNING", Chance::from_system().alphanumeric(40)),
            ("HANDBILL_API__LISTEN", api.to_string()),
            ("HANDBILL_API__BASE_URL", format!("http://{api}")),
            ("HANDBILL_EDGE__LISTEN", edge.to_string()),
            ("HANDBILL_EDGE__SERVE_URL", format!("http://{edge}")),
        ];
        let limits = LIMITS.map(|(key, value)| (key, value.to_owned()));
        let settings =
            settings.into_iter().chain(limits).map(|(key, value)| (key.to_owned(), value)).collect();
        Ok(Self { program: bench.arguments.program.clone(), folder, api, edge, settings })
    }

    pub fn launch(&self, role: &str) -> Launch {
        Launch {
            name: role.to_owned(),
            program: self.program.clone(),
            arguments: vec![role.to_owned()],
            settings: self.settings.clone(),
            folder: self.folder.clone(),
            core: None,
        }
    }

    fn system(self, programs: Vec<Program>, s3: Option<S3>) -> BenchSystem {
        BenchSystem { api_url: format!("http://{}", self.api), site: self, programs, s3 }
    }
}

/// Creates an empty database on the server and returns its address.
pub async fn new_database(arguments: &Arguments) -> anyhow::Result<String> {
    let server = arguments.postgres.as_deref().context("this needs a PostgreSQL: --postgres")?;
    let mut connection = PgConnection::connect(server).await.context("connect to PostgreSQL")?;
    let name = format!("bench_{}", Chance::from_system().base36(12));
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut connection).await?;
    let mut url = url_of(server)?;
    url.set_path(&name);
    Ok(url.into())
}

fn url_of(server: &str) -> anyhow::Result<reqwest::Url> {
    server.parse().context("the PostgreSQL address is no URL")
}
