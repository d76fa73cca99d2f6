//! A release pins each third-party image by its digest. A test cannot query the registries, so that a
//! stand-in for docker invents the digests.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::ROOT;

const DOCKER: &str = "#!/bin/sh\nprintf 'sha256:%s\\n' \"$(printf %s \"$4\" | sha256sum | cut -c -64)\"\n";
const FILES: [&str; 3] = ["deploy/compose.yaml", "deploy/Dockerfile", "scripts/pin-images"];

fn pin_images(folder: &Path, args: &[&str]) -> Output {
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    Command::new(folder.join("scripts/pin-images")).args(args).env("PATH", path).output().unwrap()
}

#[test]
fn release_can_pin_the_digests_of_all_external_images() {
    let folder = tempfile::tempdir().unwrap();
    let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    for file in FILES {
        let copy = folder.path().join(file);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(Path::new(ROOT).join(file), copy).unwrap();
    }
    let docker = folder.path().join("docker");
    fs::write(&docker, DOCKER).unwrap();
    fs::set_permissions(&docker, Permissions::from_mode(0o755)).unwrap();

    let pinned = pin_images(folder.path(), &[]);
    assert!(pinned.status.success(), "{pinned:?}");
    assert!(pin_images(folder.path(), &["--check"]).status.success());
    let (compose, dockerfile) = (read(FILES[0]), read(FILES[1]));
    let images = compose.lines().filter(|line| line.trim_start().starts_with("image: "));
    let is_ours = |line: &&str| line.contains("image: handbill:");
    assert!(images.filter(|line| !is_ours(line)).all(|line| line.contains("@sha256:")), "{compose}");
    assert!(dockerfile.contains("FROM chef AS build"), "a stage is no image: {dockerfile}");
    // Renewing changes digests and adds none.
    assert!(pin_images(folder.path(), &[]).status.success());
    assert_eq!((read(FILES[0]), read(FILES[1])), (compose.clone(), dockerfile));

    let (start, _) = compose.rsplit_once("@sha256:").unwrap();
    fs::write(folder.path().join(FILES[0]), format!("{start}\n")).unwrap();
    let refused = pin_images(folder.path(), &["--check"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no digest: prom/prometheus"), "{refused:?}");
}
