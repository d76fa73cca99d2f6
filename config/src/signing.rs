//! The generated signing secret of dev mode: created at the first start and stored in the data directory.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use domain::Chance;

use crate::{Secret, Settings};

const FILE_NAME: &str = "signing-secret";
/// 43 characters of 62 contain more than 256 bits.
const LENGTH: usize = 43;

impl Settings {
    /// The secret that signs private links: its own, or the signing secret.
    pub fn link_secret(&self, chance: &Chance) -> Result<Secret> {
        match &self.secrets.links {
            Some(secret) => Ok(secret.clone()),
            None => self.signing_secret(chance),
        }
    }

    /// The file of a generated secret. It does not exist if the secret is configured.
    pub fn secret_file(&self) -> PathBuf {
        self.data_dir.join(FILE_NAME)
    }

    /// The signing secret: as configured, or from the data directory.
    pub fn signing_secret(&self, chance: &Chance) -> Result<Secret> {
        match &self.secrets.signing {
            Some(secret) => Ok(secret.clone()),
            None => kept_secret(&self.data_dir, chance),
        }
    }
}

fn kept_secret(data_dir: &Path, chance: &Chance) -> Result<Secret> {
    let path = data_dir.join(FILE_NAME);
    if let Some(secret) = read(&path)? {
        return Ok(secret);
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data_dir)
        .with_context(|| format!("create the data directory {}", data_dir.display()))?;
    make(&path, chance).with_context(|| format!("create {}", path.display()))?;
    // Another process may have created it first, and then its secret counts.
    read(&path)?.with_context(|| format!("{} was deleted while it was created", path.display()))
}

fn read(path: &Path) -> Result<Option<Secret>> {
    match fs::read_to_string(path) {
        Ok(text) if text.trim().len() == LENGTH => Ok(Some(Secret::new(text.trim()))),
        Ok(_) => bail!(
            "{} does not contain {LENGTH} characters; restore it, or delete it to create a new one",
            path.display()
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("read {}", path.display())),
    }
}

// A hard link creates the complete file atomically, and never replaces an existing one.
fn make(path: &Path, chance: &Chance) -> std::io::Result<()> {
    let draft = path.with_extension(chance.base36(12));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written = writeln!(file, "{}", chance.alphanumeric(LENGTH)).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| match fs::hard_link(&draft, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    });
    fs::remove_file(&draft)?;
    linked?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn signing_secret_is_created_once_with_private_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().join("not/there/yet");
        let first = kept_secret(&data_dir, &Chance::seeded(1)).unwrap();
        let again = kept_secret(&data_dir, &Chance::seeded(2)).unwrap();
        assert_eq!(first, again);
        assert_eq!(first.reveal().len(), LENGTH);
        let mode = fs::metadata(data_dir.join(FILE_NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(&data_dir).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn processes_that_start_together_agree_on_one_secret() {
        let folder = tempfile::tempdir().unwrap();
        let secrets: Vec<_> = std::thread::scope(|scope| {
            let start = |seed| {
                let folder = folder.path();
                scope.spawn(move || kept_secret(folder, &Chance::seeded(seed)).unwrap())
            };
            let processes: Vec<_> = (0..8).map(start).collect();
            processes.into_iter().map(|process| process.join().unwrap()).collect()
        });
        assert!(secrets.iter().all(|secret| secret == &secrets[0]));
    }

    #[test]
    fn a_damaged_secret_stops_the_start() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE_NAME), "short").unwrap();
        let error = kept_secret(folder.path(), &Chance::seeded(1)).unwrap_err();
        assert!(error.to_string().contains("signing-secret"), "{error}");
    }
}
