//! A TCP proxy to a server, for one process, that a test can cut. Then no bytes pass and no connection is
//! closed, as when a cable is pulled. Others reach the server as before.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::port::Port;

const CHUNK_BYTES: usize = 16 << 10;

#[derive(Debug)]
pub struct Cable {
    port: Port,
    is_cut: Arc<watch::Sender<bool>>,
    carrying: JoinHandle<()>,
}

impl Cable {
    /// A proxy to the server at this address, such as `127.0.0.1:6379`.
    pub async fn to(server: &str) -> Self {
        let port = Port::take();
        let listener = TcpListener::bind(port.address()).await.expect("the port of a cable");
        let is_cut = Arc::new(watch::Sender::new(false));
        let carrying = tokio::spawn(carry(listener, server.to_owned(), is_cut.clone()));
        Self { port, is_cut, carrying }
    }

    /// The proxy's address, for use in place of the server's.
    pub fn address(&self) -> String {
        self.port.address()
    }

    pub fn cut(&self) {
        self.is_cut.send_replace(true);
    }

    pub fn reconnect(&self) {
        self.is_cut.send_replace(false);
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.carrying.abort();
    }
}

// The set owns the connections, so that they end when the task is aborted.
async fn carry(listener: TcpListener, server: String, is_cut: Arc<watch::Sender<bool>>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((near, _)) = listener.accept().await else { continue };
        let (server, is_cut) = (server.clone(), is_cut.clone());
        connections.spawn(async move {
            let Ok(far) = TcpStream::connect(server).await else { return };
            let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
            // When either side ends, the connection ends.
            tokio::select! {
                () = pass_on(near_in, far_out, is_cut.subscribe()) => {}
                () = pass_on(far_in, near_out, is_cut.subscribe()) => {}
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn pass_on(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut is_cut: watch::Receiver<bool>) {
    let mut chunk = [0; CHUNK_BYTES];
    loop {
        let Ok(read) = from.read(&mut chunk).await else { return };
        let is_whole = is_cut.wait_for(|is_cut| !is_cut).await.is_ok();
        if read == 0 || !is_whole || to.write_all(&chunk[..read]).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    const SHORT: Duration = Duration::from_millis(100);

    #[tokio::test]
    async fn cut_connection_passes_no_data() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let cable = Cable::to(&server.local_addr().unwrap().to_string()).await;
        let mut near = TcpStream::connect(cable.address()).await.unwrap();
        let (mut far, _) = server.accept().await.unwrap();
        let mut byte = [0; 1];
        near.write_all(b"a").await.unwrap();
        far.read_exact(&mut byte).await.unwrap();
        cable.cut();
        near.write_all(b"b").await.unwrap();
        far.write_all(b"c").await.unwrap();
        assert!(timeout(SHORT, far.read_exact(&mut byte)).await.is_err());
        assert!(timeout(SHORT, near.read_exact(&mut byte)).await.is_err());
        cable.reconnect();
        far.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"b");
        near.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"c");
    }
}
