//! The object store of production mode, inside this process.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, anyhow};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub const BUCKET: &str = "handbill";
pub const ACCESS_KEY_ID: &str = "bench-access-key-id";
pub const SECRET_ACCESS_KEY: &str = "bench-secret-access-key";

/// An S3 server over a folder. It does not fsync: what is measured is the way to a store, not the store.
pub struct S3 {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl S3 {
    pub async fn start(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder.join(BUCKET))?;
        let files =
            FileSystem::new(folder).map_err(|error| anyhow!("{error:?}")).context("open the bucket")?;
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY_ID, SECRET_ACCESS_KEY));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        Ok(Self { address: listener.local_addr()?, serving: tokio::spawn(serve(listener, service.build())) })
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        self.serving.abort();
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
