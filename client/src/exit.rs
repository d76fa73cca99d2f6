//! What the program exits with. Scripts decide by these numbers, so none may ever change its meaning.

/// How a command failed, in the few kinds that a script can do something about.
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

/// After Ctrl-C, as shells have it: 128 and the number of the signal.
pub const INTERRUPTED: u8 = 130;

/// The numbers, and what a command reads besides its arguments, as `--help` and the man page tell them.
pub const HELP: &str = "\
Exit codes:
  0    done
  1    anything that is not below
  2    wrong usage, or input that the service refuses (400, 413, 415)
  3    sign-in: no token, or one that may not do this (401, 403)
  4    there is no such thing (404, 410)
  5    payment is needed and was not agreed to (402)
  6    too many calls; try again later (429)
  7    the server failed or cannot be reached (5xx)
  130  stopped by Ctrl-C

Variables and files of the client commands:
  HANDBILL_URL    the Handbill to speak to; wins over the profile
  HANDBILL_TOKEN  the token; wins over the profile
  NO_COLOR        no colours, also on a terminal
  $XDG_CONFIG_HOME/handbill/NAME.toml, else ~/.config/handbill/NAME.toml
                  the profile: url and token, for its owner alone (mode 0600)";

impl Exit {
    /// What an answer of this status, which is no success, comes to.
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
    fn every_status_of_the_api_has_the_number_that_the_help_promises() {
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
