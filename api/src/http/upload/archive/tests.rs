//! Archives as programs make them, and hostile ones.

mod lies;

use std::io::{Cursor, Read, Write};

use bytes::Bytes;
use domain::FileSet;
use flate2::Compression;
use flate2::write::GzEncoder;
use poem::test::TestClient;
use serde_json::{Value, json};
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::tests::samples;

const MOST: usize = FileSet::BYTES_MAX as usize;
const ZIP: &str = "application/zip";
const TAR: &str = "application/x-tar";
const GZIP: &str = "application/gzip";
const ZSTD: &str = "application/zstd";

/// The names and contents of entries. A name that ends with a slash is a folder.
type Entries<'a> = &'a [(&'a str, &'a [u8])];

const SITE: Entries<'static> = &[("index.html", b"<h1>Hello</h1>"), ("css/", b""), ("css/app.css", b"h1{}")];

async fn send_to(path: &str, content_type: &str, body: impl Into<Bytes>) -> (u16, Value) {
    let client = TestClient::new(samples());
    let response = client.post(path).content_type(content_type).body(body.into()).send().await;
    let status = response.0.status().as_u16();
    (status, response.0.into_body().into_json().await.unwrap())
}

async fn send(content_type: &str, body: impl Into<Bytes>) -> (u16, Value) {
    send_to("/v1/publish", content_type, body).await
}

/// The status, the code and the message of a refusal.
async fn fault(content_type: &str, body: impl Into<Bytes>) -> (u16, String, String) {
    let (status, body) = send(content_type, body).await;
    let text = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
    (status, text("code"), text("message"))
}

fn zip_with(entries: Entries<'_>, options: SimpleFileOptions) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        if name.ends_with('/') {
            writer.add_directory(*name, options).unwrap();
        } else {
            writer.start_file(*name, options).unwrap();
            writer.write_all(content).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

fn deflated() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored)
}

fn zip(entries: Entries<'_>) -> Vec<u8> {
    zip_with(entries, deflated())
}

/// A header with any name. The library's own functions refuse hostile ones.
fn header(name: &str, kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

fn tar_of(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (name, kind, content) in entries {
        tar.extend_from_slice(header(name, *kind, content.len() as u64).as_bytes());
        tar.extend_from_slice(content);
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
    tar.resize(tar.len() + 1024, 0);
    tar
}

fn tar(entries: Entries<'_>) -> Vec<u8> {
    let kind = |name: &str| if name.ends_with('/') { EntryType::Directory } else { EntryType::Regular };
    let entries: Vec<_> = entries.iter().map(|(name, content)| (*name, kind(name), *content)).collect();
    tar_of(&entries)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// The archive with other bytes, of the same length, wherever `from` occurs.
fn patched(mut archive: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let places: Vec<_> =
        (0..=archive.len() - from.len()).filter(|at| archive[*at..].starts_with(from)).collect();
    assert!(!places.is_empty(), "{from:?} does not occur");
    for at in places {
        archive[at..at + to.len()].copy_from_slice(to);
    }
    archive
}

/// The archive with other bytes at an offset after the last occurrence of a zip signature.
fn patched_record(mut archive: Vec<u8>, signature: &[u8; 4], offset: usize, to: &[u8]) -> Vec<u8> {
    let at = archive.windows(4).rposition(|window| window == signature).unwrap() + offset;
    archive[at..at + to.len()].copy_from_slice(to);
    archive
}

const CENTRAL: &[u8; 4] = b"PK\x01\x02";
const END: &[u8; 4] = b"PK\x05\x06";

#[tokio::test]
async fn a_site_is_the_same_in_every_archive() {
    let expected = (200, json!(["my-site", "(Fix it)", "css/app.css 4", "index.html 14"]));
    let in_folder = |prefix: &str| {
        let names: Vec<String> = SITE.iter().rev().map(|(name, _)| format!("{prefix}{name}")).collect();
        let entries: Vec<(&str, &[u8])> =
            names.iter().map(String::as_str).zip(SITE.iter().rev().map(|(_, content)| *content)).collect();
        (zip(&entries), tar(&entries))
    };
    for prefix in ["", "./", "site/", "./site/"] {
        let (zip, tar) = in_folder(prefix);
        for (kind, body) in [(ZIP, zip), (GZIP, gzip(&tar)), (ZSTD, zstd(&tar)), (TAR, tar)] {
            let sent = send_to("/v1/publish?slug=my-site&message=Fix%20it", kind, body).await;
            assert_eq!(sent, expected, "{kind} {prefix}");
        }
    }
    let own = zip_with(SITE, stored());
    assert_eq!(send("Application/ZIP; x=y", own).await.1, json!(["-", "css/app.css 4", "index.html 14"]));
}

#[tokio::test]
async fn a_folder_around_the_site_is_left_out_only_with_its_front_page() {
    for (entries, expected) in [
        (&[("a/index.html", &b"x"[..]), ("b/c.css", b"x")][..], json!(["-", "a/index.html 1", "b/c.css 1"])),
        (&[("a/page.html", b"x"), ("a/b.css", b"x")], json!(["-", "a/b.css 1", "a/page.html 1"])),
        (&[("a/index.html", b"x"), ("index.html", b"x")], json!(["-", "a/index.html 1", "index.html 1"])),
        (&[("a/b/index.html", b"x")], json!(["-", "a/b/index.html 1"])),
        (&[("a/index.html", b"x"), ("a/a/index.html", b"x")], json!(["-", "a/index.html 1", "index.html 1"])),
        (
            &[("__MACOSX/a/._index.html", b"mac"), ("a/", b""), ("a/index.html", b"x"), ("a/empty", b"")],
            json!(["-", "empty 0", "index.html 1"]),
        ),
    ] {
        assert_eq!(send(ZIP, zip(entries)).await, (200, expected.clone()), "{entries:?}");
        assert_eq!(send(TAR, tar(entries)).await, (200, expected), "{entries:?}");
    }
}

#[tokio::test]
async fn long_names_and_descriptions_of_tar_are_understood() {
    let name = format!("{}/page.html", "n".repeat(200));
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_data(&mut header("x", EntryType::Regular, 1), &name, &b"x"[..]).unwrap();
    let long = builder.into_inner().unwrap();
    assert_eq!(send(TAR, long).await, (200, json!(["-", format!("{name} 1")])));
    let pax = b"19 path=p/page.html\n";
    let described = tar_of(&[
        ("pax_global_header", EntryType::XGlobalHeader, b"20 comment=a commit\n"),
        (
            "x",
            EntryType::XHeader,
            &[&patched(pax.to_vec(), b"19", b"20")[..], b"22 SCHILY.xattr.a=\0\n\xff\n"].concat(),
        ),
        ("short", EntryType::Regular, b"x"),
    ]);
    assert_eq!(send(TAR, described).await, (200, json!(["-", "p/page.html 1"])));
}

#[tokio::test]
async fn the_query_names_an_archive_and_no_other_body() {
    let fault = |query: &'static str| async move {
        let (status, body) = send_to(&format!("/v1/publish?{query}"), ZIP, zip(SITE)).await;
        (status, body["message"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(fault("slug=No").await, (400, "slug: must match ^[a-z0-9-]{3,40}$".into()));
    assert_eq!(fault("message=a%0Ab").await.0, 400);
    assert_eq!(fault("slug=abc&slug=abd").await, (400, "slug: is sent more than once".into()));
    assert_eq!(fault("message=").await.0, 200);
    let page = send_to("/v1/publish?slug=No", "application/json", r#"{"html":"x"}"#).await;
    assert_eq!(page, (200, json!(["-", "index.html 1"])));
}

#[tokio::test]
async fn hostile_names_are_refused_by_name_in_every_archive() {
    for (name, expected) in [
        ("../evil.html", "the file path \"../evil.html\" contains an empty, . or .. part"),
        ("a/../../evil", "the file path \"a/../../evil\" contains an empty, . or .. part"),
        ("/etc/passwd", "the file path \"/etc/passwd\" begins with a slash"),
        (".//etc/passwd", "the file path \"/etc/passwd\" begins with a slash"),
        ("C:/evil.html", "the archive's entry \"C:/evil.html\" is an absolute path"),
        ("..\\evil.html", "the file path \"..\\\\evil.html\" contains a backslash"),
        ("a\0b.html", "the file path \"a\\0b.html\" contains a control character"),
        ("../folder/", "the file path \"../folder\" contains an empty, . or .. part"),
        ("__MACOSX/../evil", "the file path \"__MACOSX/../evil\" contains an empty, . or .. part"),
    ] {
        // A tar has no names with a NUL, which ends them.
        let harmless =
            if name.ends_with('/') { "n".repeat(name.len() - 1) + "/" } else { "n".repeat(name.len()) };
        let zipped =
            patched(zip(&[("index.html", b"x"), (&harmless, b"")]), harmless.as_bytes(), name.as_bytes());
        let mut archives = vec![(ZIP, zipped)];
        if !name.contains('\0') {
            let tarred = tar(&[("index.html", b"x"), (name, b"")]);
            archives.extend([(GZIP, gzip(&tarred)), (TAR, tarred)]);
        }
        for (kind, archive) in archives {
            let (status, code, message) = fault(kind, archive).await;
            assert_eq!((status, code.as_str()), (400, "invalid_request"), "{kind} {name:?}: {message}");
            assert!(message.starts_with(&format!("files: {expected}")), "{kind} {name:?}: {message}");
        }
    }
}

#[tokio::test]
async fn duplicates_and_clashes_are_refused_by_name() {
    let twice: Entries<'_> = &[("page.html", b"one"), ("home.html", b"two")];
    let (zipped, tarred) = (zip(twice), tar(&[("page.html", b"one"), ("./page.html", b"two")]));
    for (kind, archive) in [(ZIP, patched(zipped, b"home.html", b"page.html")), (TAR, tarred)] {
        let expected =
            (400, "invalid_request".into(), "files: the file path \"page.html\" occurs twice".into());
        assert_eq!(fault(kind, archive).await, expected, "{kind}");
    }
    let clash: Entries<'_> = &[("a", b"x"), ("a/b", b"x")];
    for (kind, archive) in [(ZIP, zip(clash)), (TAR, tar(clash))] {
        assert_eq!(fault(kind, archive).await.2, "files: \"a\" is both a file and a folder", "{kind}");
    }
}

#[tokio::test]
async fn links_devices_and_sparse_files_are_refused_by_name() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("link.html", "/etc/passwd", stored()).unwrap();
    let zipped = writer.finish().unwrap().into_inner();
    // The mode is in the upper half of the external attributes.
    let device = patched_record(zipped.clone(), CENTRAL, 40, &[0xa4, 0x61]);
    let mut old_sparse = header("link.html", EntryType::GNUSparse, 0);
    old_sparse.as_gnu_mut().unwrap().set_real_size(0);
    old_sparse.set_cksum();
    let sparse = tar_of(&[
        ("x", EntryType::XHeader, b"22 GNU.sparse.major=1\n"),
        ("link.html", EntryType::Regular, b"1\n0\n512\n"),
    ]);
    let of = |kind: EntryType| tar_of(&[("index.html", EntryType::Regular, b"x"), ("link.html", kind, b"")]);
    for (content_type, archive, expected) in [
        (ZIP, zipped, "is a link"),
        (ZIP, device, "is neither a file nor a folder"),
        (TAR, of(EntryType::Symlink), "is a link"),
        (TAR, of(EntryType::Link), "is a link"),
        (TAR, of(EntryType::Char), "is neither a file nor a folder"),
        (TAR, of(EntryType::Block), "is neither a file nor a folder"),
        (TAR, of(EntryType::Fifo), "is neither a file nor a folder"),
        (TAR, [old_sparse.as_bytes().to_vec(), vec![0; 1024]].concat(), "is a sparse file"),
        (TAR, sparse, "is a sparse file"),
        (TAR, of(EntryType::new(b'Q')), "is neither a file nor a folder"),
    ] {
        let (status, _, message) = fault(content_type, archive).await;
        let expected = format!("files: the archive's entry \"link.html\" {expected}");
        assert!(status == 400 && message.starts_with(&expected), "{status} {message}");
    }
}

#[tokio::test]
async fn what_unpacks_to_too_much_is_refused_and_the_most_fits() {
    let zeros = vec![0; MOST];
    let more = vec![0; 8 * MOST];
    let halves: Entries<'_> = &[("a", &zeros[..MOST / 2]), ("b", &zeros[MOST / 2..])];
    assert_eq!(send(ZIP, zip(halves)).await.0, 200);
    assert_eq!(send(ZIP, zip_with(halves, stored())).await.0, 200);
    assert_eq!(send(ZSTD, zstd(&tar(halves))).await.0, 200);
    let bomb: Entries<'_> = &[("bomb", &more)];
    let two: Entries<'_> = &[("a", &zeros), ("b", b"x")];
    let ignored = tar(&[("index.html", b"x"), ("__MACOSX/bomb", &more)]);
    let name = tar_of(&[("x", EntryType::GNULongName, &more), ("index.html", EntryType::Regular, b"x")]);
    let after_the_end = [tar(SITE), more.clone()].concat();
    for (what, kind, archive) in [
        ("a zip", ZIP, zip(bomb)),
        ("a tar.gz", GZIP, gzip(&tar(bomb))),
        ("a tar.zst", ZSTD, zstd(&tar(bomb))),
        ("one byte more in a zip", ZIP, zip(two)),
        ("one byte more in a tar", TAR, tar(two)),
        ("an ignored file", GZIP, gzip(&ignored)),
        ("a name", GZIP, gzip(&name)),
        ("data after the end", GZIP, gzip(&after_the_end)),
    ] {
        let (status, code, message) = fault(kind, archive).await;
        assert_eq!((status, code.as_str()), (413, "too_large"), "{what}: {message}");
    }
}

#[tokio::test]
async fn too_many_entries_are_refused_whatever_they_are() {
    let names = |prefix: &str, suffix: &str, count: usize| {
        (0..count).map(|number| format!("{prefix}{number}{suffix}")).collect::<Vec<_>>()
    };
    for (prefix, suffix, count, expected) in [
        ("", "", 50, 200),
        ("", "", 51, 413),
        ("", "", 10_000, 413),
        ("", "/", 10_000, 413),
        ("__MACOSX/", "", 10_000, 413),
    ] {
        let names = names(prefix, suffix, count);
        let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
        assert_eq!(send(ZIP, zip(&entries)).await.0, expected, "zip: {count} {prefix}*{suffix}");
        assert_eq!(send(GZIP, gzip(&tar(&entries))).await.0, expected, "tar: {count} {prefix}*{suffix}");
    }
}

#[tokio::test]
async fn what_is_no_tar_is_said_to_be_none() {
    let page = b"<h1>Hello</h1>".repeat(100);
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 12].to_vec();
    let site = tar(&[("index.html", &page), ("more.html", &page)]);
    for (kind, archive, expected) in [
        (GZIP, gzip(&page), "body: is not a tar archive compressed with gzip: "),
        (GZIP, page.clone(), "body: is not a tar archive compressed with gzip: "),
        (ZSTD, zstd(&page), "body: is not a tar archive compressed with zstd: "),
        (ZSTD, page.clone(), "body: is not a tar archive compressed with zstd: "),
        (TAR, page.clone(), "body: is not a tar archive: "),
        (TAR, Vec::new(), "body: is an archive without files"),
        (GZIP, gzip(&tar(&[("./", b"")])), "body: is an archive without files"),
        (ZIP, zip(&[("a/", b"")]), "body: is an archive without files"),
        (GZIP, cut(gzip(&site)), "body: is damaged after 2 entries of the archive: "),
        (TAR, site[..600].to_vec(), "body: is damaged after 1 entries of the archive: "),
        (TAR, site[..2_600].to_vec(), "body: is damaged after 2 entries of the archive: "),
    ] {
        let (status, code, message) = fault(kind, archive).await;
        assert_eq!((status, code.as_str()), (400, "invalid_request"), "{kind}: {message}");
        assert!(message.starts_with(expected), "{kind}: {message}");
    }
}

/// What real programs write, where they are installed.
#[tokio::test]
async fn what_tar_packs_is_published() {
    let folder = std::env::temp_dir();
    let Ok(mut tar) = std::process::Command::new("tar")
        .args(["-c", "-C"])
        .arg(env!("CARGO_MANIFEST_DIR"))
        .args(["--exclude=src", "--exclude=templates", "."])
        .current_dir(folder)
        .stdout(std::process::Stdio::piped())
        .spawn()
    else {
        return;
    };
    let mut archive = Vec::new();
    tar.stdout.take().unwrap().read_to_end(&mut archive).unwrap();
    assert!(tar.wait().unwrap().success());
    let (status, files) = send(TAR, archive).await;
    assert_eq!(status, 200, "{files}");
    assert!(files.as_array().unwrap().iter().any(|file| file.as_str().unwrap().starts_with("Cargo.toml ")));
}
