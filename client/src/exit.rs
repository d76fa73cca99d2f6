//! Exit codes. Scripts depend on them, so a code must never change its meaning.

/// The kinds of failure that a script can react to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Other = 1,
    Usage = 2,
    SignIn = 3,
    NotFound = 4,
    Payment = 5,
    RateLimited = 6,
    Server = 7,
}

/// After Ctrl-C, by the convention of shells: 128 plus the signal's number.
pub const INTERRUPTED: u8 = 130;

/// The exit codes, variables and files, as part of `--help` and the man page.
pub const HELP: &str = "\
Exit codes:
  0    success
  1    any other error; for check: there are warnings
  2    wrong usage, or invalid input (400, 413, 415)
  3    no token, or not permitted (401, 403)
  4    not found (404, 410)
  5    payment required and not confirmed (402)
  6    rate limit exceeded; try again later (429)
  7    server error, or server unreachable (5xx)
  130  interrupted by Ctrl-C

Environment variables and files of the client commands:
  HANDBILL_URL    API address; takes precedence over the profile
  HANDBILL_TOKEN  token; takes precedence over the profile
  NO_COLOR        turns off colors
  $XDG_CONFIG_HOME/handbill/NAME.toml, or ~/.config/handbill/NAME.toml
                  profile with url and token, readable only by its owner (mode 0600)";

impl Exit {
    /// The exit code for an HTTP status that is not a success.
    pub fn of_status(status: u16) -> Self {
        match status {
            400 | 413 | 415 => Exit::Usage,
            401 | 403 => Exit::SignIn,
            402 => Exit::Payment,
            404 | 410 => Exit::NotFound,
            429 => Exit::RateLimited,
            500.. => Exit::Server,
            _ => Exit::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_api_status_has_its_documented_exit_code() {
        for (status, number) in [
            (400, 2),
            (413, 2),
            (415, 2),
            (401, 3),
            (403, 3),
            (404, 4),
            (410, 4),
            (402, 5),
            (429, 6),
            (500, 7),
            (503, 7),
            (409, 1),
            (405, 1),
            (302, 1),
        ] {
            assert_eq!(Exit::of_status(status) as u8, number, "{status}");
            assert!(HELP.contains(&format!("\n  {number}  ")), "{number}");
        }
    }
}
