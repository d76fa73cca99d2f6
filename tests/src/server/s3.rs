//! An S3 server inside the test. It checks signatures as a real one does, and can be stopped while the
//! program runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::HttpResponse;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::port::Port;

pub const BUCKET: &str = "handbill";
pub const ACCESS_KEY_ID: &str = "test-access-key-id";
pub const SECRET_ACCESS_KEY: &str = "test-secret-access-key";

/// An S3 server over a directory, on a port of its own. It can be stopped and started again, and keeps its
/// objects.
#[derive(Debug)]
pub struct S3 {
    port: Port,
    folder: PathBuf,
    serving: Mutex<Option<JoinHandle<()>>>,
    health: watch::Sender<Health>,
    requests: RequestCounts,
}

/// What an S3 server counts.
#[derive(Clone, Debug, Default)]
struct RequestCounts {
    in_flight: Arc<AtomicUsize>,
    puts: Arc<AtomicUsize>,
}

/// The condition of an S3 server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    Well,
    /// It responds to every request with an error.
    Errs,
    /// It accepts requests and responds once it is well again.
    Stalls,
}

impl S3 {
    pub(crate) async fn start_in(folder: &Path) -> Self {
        std::fs::create_dir_all(folder.join(BUCKET)).expect("a folder for the bucket");
        let s3 = Self {
            port: Port::take(),
            folder: folder.to_owned(),
            serving: Mutex::new(None),
            health: watch::Sender::new(Health::Well),
            requests: RequestCounts::default(),
        };
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
        let serving =
            tokio::spawn(serve(listener, service.build(), self.health.subscribe(), self.requests.clone()));
        *self.serving.lock().unwrap() = Some(serving);
    }

    /// The number of requests without a response.
    pub fn in_flight(&self) -> usize {
        self.requests.in_flight.load(Ordering::SeqCst)
    }

    /// The number of PUT requests so far.
    pub fn puts(&self) -> usize {
        self.requests.puts.load(Ordering::SeqCst)
    }

    /// Sets its condition.
    pub fn be(&self, health: Health) {
        self.health.send_replace(health);
    }

    /// Ends every connection and accepts no new ones.
    pub async fn stop(&self) {
        let serving = self.serving.lock().unwrap().take();
        if let Some(serving) = serving {
            serving.abort();
            // The task was aborted, so that its error is expected.
            let _ = serving.await;
        }
    }
}

// The set owns the connections, so that they end when the task is aborted.
async fn serve(
    listener: TcpListener,
    service: S3Service,
    health: watch::Receiver<Health>,
    requests: RequestCounts,
) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        let (service, health, requests) = (service.clone(), health.clone(), requests.clone());
        connections.spawn(async move {
            let http = Builder::new(TokioExecutor::new());
            let answering = service_fn(|request: hyper::Request<Incoming>| {
                let (service, health, requests) = (service.clone(), health.clone(), requests.clone());
                async move {
                    let _counted = Counted::among(requests.in_flight);
                    if request.method() == hyper::Method::PUT {
                        requests.puts.fetch_add(1, Ordering::SeqCst);
                    }
                    answer(service, health, request).await
                }
            });
            // A client that disconnects is not an error of the server.
            let _ = http.serve_connection(TokioIo::new(socket), answering).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Counts a request until it has a response or its client disconnects.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn among(in_flight: Arc<AtomicUsize>) -> Self {
        in_flight.fetch_add(1, Ordering::SeqCst);
        Self(in_flight)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn answer(
    service: S3Service,
    mut health: watch::Receiver<Health>,
    request: hyper::Request<Incoming>,
) -> Result<HttpResponse, s3s::HttpError> {
    // The wait also ends when the server itself stops.
    let _ = health.wait_for(|health| *health != Health::Stalls).await;
    let errs = *health.borrow() == Health::Errs;
    if errs {
        let mut answer = HttpResponse::new(s3s::Body::empty());
        *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        return Ok(answer);
    }
    service.call(request.map(s3s::Body::from)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn s3_server_can_be_stopped_and_restarted() {
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

    #[tokio::test]
    async fn s3_server_can_be_made_to_fail_and_recover() {
        let folder = tempfile::tempdir().unwrap();
        let s3 = S3::start_in(folder.path()).await;
        let client = crate::call::client();
        s3.be(Health::Errs);
        assert_eq!(client.get(s3.endpoint()).send().await.unwrap().status(), 500);
        s3.be(Health::Stalls);
        let request = tokio::spawn(client.get(s3.endpoint()).send());
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        assert!(!request.is_finished());
        s3.be(Health::Well);
        assert_ne!(request.await.unwrap().unwrap().status(), 500);
    }
}
