//! A profile: the address of a Handbill server and the token for it, in a file in the user's config
//! directory. Other users of the machine must not be able to read it, not even while it is written. The token
//! is sent only to the address that it belongs to.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use domain::oauth::RefreshToken;
use domain::{Time, TokenSecret};
use etcetera::BaseStrategy;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::failure::Failure;

const FOLDER: &str = "handbill";
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
/// The permission bits of everyone except the owner.
const OTHERS: u32 = 0o077;
/// A profile is four lines at most. A longer file is something else.
const FILE_BYTES_MAX: u64 = 16 * 1024;

/// The name of a profile and of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileName(String);

impl FromStr for ProfileName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let fits = (1..=40).contains(&text.len()) && text.bytes().all(is_fit);
        fits.then(|| Self(text.to_owned()))
            .ok_or_else(|| "a profile name has 1 to 40 letters, digits, dashes or underscores".to_owned())
    }
}

impl std::fmt::Display for ProfileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The content of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub url: Option<String>,
    pub token: Option<TokenSecret>,
    /// What renews the token, if it is from `handbill login` with a browser.
    pub renewal: Option<Renewal>,
}

/// The refresh token of a profile, and when its token expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    pub refresh: RefreshToken,
    pub expires_at: Time,
}

#[derive(Default, Serialize, Deserialize)]
struct Written {
    url: Option<String>,
    token: Option<String>,
    refresh_token: Option<String>,
    expires_at: Option<String>,
}

/// The file of a profile, which may not exist.
#[derive(Clone, Debug)]
pub struct ProfileFile {
    path: PathBuf,
}

/// The profile, and a warning if its permissions had to be fixed.
#[derive(Debug, Default)]
pub struct ProfileMatch {
    pub profile: Profile,
    pub warning: Option<String>,
}

/// A file that is ready to become the profile. Everything that can fail is tried before a token is at stake.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    target: PathBuf,
}

impl Profile {
    /// The profile, if it has a token that could be lost.
    pub fn with_token(self) -> Option<Self> {
        self.token.is_some().then_some(self)
    }
}

impl ProfileFile {
    pub fn of(name: &ProfileName) -> Result<Self, Failure> {
        let strategy = etcetera::choose_base_strategy().map_err(|_| {
            Failure::of_this_machine(
                "there is no home directory for the profile: set HOME or XDG_CONFIG_HOME",
            )
        })?;
        Ok(Self::in_folder(&strategy.config_dir().join(FOLDER), name))
    }

    fn in_folder(folder: &Path, name: &ProfileName) -> Self {
        Self { path: folder.join(format!("{name}.toml")) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the profile. A missing file is an empty profile. Removes other users' permissions on the file.
    pub fn read(&self) -> Result<ProfileMatch, Failure> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ProfileMatch::default()),
            Err(error) => return Err(self.fault("cannot be read", &error)),
        };
        let warning = self.restrict(&file)?;
        let mut text = String::new();
        file.take(FILE_BYTES_MAX)
            .read_to_string(&mut text)
            .map_err(|error| self.fault("cannot be read", &error))?;
        Ok(ProfileMatch { profile: self.parse(&text)?, warning })
    }

    /// Prepares to write the profile.
    pub fn draft(&self) -> Result<Draft, Failure> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        DirBuilder::new()
            .recursive(true)
            .mode(FOLDER_MODE)
            .create(folder)
            .map_err(|error| self.fault("needs a directory that could not be created", &error))?;
        let file = tempfile::Builder::new()
            .prefix(".profile-")
            .permissions(Permissions::from_mode(FILE_MODE))
            .tempfile_in(folder)
            .map_err(|error| self.fault("cannot be written", &error))?;
        Ok(Draft { file, target: self.path.clone() })
    }

    fn restrict(&self, file: &File) -> Result<Option<String>, Failure> {
        let mode =
            file.metadata().map_err(|error| self.fault("cannot be read", &error))?.permissions().mode();
        if mode & OTHERS == 0 {
            return Ok(None);
        }
        fs::set_permissions(&self.path, Permissions::from_mode(FILE_MODE)).map_err(|error| {
            self.fault("can be read by other users, and its permissions could not be changed", &error)
        })?;
        Ok(Some(format!(
            "{} was readable by other users (mode {:03o}). Its permissions are fixed, but consider a new token.",
            self.path.display(),
            mode & 0o777
        )))
    }

    fn parse(&self, text: &str) -> Result<Profile, Failure> {
        // The parser's error is not shown: it quotes the line, which may hold the token.
        let written: Written = toml::from_str(text)
            .map_err(|_| self.malformed("is not valid TOML with the strings `url` and `token`"))?;
        let token = written.token.as_deref().map(TokenSecret::from_str).transpose();
        let token = token.map_err(|()| self.malformed("contains a malformed token"))?;
        let renewal = match (written.refresh_token, written.expires_at) {
            (Some(refresh), Some(expires_at)) => {
                let refresh =
                    refresh.parse().map_err(|()| self.malformed("contains a malformed refresh token"))?;
                let expires_at = Time::parse_rfc3339(&expires_at)
                    .ok_or_else(|| self.malformed("contains a malformed expires_at"))?;
                Some(Renewal { refresh, expires_at })
            }
            _ => None,
        };
        Ok(Profile { url: written.url, token, renewal })
    }

    /// Waits until no other process renews this profile. The lock ends with the returned file.
    pub async fn lock(&self) -> Result<File, Failure> {
        let path = self.path.with_extension("lock");
        let lock = move || {
            let file = OpenOptions::new().create(true).append(true).mode(FILE_MODE).open(path)?;
            file.lock().map(|()| file)
        };
        let locked = tokio::task::spawn_blocking(lock).await.map_err(std::io::Error::other);
        locked.flatten().map_err(|error| self.fault("could not be locked", &error))
    }

    fn malformed(&self, what: &str) -> Failure {
        let message = format!("the profile {} {what}", self.path.display());
        Failure::signed_out(message, "remove the file, then run `handbill login` or `handbill signup`")
    }

    fn fault(&self, what: &str, error: &std::io::Error) -> Failure {
        Failure::of_this_machine(format!("the profile {} {what}: {error}", self.path.display()))
    }
}

impl Draft {
    /// Replaces the profile atomically.
    pub fn save(mut self, profile: Profile) -> Result<(), Failure> {
        let expires_at = profile.renewal.as_ref().map(|renewal| renewal.expires_at.to_string());
        let written = Written {
            url: profile.url,
            token: profile.token.map(TokenSecret::reveal),
            refresh_token: profile.renewal.map(|renewal| renewal.refresh.reveal()),
            expires_at,
        };
        let target = self.target.display().to_string();
        let fault = |error: String| Failure::of_this_machine(format!("the profile {target}: {error}"));
        let text = toml::to_string(&written).map_err(|_| fault("cannot be encoded as TOML".to_owned()))?;
        self.file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.as_file().sync_all())
            .map_err(|error| fault(error.to_string()))?;
        self.file.persist(&self.target).map_err(|error| fault(error.error.to_string()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> TokenSecret {
        TokenSecret::generate(&domain::Chance::seeded(1))
    }

    fn file_in(folder: &tempfile::TempDir) -> ProfileFile {
        ProfileFile::in_folder(&folder.path().join("handbill"), &"default".parse().unwrap())
    }

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn profile_file_is_private_and_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_in(&folder);
        assert_eq!(file.read().unwrap().profile, Profile::default());
        let refresh = RefreshToken::generate(&domain::Chance::seeded(1));
        let renewal = Some(Renewal { refresh, expires_at: Time::from_millis(1_790_000_000_000) });
        let url = Some("http://127.0.0.1:1".to_owned());
        let profile = Profile { url, token: Some(token()), renewal };
        file.draft().unwrap().save(profile.clone()).unwrap();
        assert_eq!(mode_of(file.path()), 0o600);
        assert_eq!(mode_of(file.path().parent().unwrap()), 0o700);
        let found = file.read().unwrap();
        assert_eq!((found.profile, found.warning), (profile, None));
    }

    #[test]
    fn readable_profile_file_is_made_private_with_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_in(&folder);
        file.draft().unwrap().save(Profile { token: Some(token()), ..Profile::default() }).unwrap();
        fs::set_permissions(file.path(), Permissions::from_mode(0o644)).unwrap();
        assert!(file.read().unwrap().warning.unwrap().contains("644"));
        assert_eq!(mode_of(file.path()), 0o600);
        assert_eq!(file.read().unwrap().warning, None);
    }

    #[test]
    fn profile_errors_do_not_show_the_token() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_in(&folder);
        file.draft().unwrap().save(Profile::default()).unwrap();
        for bad in ["token = \"svc_sk_tooshort\"", "token = svc_sk_unquoted", "token = 7"] {
            fs::write(file.path(), bad).unwrap();
            let failure = file.read().unwrap_err();
            assert!(!format!("{failure:?}").contains("svc_sk_"), "{failure:?}");
        }
    }

    #[test]
    fn unsaved_draft_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_in(&folder);
        drop(file.draft().unwrap());
        assert_eq!(fs::read_dir(file.path().parent().unwrap()).unwrap().count(), 0);
    }

    #[test]
    fn profile_names_cannot_escape_the_profile_directory() {
        for bad in ["", "../other", "a/b", ".", "a.b", &"a".repeat(41)] {
            assert!(bad.parse::<ProfileName>().is_err(), "{bad}");
        }
        assert!("work-2_B".parse::<ProfileName>().is_ok());
    }
}
