//! Tests of the model of a site.

use rand::SeedableRng;
use rand::rngs::StdRng;

use super::*;

fn files() -> Arc<FileSet> {
    FileSet::draw(&mut StdRng::seed_from_u64(1), "mark")
}

fn publish() -> Change {
    Change::Publish(files())
}

fn names(number: u32) -> Names {
    Names { artifact_id: format!("artifact {number}"), host: format!("host-{number}") }
}

const FIRST: OpId = OpId(1);
const SECOND: OpId = OpId(2);
const THIRD: OpId = OpId(3);

/// A slug with one acknowledged version.
fn published() -> SiteModel {
    let mut site = SiteModel::default();
    site.begin(FIRST, publish());
    site.acknowledge(FIRST, Some(1), Some(&names(1))).unwrap();
    site
}

fn live_versions(site: &SiteModel) -> Vec<Option<u32>> {
    site.pages().into_iter().map(|page| page.map(|page| page.live)).collect()
}

#[test]
fn exactly_the_acknowledged_changes_are_present() {
    let site = published();
    assert_eq!(live_versions(&site), [Some(1)]);
    assert_eq!(site.names_of(FIRST), Some(&names(1)));
}

#[test]
fn unacknowledged_changes_may_be_present_or_absent_or_late() {
    let mut site = published();
    site.begin(SECOND, publish());
    assert_eq!(live_versions(&site), [Some(1), Some(2)]);
    // Another change is acknowledged. The open one is before it, after it, or did not happen.
    site.begin(THIRD, publish());
    site.acknowledge(THIRD, Some(2), None).unwrap();
    let orders: Vec<_> = site.pages().into_iter().flatten().map(|page| page.versions).collect();
    assert_eq!(orders, [vec![FIRST, THIRD], vec![FIRST, THIRD, SECOND]]);
}

#[test]
fn a_number_that_was_given_twice_is_found() {
    let mut site = published();
    site.begin(SECOND, publish());
    assert!(site.acknowledge(SECOND, Some(1), None).is_err());
}

#[test]
fn a_gap_in_the_numbers_needs_an_open_change_to_explain_it() {
    let mut site = published();
    site.begin(SECOND, publish());
    site.begin(THIRD, publish());
    site.acknowledge(THIRD, Some(3), None).unwrap();
    assert!(site.refuse(SECOND).is_err(), "it was refused, but without it there is no third");
}

#[test]
fn refused_change_that_takes_effect_later_is_found() {
    let mut site = published();
    site.begin(SECOND, publish());
    site.refuse(SECOND).unwrap();
    site.begin(THIRD, publish());
    assert!(site.acknowledge(THIRD, Some(3), None).is_err(), "only the refused one can be the second");
}

#[test]
fn an_artifact_that_changes_its_name_is_found() {
    let mut site = published();
    site.begin(SECOND, publish());
    assert!(site.acknowledge(SECOND, Some(2), Some(&names(2))).is_err());
}

#[test]
fn reused_slug_gets_a_new_host() {
    let mut site = published();
    site.begin(SECOND, Change::Delete);
    site.acknowledge(SECOND, None, None).unwrap();
    assert_eq!(live_versions(&site), [None]);
    site.begin(THIRD, publish());
    site.acknowledge(THIRD, Some(1), Some(&names(2))).unwrap();
    assert_eq!((site.names_of(FIRST), site.names_of(THIRD)), (Some(&names(1)), Some(&names(2))));
}

#[test]
fn read_may_see_any_state_since_it_started_and_nothing_older() {
    let mut site = published();
    let read = site.begin_read();
    site.begin(SECOND, publish());
    site.acknowledge(SECOND, Some(2), None).unwrap();
    let seen: Vec<_> = site.end_read(read).into_iter().flatten().map(|page| page.live).collect();
    assert_eq!(seen, [1, 2]);
    let read = site.begin_read();
    let seen: Vec<_> = site.end_read(read).into_iter().flatten().map(|page| page.live).collect();
    assert_eq!(seen, [2]);
}

#[test]
fn settling_distinguishes_certain_from_possible_changes() {
    let mut site = published();
    site.begin(SECOND, publish());
    site.see("one version", |page| page.is_some_and(|page| page.versions.len() == 1)).unwrap();
    assert_eq!(site.settle().len(), 1, "the open one did not happen");
    site.begin(THIRD, publish());
    site.see("two versions", |page| page.is_some_and(|page| page.versions.len() == 2)).unwrap();
    let uses = site.settle();
    assert!(uses.len() == 1 && uses[0].is_sure && uses[0].ended.is_none());
    assert!(site.see("one again", |page| page.is_some_and(|page| page.versions.len() == 1)).is_err());
}
