//! Servers that a test stops and starts again. Each belongs to one world, because a server that other tests
//! use must never be stopped.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::eventually;
use crate::port::Port;

const START_DEADLINE: Duration = Duration::from_secs(60);
const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/servers");

/// A server of one world, which its test may stop and start.
#[derive(Debug)]
pub struct OwnServer {
    kind: Kind,
    port: Port,
    folder: TempDir,
    child: Mutex<Option<Child>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Postgres,
    Redis,
}

impl OwnServer {
    pub(crate) async fn of(kind: Kind) -> Self {
        if !test_servers::has_program(kind.program()) {
            super::skip_test();
        }
        // Postgres never runs as root, so that another user needs access to the directory.
        let open_to_pass = Permissions::from_mode(0o711);
        let folder = tempfile::Builder::new().prefix("handbill-server-").permissions(open_to_pass).tempdir();
        let folder = folder.expect("a folder for a server");
        let server = Self { kind, port: Port::take(), folder, child: Mutex::new(None) };
        server.start().await;
        server
    }

    pub fn url(&self) -> String {
        match self.kind {
            Kind::Postgres => format!("postgres://postgres@{}/postgres", self.port.address()),
            Kind::Redis => format!("redis://{}/0", self.port.address()),
        }
    }

    /// Starts it, initially or again, on the same port and with the same data, and waits until it responds.
    pub async fn start(&self) {
        let child = Command::new(SERVERS)
            .arg(self.kind.function())
            .arg(self.folder.path())
            .arg(self.port.number.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn();
        *self.child.lock().unwrap() = Some(child.expect("scripts/servers starts"));
        let what = format!("{:?} answers", self.kind);
        eventually(START_DEADLINE, &what, async || self.answers().await.then_some(())).await;
    }

    // During recovery Postgres listens before it accepts logins.
    async fn answers(&self) -> bool {
        match self.kind {
            Kind::Postgres => PgConnection::connect(&self.url()).await.is_ok(),
            Kind::Redis => TcpStream::connect(self.port.address()).await.is_ok(),
        }
    }

    /// Freezes it and all its children with SIGSTOP, as a machine does that hangs.
    pub fn freeze(&self) {
        // A stopped process creates no children, so that the search is complete when it finds no new ones.
        let mut frozen = Vec::new();
        loop {
            let new: Vec<_> = self.process_tree().into_iter().filter(|id| !frozen.contains(id)).collect();
            if new.is_empty() {
                return;
            }
            new.iter().for_each(|id| send("STOP", *id));
            frozen.extend(new);
        }
    }

    /// Lets it continue with SIGCONT.
    pub fn thaw(&self) {
        self.process_tree().into_iter().for_each(|id| send("CONT", id));
    }

    /// The server's process and its child processes.
    fn process_tree(&self) -> Vec<u32> {
        let Some(id) = self.child.lock().unwrap().as_ref().map(Child::id) else { return Vec::new() };
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        std::iter::once(id)
            .chain(children.split_whitespace().filter_map(|child| child.parse().ok()))
            .collect()
    }

    /// Stops it at once, with all its connections.
    pub fn stop(&self) {
        // A process that was stopped with SIGSTOP handles no other signal.
        self.thaw();
        let Some(mut child) = self.child.lock().unwrap().take() else { return };
        // For Postgres this is an immediate shutdown, which ends its children too. A kill -9 would leave them
        // behind.
        let quit = format!("kill -{} {}", self.kind.signal(), child.id());
        let sent = Command::new("sh").arg("-c").arg(quit).status();
        assert!(sent.expect("a shell").success(), "{:?} could not be stopped", self.kind);
        child.wait().expect("a stopped server ends");
    }
}

/// A child of the server may have ended in the meantime.
fn send(signal: &str, id: u32) {
    let kill = format!("kill -{signal} {id} 2>/dev/null");
    let _ = Command::new("sh").arg("-c").arg(kill).status();
}

impl Kind {
    fn program(self) -> &'static str {
        match self {
            Kind::Postgres => "initdb",
            Kind::Redis => "redis-server",
        }
    }

    fn function(self) -> &'static str {
        match self {
            Kind::Postgres => "run_postgres",
            Kind::Redis => "run_redis",
        }
    }

    fn signal(self) -> &'static str {
        match self {
            Kind::Postgres => "QUIT",
            Kind::Redis => "KILL",
        }
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use sqlx::Executor;

    use super::*;

    #[tokio::test]
    async fn private_postgres_restarts_with_its_data() {
        let server = OwnServer::of(Kind::Postgres).await;
        let mut connection = PgConnection::connect(&server.url()).await.unwrap();
        connection.execute("CREATE TABLE kept (id integer)").await.unwrap();
        server.stop();
        assert!(connection.execute("SELECT * FROM kept").await.is_err());
        assert!(PgConnection::connect(&server.url()).await.is_err());
        server.start().await;
        let mut connection = PgConnection::connect(&server.url()).await.unwrap();
        connection.execute("SELECT * FROM kept").await.unwrap();
    }

    #[tokio::test]
    async fn frozen_postgres_does_not_respond_until_resumed() {
        let server = OwnServer::of(Kind::Postgres).await;
        let mut connection = PgConnection::connect(&server.url()).await.unwrap();
        server.freeze();
        let request = tokio::spawn(async move { connection.execute("SELECT 1").await.map(|_| ()) });
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(!request.is_finished());
        server.thaw();
        request.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn private_redis_can_be_stopped_and_restarted() {
        let server = OwnServer::of(Kind::Redis).await;
        let client = redis::Client::open(server.url()).unwrap();
        assert!(client.get_multiplexed_async_connection().await.is_ok());
        server.stop();
        assert!(client.get_multiplexed_async_connection().await.is_err());
        server.start().await;
        assert!(client.get_multiplexed_async_connection().await.is_ok());
    }
}
