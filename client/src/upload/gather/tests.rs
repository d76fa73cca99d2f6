//! Which files are sent, and which never are.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn site(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let location = folder.path().join(path);
        fs::create_dir_all(location.parent().unwrap()).unwrap();
        fs::write(location, content).unwrap();
    }
    folder
}

fn gather_usual(path: &Path) -> Result<Gathered, Failure> {
    gather(path, Selection::Usual)
}

fn paths_of(gathered: &Gathered) -> Vec<&str> {
    gathered.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn hidden_and_ignored_files_are_not_uploaded() {
    let folder = site(&[
        ("index.html", "front"),
        ("css/app.css", "body{}"),
        ("css/.draft.css", "hidden"),
        (".git/config", "git"),
        (".env", "secret"),
        (".well-known/security.txt", "contact"),
        (".handbillignore", "*.map\n/notes/\n!keep.map\n"),
        ("app.js.map", "map"),
        ("keep.map", "map"),
        ("notes/todo.txt", "todo"),
        ("deep/.handbillignore", "*.tmp\n"),
        ("deep/a.tmp", "tmp"),
        ("deep/a.txt", "txt"),
    ]);
    let gathered = gather_usual(folder.path()).unwrap();
    let expected = [".well-known/security.txt", "css/app.css", "deep/a.txt", "index.html", "keep.map"];
    assert_eq!(paths_of(&gathered), expected);
    assert_eq!((gathered.left_out.join(" "), gathered.skipped.len()), (".env css/.draft.css".to_owned(), 0));
}

#[test]
fn node_modules_and_hidden_files_are_uploaded_only_on_demand() {
    let files = [
        ("index.html", "front"),
        (".git/config", "git"),
        (".handbill.json", "{}"),
        (".nojekyll", ""),
        (".well-known/.draft", "draft"),
        ("node_modules/a/index.js", "dependency"),
        ("app/node_modules/b.js", "dependency"),
    ];
    let folder = site(&files);
    let usual = gather_usual(folder.path()).unwrap();
    assert_eq!(paths_of(&usual), ["index.html"]);
    assert_eq!(usual.left_out, [".nojekyll", ".well-known/.draft", "app/node_modules/", "node_modules/"]);
    let every = gather(folder.path(), Selection::AllFiles).unwrap();
    let expected = [".nojekyll", ".well-known/.draft", "app/node_modules/b.js", "index.html"];
    assert_eq!(paths_of(&every), [&expected[..], &["node_modules/a/index.js"]].concat());
    assert_eq!(every.left_out, Vec::<String>::new());
    fs::write(folder.path().join(".handbillignore"), "!.nojekyll\n!/node_modules\nindex.js\n").unwrap();
    fs::write(folder.path().join("node_modules/a/.handbillignore"), "!index.js\n!.git\n").unwrap();
    let chosen = gather_usual(folder.path()).unwrap();
    assert_eq!(paths_of(&chosen), [".nojekyll", "index.html", "node_modules/a/index.js"]);
    assert_eq!(chosen.left_out, [".well-known/.draft", "app/node_modules/"]);
}

#[test]
fn snapshot_changes_with_the_files_that_are_sent() {
    let folder = site(&[("index.html", "front"), ("node_modules/a.js", "a")]);
    let taken = || snapshot(folder.path(), Selection::Usual).unwrap();
    let first = taken();
    fs::write(folder.path().join("node_modules/a.js"), "changed").unwrap();
    assert_eq!(taken(), first);
    fs::write(folder.path().join("index.html"), "another front").unwrap();
    let second = taken();
    assert_ne!(second, first);
    fs::write(folder.path().join("new.txt"), "").unwrap();
    assert_ne!(taken(), second);
    let page = folder.path().join("index.html");
    assert_ne!(snapshot(&page, Selection::Usual).unwrap(), taken());
}

#[test]
fn symlinks_are_followed_only_to_uploaded_files() {
    let outside = site(&[("secret.txt", "secret")]);
    let folder = site(&[("home.html", "front"), (".env", "secret"), ("a/b.txt", "b")]);
    let link = |target: &Path, name: &str| symlink(target, folder.path().join(name)).unwrap();
    link(Path::new("home.html"), "index.html");
    link(&outside.path().join("secret.txt"), "leak.txt");
    link(outside.path(), "leak");
    link(Path::new(".env"), "env.txt");
    link(Path::new("a"), "again");
    link(Path::new("nowhere"), "broken");
    let gathered = gather_usual(folder.path()).unwrap();
    assert_eq!(paths_of(&gathered), ["a/b.txt", "home.html", "index.html"]);
    assert_eq!(gathered.files[2].bytes, "front");
    assert_eq!(gathered.skipped.len(), 5, "{gathered:?}");
}

#[test]
fn symlink_to_a_directory_uploads_that_directory() {
    let folder = site(&[("index.html", "front"), ("css/app.css", "body{}"), (".env", "secret")]);
    let elsewhere = site(&[]);
    let link = elsewhere.path().join("site");
    symlink(folder.path(), &link).unwrap();
    for named in [&link, &link.join("css/..")] {
        assert_eq!(gather_usual(named).unwrap(), gather_usual(folder.path()).unwrap(), "{}", named.display());
    }
    assert_eq!(paths_of(&gather_usual(&link).unwrap()), ["css/app.css", "index.html"]);
}

#[test]
fn single_html_file_becomes_index_html_and_other_files_keep_their_names() {
    let folder = site(&[("about.html", "page"), ("PAGE.HTM", "page"), ("photo.jpg", "jpg")]);
    for (name, path) in [("about.html", "index.html"), ("PAGE.HTM", "index.html"), ("photo.jpg", "photo.jpg")]
    {
        assert_eq!(paths_of(&gather_usual(&folder.path().join(name)).unwrap()), [path], "{name}");
    }
}

#[test]
fn files_that_the_service_would_refuse_are_refused_before_reading() {
    let many: Vec<_> = (0..51).map(|number| format!("{number}.txt")).collect();
    let many: Vec<_> = many.iter().map(|name| (name.as_str(), "x")).collect();
    assert_eq!(gather_usual(site(&many[..50]).path()).unwrap().files.len(), 50);
    let failure = gather_usual(site(&many).path()).unwrap_err();
    assert!(
        failure.api_error.message.contains("50 files") && failure.api_error.hint.contains("51"),
        "{failure:?}"
    );
    let big = site(&[("index.html", "front")]);
    let hole = File::create(big.path().join("hole.bin")).unwrap();
    hole.set_len(FileSet::BYTES_MAX).unwrap();
    assert_eq!(gather_usual(big.path()).unwrap_err().api_error.code, "too_large");
}

#[test]
fn empty_directories_and_files_are_not_published() {
    let empty = site(&[(".hidden", "x"), (".empty.html", "")]);
    for path in [empty.path(), &empty.path().join("nowhere.html"), &empty.path().join(".empty.html")] {
        assert_eq!(gather_usual(path).unwrap_err().exit as u8, 2, "{}", path.display());
    }
}
