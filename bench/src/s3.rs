//! The object store of production mode, inside this process.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tokio::net::TcpListener;
use tokio::runtime::{self, Runtime};

pub const BUCKET: &str = "handbill";
pub const ACCESS_KEY_ID: &str = "bench-access-key-id";
pub const SECRET_ACCESS_KEY: &str = "bench-secret-access-key";

/// What its threads are called.
pub const THREADS: &str = "bench-s3";
const THREADS_SERVING: usize = 2;
/// Threads that wait for the disk stay for the whole measurement, and with them what they have spent.
const THREADS_KEPT: Duration = Duration::from_secs(3_600);

/// An S3 server over a folder, on threads of its own, so that what it takes can be told from what clients take. It does
/// not fsync: what is measured is the way to a store, not the store.
pub struct S3 {
    address: SocketAddr,
    threads: Option<Runtime>,
}

impl S3 {
    pub async fn start(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder.join(BUCKET))?;
        let files =
            FileSystem::new(folder).map_err(|error| anyhow!("{error:?}")).context("open the bucket")?;
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY_ID, SECRET_ACCESS_KEY));
        let threads = runtime::Builder::new_multi_thread()
            .worker_threads(THREADS_SERVING)
            .thread_name(THREADS)
            .thread_keep_alive(THREADS_KEPT)
            .enable_all()
            .build()?;
        let service = service.build();
        let bound = threads.spawn(async {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
            let address = listener.local_addr()?;
            tokio::spawn(serve(listener, service));
            anyhow::Ok(address)
        });
        Ok(Self { address: bound.await??, threads: Some(threads) })
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        // It may be dropped by a task, which must not wait.
        if let Some(threads) = self.threads.take() {
            threads.shutdown_background();
        }
    }
}

async fn serve(listener: TcpListener, service: S3Service) {
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        // Small answers must not wait for the acknowledgement of their heads.
        let _ = socket.set_nodelay(true);
        let service = service.clone();
        tokio::spawn(async move {
            let http = Builder::new(TokioExecutor::new());
            // A client that hangs up is no concern of the server.
            let _ = http.serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
