//! Whatever becomes of an object, a scrub finds it, and harms nothing that somebody needs.

use std::fs::{self, File};
use std::time::Duration;

use handbill_tests::{Agent, Reply, in_both_modes};

use super::{failed, host_of, keeper, object_of, objects_of, succeeded};
use crate::expectations::{front_page, page_saying};

const OVER_THE_GRACE: Duration = Duration::from_secs(25 * 3600);

async fn published(agent: &Agent, slug: &str, html: &str) -> Reply {
    agent.publish(slug, html).await.expect(201)
}

in_both_modes! {
    async fn a_scrub_names_the_pages_that_suffer_and_exits_with_one(world: World) {
        let (agent, _) = keeper(&world).await;
        let objects = objects_of(&world);
        let html = |words: &str| page_saying(&words.repeat(200));
        let [sound, removed, truncated, flipped, recoded] =
            ["sound", "removed", "truncated", "flipped", "recoded"].map(|words| (words, html(words)));
        let mut hosts = Vec::new();
        for (slug, html) in [&sound, &removed, &truncated, &flipped, &recoded] {
            hosts.push(host_of(&published(&agent, slug, html).await));
        }
        succeeded(world.command(&["scrub"], &[]).await);

        fs::remove_file(object_of(&objects, &removed.1)).unwrap();
        let cut = object_of(&objects, &truncated.1);
        let length = fs::metadata(&cut).unwrap().len();
        File::options().write(true).open(&cut).unwrap().set_len(length - 9).unwrap();
        // One bit of the content; and one of an encoding, which only some visitors get.
        for (html, place) in [(&flipped.1, 40), (&recoded.1, recoded.1.len() + 30)] {
            let path = object_of(&objects, html);
            let mut bytes = fs::read(&path).unwrap();
            bytes[place] ^= 0x10;
            fs::write(&path, bytes).unwrap();
        }
        let said = failed(world.command(&["scrub"], &[]).await);
        assert!(said.contains("4 damages found"), "{said}");
        for (host, words) in [
            (&hosts[1], "it is not in the blob store"),
            (&hosts[2], "bytes instead of"),
            (&hosts[3], "its bytes are not those"),
            (&hosts[4], "encoding does not decode to it"),
        ] {
            let lines: Vec<_> = said.lines().collect();
            let harm = lines.iter().position(|line| line.contains(&format!("harms {host} (version 1, live)")));
            let harm = harm.unwrap_or_else(|| panic!("{host} is not named: {said}"));
            assert!(lines[harm - 1].contains(words), "{said}");
        }
        assert!(!said.contains(&hosts[0]), "{said}");
        // One that cannot be read is a damage like others, and the rest is looked at all the same.
        let unreadable = object_of(&objects, &removed.1);
        std::os::unix::fs::symlink(&unreadable, &unreadable).unwrap();
        let said = failed(world.command(&["scrub"], &[]).await);
        assert!(said.contains("4 damages found") && said.contains("5 contents looked at"), "{said}");
        // A folder of this machine cannot be listed past it either.
        let is_folder = world.mode() == handbill_tests::Mode::Embedded;
        assert_eq!(said.contains("not looked through to the end"), is_folder, "{said}");
        fs::remove_file(&unreadable).unwrap();
        // Where nothing is, nothing is wrong either; whoever looks there has the wrong settings.
        let elsewhere = [("HANDBILL_DATA_DIR", "/nowhere"), ("HANDBILL_DATABASE__URL", "sqlite:///nowhere/handbill.db")];
        let said = failed(world.command(&["scrub"], &elsewhere).await);
        assert!(said.contains("there is no database at /nowhere/handbill.db"), "{said}");
        let sampled = failed(world.command(&["scrub", "--sample", "5"], &[]).await);
        assert!(sampled.contains("5 contents looked at") && sampled.contains("0 objects"), "{sampled}");
    }

    async fn only_an_orphan_past_its_grace_is_removed(world: World) {
        let (agent, _) = keeper(&world).await;
        let html = page_saying("somebody's");
        let page = published(&agent, "my-page", &html).await;
        let orphan = object_of(&objects_of(&world), "nobody's");
        fs::create_dir_all(orphan.parent().unwrap()).unwrap();
        fs::write(&orphan, "nobody's").unwrap();
        let young = succeeded(world.command(&["scrub", "--fix"], &[]).await);
        assert!(!young.contains("ORPHAN") && orphan.exists(), "{young}");
        world.advance(OVER_THE_GRACE);
        let old = succeeded(world.command(&["scrub"], &[]).await);
        assert!(old.contains("ORPHAN") && old.contains("handbill scrub --fix") && orphan.exists(), "{old}");
        let fixed = succeeded(world.command(&["scrub", "--fix"], &[]).await);
        assert!(fixed.contains("removed") && !orphan.exists(), "{fixed}");
        assert_eq!(front_page(&world.visitor(), &page).await.expect(200).text(), html);
        let clean = succeeded(world.command(&["scrub", "--fix"], &[]).await);
        assert!(!clean.contains("ORPHAN"), "{clean}");
        // The same content can be published, though it was deleted once.
        let again = published(&agent, "again", "nobody's").await;
        assert_eq!(front_page(&world.visitor(), &again).await.expect(200).text(), "nobody's");
    }
}
