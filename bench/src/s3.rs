//! The object store of production mode, inside this process.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow};
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
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
    requests: Arc<AtomicU64>,
    threads: Option<Runtime>,
}

impl S3 {
    /// `latency` delays the start of each request, as a distant store does.
    pub async fn start(folder: &Path, latency: Duration) -> anyhow::Result<Self> {
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
        let requests = Arc::new(AtomicU64::new(0));
        let store = DistantStore { service: service.build(), latency, requests: requests.clone() };
        let bound = threads.spawn(async {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
            let address = listener.local_addr()?;
            tokio::spawn(serve(listener, store));
            anyhow::Ok(address)
        });
        Ok(Self { address: bound.await??, requests, threads: Some(threads) })
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The number of requests since its start.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
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

#[derive(Clone)]
struct DistantStore {
    service: S3Service,
    latency: Duration,
    requests: Arc<AtomicU64>,
}

impl DistantStore {
    async fn answer(self, request: Request<Incoming>) -> Result<s3s::HttpResponse, s3s::HttpError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        // A sleep of zero would last up to a millisecond.
        if !self.latency.is_zero() {
            tokio::time::sleep(self.latency).await;
        }
        Service::call(&self.service, request).await
    }
}

async fn serve(listener: TcpListener, store: DistantStore) {
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        // Without Nagle's algorithm, small responses do not wait for an acknowledgement.
        let _ = socket.set_nodelay(true);
        let store = store.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| store.clone().answer(request));
            let http = Builder::new(TokioExecutor::new());
            // A client that disconnects is not an error of the server.
            let _ = http.serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
