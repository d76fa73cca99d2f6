//! A Postgres database for each world, copied from a template that is migrated once for each build of the
//! program.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::UNIX_EPOCH;

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};

/// An advisory lock, so that concurrent tests create the template once.
const TEMPLATE_LOCK: i64 = 7_305_114;

/// A database of one world, dropped with it.
#[derive(Debug)]
pub struct OwnDatabase {
    server: String,
    name: String,
}

impl OwnDatabase {
    /// A copy of a migrated database. `migrate` migrates the database at an address to the newest schema. It
    /// is called once for each build of the program.
    pub async fn migrated(program: &str, migrate: impl AsyncFnOnce(String)) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let server = test_servers::postgres().unwrap_or_else(|| super::skip_test());
        let mut admin =
            PgConnection::connect(&server).await.expect("Postgres answers; scripts/test starts one");
        let template = template_of(program);
        make_template(&mut admin, &server, &template, migrate).await;
        let name = format!("world_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        run(&mut admin, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
        run(&mut admin, format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
        Self { server, name }
    }

    pub fn url(&self) -> String {
        url_of(&self.server, &self.name)
    }

    /// Drops it together with open connections. For code that cannot await.
    pub fn drop_now(&self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let mut admin = PgConnection::connect(&server).await.map_err(std::io::Error::other)?;
                let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                admin.execute(sqlx::raw_sql(AssertSqlSafe(drop))).await.map_err(std::io::Error::other)
            })
        });
        // The whole server is removed after the test run, so that a remaining database does no harm.
        if !matches!(dropping.join(), Ok(Ok(_))) {
            eprintln!("the database {} was not dropped", self.name);
        }
    }
}

// No test outlives a new build of its program, so that the build's time can identify the schema.
fn template_of(program: &str) -> String {
    let built = std::fs::metadata(program).and_then(|meta| meta.modified()).expect("the program under test");
    let since = built.duration_since(UNIX_EPOCH).expect("a build after 1970");
    format!("template_{}", since.as_nanos())
}

async fn make_template(
    admin: &mut PgConnection,
    server: &str,
    template: &str,
    migrate: impl AsyncFnOnce(String),
) {
    run(admin, format!("SELECT pg_advisory_lock({TEMPLATE_LOCK})")).await;
    let found = sqlx::query("SELECT 1 FROM pg_database WHERE datname = $1").bind(template);
    if found.fetch_optional(&mut *admin).await.expect("a query of the databases").is_none() {
        let draft = format!("{template}_draft");
        run(admin, format!("DROP DATABASE IF EXISTS {draft} WITH (FORCE)")).await;
        run(admin, format!("CREATE DATABASE {draft}")).await;
        migrate(url_of(server, &draft)).await;
        run(admin, format!("ALTER DATABASE {draft} RENAME TO {template}")).await;
    }
    run(admin, format!("SELECT pg_advisory_unlock({TEMPLATE_LOCK})")).await;
}

fn url_of(server: &str, database: &str) -> String {
    let (server, _) = server.rsplit_once('/').expect("an address such as postgres://user@host:port/postgres");
    format!("{server}/{database}")
}

// Database names cannot be bound as parameters. All of them are created here.
async fn run(connection: &mut PgConnection, sql: String) {
    let statement = sql.clone();
    if let Err(error) = connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await {
        panic!("{statement}: {error}");
    }
}
