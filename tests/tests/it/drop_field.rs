//! The field for files on the front page, as a browser posts it without scripts.

use handbill_tests::{Call, Reply, World, in_both_modes};

use crate::expectations::{PAGE, assert_serves, open_result};
use crate::publish_bodies::tar;

const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";
const STYLE: &str = "h1 { color: teal }";

/// A file with its name in the form.
type NamedFile = (String, Vec<u8>);

in_both_modes! {
    async fn files_are_published_with_the_front_page_form(world: World) {
        // A browser sends the field for a folder too, without a name or content.
        let shown = form(&world).file("index.html", PAGE).file("css/app.css", STYLE).file("", "").await;
        let url = url_in(&world, &shown).await;
        assert_serves(&world.visitor().open(&url).await, PAGE);
        assert_eq!(world.visitor().open(&format!("{url}css/app.css")).await.expect(200).text(), STYLE);
    }

    async fn a_folder_is_published_without_its_name_and_its_hidden_files(world: World) {
        let files = [("dist/index.html", PAGE), ("dist/app.css", STYLE), ("dist/.git/config", "x")];
        let call = files.into_iter().fold(form(&world), |call, (path, content)| call.file(path, content));
        let hidden = (0..60).map(|number| format!("dist/.git/objects/{number}"));
        let call = hidden.fold(call, |call, path| call.file(&path, "x"));
        let url = url_in(&world, &call.await).await;
        assert_serves(&world.visitor().open(&url).await, PAGE);
        for (path, status) in [("app.css", 200), (".git/config", 404), ("dist/app.css", 404)] {
            assert_eq!(world.visitor().open(&format!("{url}{path}")).await.status, status, "{path}");
        }
    }

    async fn an_archive_is_unpacked(world: World) {
        let archive = tar(&[("dist/index.html", PAGE), ("dist/app.css", STYLE)]);
        let url = url_in(&world, &form(&world).file("dist.tar", archive).await).await;
        assert_serves(&world.visitor().open(&url).await, PAGE);
        world.visitor().open(&format!("{url}app.css")).await.expect(200);
        world.visitor().open(&format!("{url}dist.tar")).await.expect(404);
    }

    async fn a_single_file_is_shown_at_its_own_address(world: World) {
        let page = url_in(&world, &form(&world).file("About us.html", PAGE).await).await;
        assert_serves(&world.visitor().open(&page).await, PAGE);
        let notes = url_in(&world, &form(&world).file("notes.txt", "some notes").await).await;
        assert!(notes.ends_with("/notes.txt"), "{notes}");
        assert_eq!(world.visitor().open(&notes).await.expect(200).text(), "some notes");
    }

    async fn refused_files_show_the_fault_beside_their_field(world: World) {
        let cases: [(Vec<NamedFile>, u16, &str); 4] = [
            (vec![(String::new(), Vec::new())], 400, "Choose a file or a folder."),
            (vec![("site.zip".to_owned(), b"no zip".to_vec())], 400, "This zip file is damaged or is not a zip file."),
            ((0..51).map(|n| (format!("{n}.txt"), b"x".to_vec())).collect(), 413, "50 files and 10 MB"),
            (vec![("big.bin".to_owned(), vec![0; 10 * 1_048_576 + 1])], 413, "50 files and 10 MB"),
        ];
        for (files, status, fault) in cases {
            let add = |call: Call, (path, content): NamedFile| call.file(&path, content);
            let call = files.into_iter().fold(form(&world), add);
            let refused = call.await.expect(status).text();
            assert!(refused.contains("id=\"files-fault\"") && refused.contains(fault), "{fault}: {refused}");
            assert!(refused.len() < 20_000, "{fault}");
        }
        // A program gets JSON.
        let refused = world.human().post("/").file("site.tar", "no tar").await;
        refused.refused(400, "invalid_request").naming("files");
    }
}

fn form(world: &World) -> Call {
    world.human().post("/").header("Accept", BROWSER)
}

/// The URL on the page with the result.
async fn url_in(world: &World, published: &Reply) -> String {
    let text = open_result(&world.human(), published).await.text();
    let (_, rest) = text.split_once("<code id=\"url\"><a href=\"").expect("a URL");
    rest.split('"').next().expect("a URL").to_owned()
}
