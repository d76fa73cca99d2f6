//! Checks that artifacts are found only through queries that bind the tenant and leave out deleted rows.

use std::fs;
use std::path::Path;

#[test]
fn only_one_file_selects_from_the_artifacts() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    look_for_selects(&src, &mut found);
    assert_eq!(found, ["rows/artifact.rs"], "begin with `rows::artifact::live`");
}

fn look_for_selects(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                look_for_selects(&path, found);
            }
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let selects =
            ["artifact::Entity::find", "from(entity::artifact::Entity)", "rows_of_pairs::<entity::artifact"];
        if selects.iter().any(|select| text.contains(select)) {
            let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
            found.push(path.strip_prefix(src).unwrap().to_string_lossy().into_owned());
        }
    }
}
