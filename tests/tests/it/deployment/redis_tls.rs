//! A Redis with TLS, as cloud providers offer.

use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;

use handbill_tests::{PATIENCE, Port, eventually};
use tokio::process::{Child, Command};

use super::bare_world;

/// Creates a self-signed certificate, which is trusted only by explicit configuration.
async fn start_redis(folder: &Path, port: &Port) -> Child {
    let (certificate, key) = (folder.join("redis.pem"), folder.join("redis.key"));
    let mut openssl = Command::new("openssl");
    openssl
        .args("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=redis".split(' '))
        .args("-addext basicConstraints=critical,CA:FALSE -addext subjectAltName=IP:127.0.0.1".split(' '))
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate);
    assert!(openssl.output().await.expect("openssl runs").status.success());
    let mut redis = Command::new("redis-server");
    redis
        .args(["--bind", "127.0.0.1", "--port", "0", "--tls-port", &port.number.to_string()])
        .args(["--tls-auth-clients", "no", "--save", "", "--dir"])
        .arg(folder)
        .arg("--tls-cert-file")
        .arg(&certificate)
        .arg("--tls-key-file")
        .arg(&key)
        .stdout(Stdio::null())
        .kill_on_drop(true);
    let redis = redis.spawn().expect("redis-server runs");
    eventually(PATIENCE, "a Redis that listens", async || TcpStream::connect(port.address()).ok()).await;
    redis
}

#[tokio::test]
async fn redis_tls_requires_a_certificate_that_the_system_trusts() {
    let (world, port) = (bare_world().await, Port::take());
    let _redis = start_redis(world.folder(), &port).await;
    let url = format!("rediss://127.0.0.1:{}/0", port.number);
    let certificate = world.folder().join("redis.pem").display().to_string();
    let trusting = [("HANDBILL_REDIS__URL", url.as_str()), ("SSL_CERT_FILE", certificate.as_str())];
    let response = world.command(&["doctor"], &trusting).await;
    assert!(response.output.contains("ok    redis: it responds, and messages arrive"), "{response:?}");
    let response = world.command(&["doctor"], &trusting[..1]).await;
    assert!(response.output.contains("FAULT redis"), "{response:?}");
}
