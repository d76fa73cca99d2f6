//! Rules about the source that a program can check, so that nobody has to remember them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Folders that hold no source of ours: build output, and what a dot hides.
fn is_skipped(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "target" || name.to_string_lossy().starts_with('.'))
}

#[test]
fn every_file_of_source_is_compiled() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    assert_eq!(orphans_in(workspace), Vec::<PathBuf>::new(), "no crate reaches these files: add their `mod`");
}

#[test]
fn a_file_that_no_crate_reaches_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("Cargo.toml", "[workspace]\nmembers = [\"one\"]");
    write(
        "one/Cargo.toml",
        "[package]\nname = \"one\"\n[[bin]]\nname = \"fuzz\"\npath = \"fuzz_targets/fuzz.rs\"",
    );
    write("one/build.rs", "fn main() {}");
    write("one/fuzz_targets/fuzz.rs", "fn main() {}");
    write("one/src/lib.rs", "pub mod plain; mod r#match; mod inline { mod below; } #[cfg(test)] mod tests;");
    write("one/src/plain.rs", "mod deeper; #[path = \"elsewhere/odd.rs\"] mod renamed;");
    write("one/src/plain/deeper/mod.rs", "mod last;");
    write("one/src/plain/deeper/last.rs", "");
    write("one/src/elsewhere/odd.rs", "mod beside_odd;");
    write("one/src/elsewhere/beside_odd.rs", "");
    write("one/src/match.rs", "");
    write("one/src/inline/below.rs", "");
    write("one/src/tests.rs", "");
    write("one/src/bin/tool.rs", "");
    write("one/src/bin/other/main.rs", "mod part;");
    write("one/src/bin/other/part.rs", "");
    write("one/tests/it/main.rs", "mod story;");
    write("one/tests/it/story.rs", "");
    write("one/benches/quick.rs", "");
    write("one/target/debug/made.rs", "");
    assert_eq!(orphans_in(folder.path()), Vec::<PathBuf>::new());

    let orphans = ["one/fuzz_targets/late.rs", "one/src/plain/lost.rs", "one/tests/it/quotas.rs"];
    orphans.iter().for_each(|orphan| write(orphan, "// mod quotas; is written in no other file\n"));
    assert_eq!(orphans_in(folder.path()), orphans.map(PathBuf::from));
}

/// The files of source below this folder that no crate reaches, in order.
fn orphans_in(root: &Path) -> Vec<PathBuf> {
    let (mut sources, mut manifests) = (BTreeSet::new(), Vec::new());
    walk(root, &mut |file| {
        if file.extension().is_some_and(|extension| extension == "rs") {
            sources.insert(file);
        } else if file.file_name().is_some_and(|name| name == "Cargo.toml") {
            manifests.push(file);
        }
    });
    let crate_roots: Vec<_> = manifests.iter().flat_map(|manifest| crate_roots(manifest, &sources)).collect();
    for crate_root in crate_roots {
        let folder = crate_root.parent().unwrap().to_owned();
        leave_out_reached(Module { file: crate_root, folder }, &mut sources);
    }
    sources.iter().map(|orphan| orphan.strip_prefix(root).unwrap().to_owned()).collect()
}

fn walk(folder: &Path, found: &mut impl FnMut(PathBuf)) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && !is_skipped(&entry.path()) => walk(&entry.path(), found),
            kind if kind.is_file() => found(entry.path()),
            _ => {}
        }
    }
}

/// Where cargo begins to compile a package: the paths that it knows by itself, and those that the manifest names.
fn crate_roots(manifest: &Path, sources: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let package = manifest.parent().unwrap();
    let text: toml::Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
    if !text.contains_key("package") {
        return Vec::new();
    }
    let named = ["lib", "bin", "test", "bench", "example"].into_iter().filter_map(|kind| text.get(kind));
    let named =
        named.flat_map(|targets| targets.as_array().cloned().unwrap_or_else(|| vec![targets.clone()]));
    let named: Vec<_> =
        named.filter_map(|target| Some(package.join(target.get("path")?.as_str()?))).collect();
    let is_root =
        |file: &&PathBuf| named.contains(file) || file.strip_prefix(package).is_ok_and(is_root_by_its_path);
    sources.iter().filter(is_root).cloned().collect()
}

fn is_root_by_its_path(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    matches!(
        &parts.iter().map(AsRef::as_ref).collect::<Vec<&str>>()[..],
        ["build.rs"]
            | ["src", "lib.rs" | "main.rs"]
            | ["src", "bin", _]
            | ["src", "bin", _, "main.rs"]
            | ["tests" | "benches" | "examples", _]
            | ["tests" | "benches" | "examples", _, "main.rs"]
    )
}

struct Module {
    file: PathBuf,
    /// Where the files of its modules are.
    folder: PathBuf,
}

fn leave_out_reached(module: Module, sources: &mut BTreeSet<PathBuf>) {
    if !sources.remove(&module.file) {
        return;
    }
    let text = fs::read_to_string(&module.file).unwrap();
    let tokens: TokenStream =
        text.parse().unwrap_or_else(|error| panic!("{}: {error}", module.file.display()));
    let mut declared = Vec::new();
    take_declared(tokens, module.file.parent().unwrap(), &module.folder, &mut declared);
    declared.into_iter().for_each(|declared| leave_out_reached(declared, sources));
}

/// The modules that a text declares to be in files of their own: in `folder`, or relative to `beside` where a `#[path]`
/// names the file.
fn take_declared(text: TokenStream, beside: &Path, folder: &Path, declared: &mut Vec<Module>) {
    let mut path = None;
    let mut tokens = text.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(attribute) if attribute.delimiter() == Delimiter::Bracket => {
                path = path_attribute(attribute.stream()).or(path);
            }
            TokenTree::Ident(word) if word == "mod" => {
                let Some(TokenTree::Ident(name)) =
                    tokens.next_if(|token| matches!(token, TokenTree::Ident(_)))
                else {
                    continue;
                };
                let name = name.to_string();
                let name = name.trim_start_matches("r#");
                match (tokens.next(), path.take()) {
                    (Some(TokenTree::Group(inline)), _) => {
                        let folder = folder.join(name);
                        take_declared(inline.stream(), &folder, &folder, declared);
                    }
                    (_, Some(path)) => declared.push(at_path(beside.join(path))),
                    (_, None) => declared.push(by_name(folder, name)),
                }
            }
            TokenTree::Punct(end) if end.as_char() == ';' => path = None,
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => path = None,
            _ => {}
        }
    }
}

/// A file that is named by its path has its modules beside it, as `mod.rs` does.
fn at_path(file: PathBuf) -> Module {
    Module { folder: file.parent().unwrap().to_owned(), file }
}

fn by_name(folder: &Path, name: &str) -> Module {
    let own_folder = folder.join(name);
    let in_own_folder = own_folder.join("mod.rs");
    if in_own_folder.is_file() {
        return at_path(in_own_folder);
    }
    Module { file: folder.join(name).with_extension("rs"), folder: own_folder }
}

/// The text of `path = "…"`.
fn path_attribute(attribute: TokenStream) -> Option<PathBuf> {
    let mut tokens = attribute.into_iter();
    match (tokens.next()?, tokens.next()?, tokens.next()?) {
        (TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(path)) if name == "path" => {
            Some(path.to_string().trim_matches('"').into())
        }
        _ => None,
    }
}

#[test]
fn every_exception_from_an_advisory_has_a_date_and_a_reason() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let deny: toml::Table = fs::read_to_string(workspace.join("deny.toml")).unwrap().parse().unwrap();
    for exception in deny["advisories"]["ignore"].as_array().unwrap() {
        let reason = exception["reason"].as_str().unwrap();
        let (date, reason) = reason.split_once(": ").expect("a date and a colon");
        let is_date = date.len() == 10 && date.split('-').all(|part| part.parse::<u16>().is_ok());
        assert!(is_date && !reason.is_empty(), "{exception}");
    }
}
