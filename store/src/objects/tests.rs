//! The object store: files, spooled uploads and failures.

use domain::{Chance, UploadId};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use super::*;
use crate::reading::tests::blobs_at;
use crate::{Layout, pack};

fn folder() -> (tempfile::TempDir, Blobs) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::local(folder.path()).unwrap();
    (folder, blobs)
}

async fn put(blobs: &Blobs, content: &Bytes) -> KnownBlob {
    let layout = Layout::of(content, "text/html").unwrap();
    let hash = BlobHash::of(content);
    let variants = blobs.put(hash, content.clone(), layout).await.unwrap();
    KnownBlob { hash, size_bytes: content.len() as u64, variants, bundled: None }
}

#[tokio::test]
async fn blob_is_copied_with_its_variants_unless_it_is_damaged() {
    let ((folder, from), (_other, to)) = (folder(), folder());
    let content = Bytes::from("<p>a page</p>".repeat(1_000_000));
    let large = put(&from, &content).await;
    assert!(matches!(from.copy_blob(&large, &to).await.unwrap(), Copied::Whole { .. }));
    assert_eq!(to.variants(large.hash).await.unwrap(), large.variants);
    assert_eq!(to.read(large.hash, 0..large.size_bytes).await.unwrap(), content);

    let small = put(&from, &Bytes::from_static(b"small")).await;
    let hash = small.hash.to_string();
    let path = folder.path().join(format!("blobs/{}/{hash}", &hash[..2]));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[0] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(from.copy_blob(&small, &to).await.unwrap(), Copied::Damaged);
    assert_eq!(to.size_of_blob(small.hash).await.unwrap(), None, "nothing of it was written");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(from.copy_blob(&small, &to).await.unwrap(), Copied::Missing);
    // The object cannot be read, and the store works.
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert_eq!(from.copy_blob(&small, &to).await.unwrap(), Copied::Damaged);
}

#[tokio::test]
async fn unreadable_upload_is_damaged_and_unreachable_store_is_an_error() {
    let ((folder, from), (_other, to)) = (folder(), folder());
    let version = VersionId::new(Time::from_millis(0), &Chance::seeded(3));
    from.spool(version, Bytes::from_static(b"spooled")).await.unwrap();
    assert!(matches!(from.copy_spooled(version, &to).await.unwrap(), Copied::Whole { .. }));
    let path = folder.path().join(format!("spool/{version}"));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(from.copy_spooled(version, &to).await.unwrap(), Copied::Missing);
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert_eq!(from.copy_spooled(version, &to).await.unwrap(), Copied::Damaged);
    std::os::unix::fs::symlink("probe", folder.path().join("probe")).unwrap();
    assert!(from.copy_spooled(version, &to).await.is_err());
}

#[tokio::test]
async fn objects_are_listed_by_kind() {
    let (folder, blobs) = folder();
    let (now, chance) = (Time::from_millis(0), Chance::seeded(3));
    let version = VersionId::new(now, &chance);
    let ticket = UploadTicket { account: AccountId::new(now, &chance), upload: UploadId::new(now, &chance) };
    let blob = put(&blobs, &Bytes::from_static(b"content")).await;
    blobs.spool(version, Bytes::from_static(b"spooled")).await.unwrap();
    assert!(blobs.keep_upload(ticket, Bytes::from_static(b"kept")).await.unwrap());
    std::fs::write(folder.path().join("blobs/a-note"), "by hand").unwrap();
    let listed: Vec<StoredObject> = blobs.listed().try_collect().await.unwrap();
    let has = |kind| listed.iter().any(|object| object.kind == kind);
    assert_eq!(listed.len(), 4);
    assert!(has(ObjectKind::Blob(blob.hash)) && has(ObjectKind::Spool(version)));
    assert!(has(ObjectKind::Upload(ticket)) && has(ObjectKind::Unknown));
}

/// A store that has an object, and closes the connection of a repeated put before it has read the body.
async fn hangs_up_on_puts(object: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let asked = BufReader::new(&mut socket).lines().next_line().await.unwrap().unwrap();
            let modified = "ETag: \"1\"\r\nLast-Modified: Sat, 21 Nov 2026 21:00:00 GMT\r\nConnection: close";
            let (length, tail) = (object.len(), pack::TRAILER_BYTES as usize);
            let answer = match asked.split(' ').next() {
                Some("HEAD") => format!("HTTP/1.1 200 OK\r\n{modified}\r\nContent-Length: {length}\r\n\r\n"),
                Some("GET") => format!(
                    "HTTP/1.1 206 Partial Content\r\n{modified}\r\nContent-Length: {tail}\r\n\
                     Content-Range: bytes {}-{}/{length}\r\n\r\n",
                    length.saturating_sub(tail),
                    length.saturating_sub(1),
                ),
                _ => continue,
            };
            socket.write_all(answer.as_bytes()).await.unwrap();
            if asked.starts_with("GET") {
                socket.write_all(&object[length.saturating_sub(tail)..]).await.unwrap();
            }
        }
    });
    url
}

#[tokio::test]
async fn put_succeeds_on_a_dropped_connection_only_if_the_object_is_complete() {
    let (folder, files) = folder();
    let content = Bytes::from("<p>a page</p>".repeat(1_000));
    let kept = put(&files, &content).await;
    let hash = kept.hash.to_string();
    let object = std::fs::read(folder.path().join(format!("blobs/{}/{hash}", &hash[..2]))).unwrap();
    let layout = || Layout::of(&content, "text/html").unwrap();
    let again = async |object: &[u8]| {
        let store = blobs_at(&hangs_up_on_puts(object.to_vec()).await);
        store.put(kept.hash, content.clone(), layout()).await
    };
    assert_eq!(again(&object).await.unwrap(), kept.variants);
    assert!(again(&object[1..]).await.is_err());
}

#[test]
fn only_objects_with_our_key_format_are_recognized() {
    let hash = BlobHash::of(b"x").to_string();
    assert!(kind_of(&format!("blobs/{}/{hash}", &hash[..2])).is_some());
    let id = VersionId::new(Time::from_millis(0), &Chance::seeded(1));
    assert!(kind_of(&format!("spool/{id}")).is_some());
    for other in [
        format!("blobs/{hash}"),
        format!("blobs/zz/{hash}"),
        format!("blobs/{}/{hash}/more", &hash[..2]),
        format!("spool/{id}/more"),
        format!("uploads/{id}"),
        "probe".to_owned(),
        String::new(),
    ] {
        assert_eq!(kind_of(&other), None, "{other}");
    }
}
