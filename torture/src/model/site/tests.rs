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
    let versions = |page: Page| page.versions.into_values().collect::<Vec<_>>();
    let orders: Vec<_> = site.pages().into_iter().flatten().map(versions).collect();
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
    let seen: Vec<_> = site.end_read(read).into_iter().filter_map(|seen| Some(seen.page?.live)).collect();
    assert_eq!(seen, [1, 2]);
    let read = site.begin_read();
    let seen: Vec<_> = site.end_read(read).into_iter().filter_map(|seen| Some(seen.page?.live)).collect();
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

#[test]
fn restored_artifact_has_its_host_and_versions_until_it_is_purged() {
    let mut site = published();
    for (id, change, live) in [
        (SECOND, Change::Delete, None),
        (THIRD, Change::Restore, Some(1)),
        (OpId(4), Change::Delete, None),
        (OpId(5), Change::Purge, None),
    ] {
        site.begin(id, change);
        site.acknowledge(id, None, None).unwrap();
        assert_eq!(live_versions(&site), [live]);
    }
    assert_eq!(site.artifacts().iter().flat_map(Artifacts::versions).count(), 0);
    site.begin(OpId(6), Change::Restore);
    assert!(site.acknowledge(OpId(6), None, Some(&names(1))).is_err(), "it was purged");
}

#[test]
fn restored_artifact_with_another_name_is_found() {
    let mut site = published();
    site.begin(SECOND, Change::Delete);
    site.acknowledge(SECOND, None, None).unwrap();
    site.begin(THIRD, Change::Restore);
    assert!(site.acknowledge(THIRD, None, Some(&names(2))).is_err());
}

#[test]
fn number_of_a_deleted_version_is_not_used_again() {
    let mut site = published();
    site.begin(SECOND, Change::AddVersion { files: files(), activates: false });
    site.acknowledge(SECOND, Some(2), None).unwrap();
    site.begin(THIRD, Change::DeleteVersion(2));
    site.acknowledge(THIRD, None, None).unwrap();
    site.begin(OpId(4), publish());
    site.acknowledge(OpId(4), Some(3), None).unwrap();
    let versions: Vec<_> = site.pages().into_iter().flatten().flat_map(|page| page.versions).collect();
    assert_eq!(versions, [(1, FIRST), (3, OpId(4))]);
}

#[test]
fn restored_artifact_is_any_of_the_deleted_ones_and_its_name_tells_which() {
    let mut site = published();
    for (id, change, named) in [
        (SECOND, Change::Delete, None),
        (THIRD, publish(), Some(names(2))),
        (OpId(4), Change::Delete, None),
        (OpId(5), Change::Restore, Some(names(1))),
    ] {
        site.begin(id, change);
        site.acknowledge(id, None, named.as_ref()).unwrap();
    }
    assert_eq!(site.pages().pop_first().flatten().map(|page| page.made_by), Some(FIRST));
}

#[test]
fn blocked_versions_may_be_kept_when_their_artifact_is_purged() {
    let mut site = published();
    let abusive = FileSet { is_abusive: true, ..FileSet::clone(&files()) };
    for (id, change) in [(SECOND, Change::Publish(Arc::new(abusive))), (THIRD, Change::Purge)] {
        site.begin(id, change);
        site.acknowledge(id, None, None).unwrap();
    }
    let artifacts = site.artifacts().pop_first().unwrap();
    assert_eq!((artifacts.versions().count(), artifacts.kept().collect::<Vec<_>>()), (0, vec![SECOND]));
    // It is found again, or it was not blocked yet and is gone.
    assert!(artifacts.may_refuse(&Change::Purge, "not_found"));
    site.begin(OpId(4), Change::Purge);
    site.acknowledge(OpId(4), None, None).unwrap();
}

#[test]
fn refusals_need_a_state_that_explains_them() {
    let changes = [Change::Restore, Change::Purge, Change::DeleteVersion(1), Change::DeleteVersion(2)];
    let codes = |site: &SiteModel| {
        let artifacts = site.artifacts().pop_first().unwrap();
        let known = ["not_found", "slug_taken", "version_live", "version_held"];
        changes.clone().map(|change| known.into_iter().find(|code| artifacts.may_refuse(&change, code)))
    };
    let missing = Some("not_found");
    assert_eq!(codes(&SiteModel::default()), [missing; 4]);
    let mut site = published();
    assert_eq!(codes(&site), [missing, None, Some("version_live"), missing]);
    site.begin(SECOND, Change::Delete);
    site.acknowledge(SECOND, None, None).unwrap();
    assert_eq!(codes(&site), [None, None, missing, missing]);
}

#[test]
fn publish_without_a_response_that_a_purge_may_have_followed_is_not_surely_published() {
    let mut site = published();
    site.begin(SECOND, publish());
    site.begin(THIRD, Change::Purge);
    site.acknowledge(THIRD, None, None).unwrap();
    site.see("nothing", |page| page.is_none()).unwrap();
    site.settle();
    assert_eq!((site.contents().count(), site.surely_published().count()), (2, 1));
}
