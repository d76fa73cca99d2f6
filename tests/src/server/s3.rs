//! An S3 server inside the test itself: it checks signatures as a real one does, and can be taken away while the
//! program runs.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use crate::port::Port;

pub const BUCKET: &str = "handbill";
pub const ACCESS_KEY_ID: &str = "test-access-key-id";
pub const SECRET_ACCESS_KEY: &str = "test-secret-access-key";

/// An S3 server over a folder, on a port of its own. It can be taken away and brought back; the objects stay.
#[derive(Debug)]
pub struct S3 {
    port: Port,
    folder: PathBuf,
    serving: Mutex<Option<JoinHandle<()>>>,
}

impl S3 {
    pub(crate) async fn start_in(folder: &Path) -> Self {
        std::fs::create_dir_all(folder.join(BUCKET)).expect("a folder for the bucket");
        let s3 = Self { port: Port::take(), folder: folder.to_owned(), serving: Mutex::new(None) };
        s3.start().await;
        s3
    }

    pub fn endpoint(&self) -> String {
        self.port.url()
    }

    pub async fn start(&self) {
        let files = FileSystem::new(&self.folder).expect("a file system for S3");
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY_ID, SECRET_ACCESS_KEY));
        let listener = TcpListener::bind(self.port.address()).await.expect("the port of S3");
        let serving = tokio::spawn(serve(listener, service.build()));
        *self.serving.lock().unwrap() = Some(serving);
    }

    /// Ends every connection and takes no new one.
    pub async fn stop(&self) {
        let serving = self.serving.lock().unwrap().take();
        if let Some(serving) = serving {
            serving.abort();
            // It was cancelled, which is what it answers.
            let _ = serving.await;
        }
    }
}

// The connections live in the set, and end with it when the task is aborted.
async fn serve(listener: TcpListener, service: S3Service) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        let service = service.clone();
        connections.spawn(async move {
            let http = Builder::new(TokioExecutor::new());
            // A client that hangs up is no concern of the server.
            let _ = http.serve_connection(TokioIo::new(socket), service).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_can_be_taken_away_and_brought_back() {
        let folder = tempfile::tempdir().unwrap();
        let s3 = S3::start_in(folder.path()).await;
        let client = crate::call::client();
        let answers = async || client.get(s3.endpoint()).send().await.is_ok();
        assert!(answers().await);
        s3.stop().await;
        assert!(!answers().await);
        s3.start().await;
        assert!(answers().await);
    }
}
