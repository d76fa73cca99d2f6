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

/// The name of its threads.
pub const THREADS: &str = "bench-s3";
const THREADS_SERVING: usize = 2;
/// Idle threads are kept for the whole measurement, because the processor time of a thread disappears with
/// it.
const THREADS_KEPT: Duration = Duration::from_secs(3_600);

/// An S3 server over a directory, on threads of its own, so that its processor time can be separated from
/// that of the clients. It does not fsync, because the measurement is about the way to a store and not about
/// the store.
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
        // It may be dropped in a task, which must not block.
        if let Some(threads) = self.threads.take() {
            threads.shutdown_background();
        }
    }
}

async fn serve(listener: TcpListener, service: S3Service) {
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        // Without Nagle's algorithm, small responses do not wait for an acknowledgement.
        let _ = socket.set_nodelay(true);
        let service = service.clone();
        tokio::spawn(async move {
            let http = Builder::new(TokioExecutor::new());
            // A client that disconnects is not an error of the server.
            let _ = http.serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
