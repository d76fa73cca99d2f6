//! Ports for programs under test. Two tests must never be given the same one, not even across processes or while a
//! program is down.

use std::fs::{self, File};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Ports below the range that the system gives to outgoing connections.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A loopback port that no other test takes while this value lives. The lock on a file says so across processes,
/// since tests run side by side and a program restarted by its test needs its port back.
#[derive(Debug)]
pub struct Port {
    pub number: u16,
    _lock: File,
}

impl Port {
    pub fn take() -> Self {
        static TRIED: AtomicU16 = AtomicU16::new(0);
        let folder = std::env::temp_dir().join("handbill-test-ports");
        fs::create_dir_all(&folder).expect("a folder for the locks of ports");
        // Each process begins elsewhere, so that few locks are found taken.
        let offset = u16::try_from(std::process::id().wrapping_mul(37) % u32::from(COUNT)).unwrap_or(0);
        for _ in 0..COUNT {
            let number = FIRST + (offset + TRIED.fetch_add(1, Ordering::Relaxed) % COUNT) % COUNT;
            let lock = File::create(folder.join(number.to_string())).expect("the lock file of a port");
            let is_mine = lock.try_lock().is_ok();
            if is_mine && TcpListener::bind(("127.0.0.1", number)).is_ok() {
                return Self { number, _lock: lock };
            }
        }
        panic!("no free port from {FIRST} on");
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.number)
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.number)
    }
}
