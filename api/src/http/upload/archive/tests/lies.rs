//! Zip archives that lie about their sizes, their entries and where these are.

use super::*;

/// A zip that ends with a 64-bit record, which says how many entries it has and where.
fn with_zip64_end(archive: Vec<u8>, entries: u64, size: u64, offset: u64) -> Vec<u8> {
    let end = archive.windows(4).rposition(|window| window == END).unwrap();
    let mut long = archive[..end].to_vec();
    long.extend(b"PK\x06\x06");
    long.extend(44_u64.to_le_bytes());
    long.extend([45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    long.extend([entries, entries, size, offset].map(u64::to_le_bytes).concat());
    long.extend(b"PK\x06\x07\0\0\0\0");
    long.extend((end as u64).to_le_bytes());
    long.extend(1_u32.to_le_bytes());
    long.extend(END);
    long.extend([0, 0, 0, 0]);
    long.extend([0xff; 12]);
    long.extend([0, 0]);
    long
}

#[tokio::test]
async fn a_zip_that_lies_about_itself_is_refused() {
    let content: Vec<u8> = (0..5_000_u32).map(|number| (number * number % 251) as u8).collect();
    let honest = || zip_with(&[("index.html", &content)], stored());
    let central = honest().windows(4).rposition(|window| window == CENTRAL).unwrap() as u64;
    let end = honest().windows(4).rposition(|window| window == END).unwrap() as u64;
    let zip64 = |entries, size, offset| with_zip64_end(honest(), entries, size, offset);
    assert_eq!(send(ZIP, zip64(1, end - central, central)).await.0, 200, "the record itself is fine");
    for (what, archive) in [
        ("a larger size", patched_record(honest(), CENTRAL, 24, &u32::MAX.to_le_bytes())),
        ("a smaller size", patched_record(honest(), CENTRAL, 24, &7_u32.to_le_bytes())),
        ("a larger compressed size", patched_record(honest(), CENTRAL, 20, &0x7fff_ffff_u32.to_le_bytes())),
        ("a smaller compressed size", patched_record(honest(), CENTRAL, 20, &7_u32.to_le_bytes())),
        ("another checksum", patched_record(honest(), CENTRAL, 16, &[0; 4])),
        ("a start beyond the archive", patched_record(honest(), CENTRAL, 42, &0x7fff_ffff_u32.to_le_bytes())),
        ("more entries", patched_record(honest(), END, 8, &[9, 0, 9, 0])),
        ("very many entries", zip64(u64::MAX, end - central, central)),
        ("more entries than fit", zip64(1 << 40, u64::MAX, central)),
        ("a list beyond the archive", zip64(1, end - central, u64::MAX - 3)),
        ("another method", patched_record(honest(), CENTRAL, 10, &[12, 0])),
        ("an encrypted entry", patched_record(honest(), CENTRAL, 8, &[1, 0])),
        ("damaged content", patched(honest(), &content[100..110], &[0; 10])),
        ("a cut archive", honest()[..4_000].to_vec()),
        ("nothing", Vec::new()),
        ("a page", b"<h1>Hello</h1>".to_vec()),
    ] {
        let (status, code, message) = fault(ZIP, archive).await;
        assert_eq!((status, code.as_str()), (400, "invalid_request"), "{what}: {message}");
        assert!(message.len() < 500, "{what}: {message}");
    }
    let (.., message) = fault(ZIP, patched_record(honest(), CENTRAL, 8, &[1, 0])).await;
    assert_eq!(message, "files: the archive's entry \"index.html\" is encrypted");
}

#[tokio::test]
async fn entries_that_share_their_bytes_are_refused() {
    let archive = zip_with(&[("00", &[b'x'; 10_000])], stored());
    let central = archive.windows(4).rposition(|window| window == CENTRAL).unwrap();
    let end = archive.windows(4).rposition(|window| window == END).unwrap();
    let (mut shared, entry) = (archive[..central].to_vec(), archive[central..end].to_vec());
    for number in 10..40_u32 {
        shared.extend(patched_record(entry.clone(), CENTRAL, 46, number.to_string().as_bytes()));
    }
    let size = (30 * entry.len()) as u32;
    let mut last = patched_record(archive[end..].to_vec(), END, 8, &[30, 0, 30, 0]);
    last = patched_record(last, END, 12, &size.to_le_bytes());
    let (status, _, message) = fault(ZIP, [shared, last].concat()).await;
    assert_eq!((status, message.contains("\"11\" is longer than the rest")), (400, true), "{message}");
}
