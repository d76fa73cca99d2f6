//! Checks for unsafe exposure: dev mode, pages on the API's site, data that other users can read.

use config::Settings;

use super::finding::Finding;
use crate::parts;

const MODE: &str = "dev mode";
const SITE: &str = "site";
const DATA: &str = "data";

pub(super) fn examine(settings: &Settings) -> Vec<Finding> {
    [vec![mode(settings)], site(settings), data(settings)].concat()
}

fn mode(settings: &Settings) -> Finding {
    let what = match (settings.dev_mode, settings.allow_public_dev) {
        (false, _) => return Finding::sound(MODE, "off"),
        (true, false) => "DEV MODE is on: anyone on this machine can sign in as any user",
        (true, true) => {
            "DEV MODE is on, and allow_public_dev lets anyone who can reach the service sign in as any user"
        }
    };
    Finding::warning(MODE, what, "set HANDBILL_DEV_MODE=false before others can reach it")
}

/// In dev mode all addresses are local, or the operator has explicitly allowed others.
fn site(settings: &Settings) -> Vec<Finding> {
    let remedy =
        "serve pages from a separate domain with edge.url_style=host, or set edge.allow_same_site=true";
    let found = |fault: config::Fault| {
        let what = format!("{}: {}", fault.key, fault.fault);
        if settings.edge.allow_same_site || settings.dev_mode {
            Finding::warning(SITE, what, remedy)
        } else {
            Finding::fault(SITE, what, remedy)
        }
    };
    let found: Vec<_> = settings.same_site_faults().into_iter().map(found).collect();
    if found.is_empty() {
        return vec![Finding::sound(SITE, "pages are isolated from the API and from each other")];
    }
    found
}

fn data(settings: &Settings) -> Vec<Finding> {
    let open = match parts::folders_open_to_others(settings) {
        Ok(open) => open,
        Err(error) => {
            let remedy = "check data_dir, database.url, queue.url and storage.url";
            return vec![Finding::fault(DATA, format!("{error:#}"), remedy)];
        }
    };
    let found: Vec<_> = open
        .iter()
        .map(|folder| {
            let what = format!("other users of this machine can read {}", folder.path.display());
            Finding::warning(DATA, what, folder.remedy())
        })
        .collect();
    if found.is_empty() {
        return vec![Finding::sound(DATA, "no other user of this machine can read it")];
    }
    found
}
