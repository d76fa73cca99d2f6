//! Every source file belongs to a crate. A file without a `mod` is never compiled, and its tests never run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{files_in, has_extension, workspace, write};

#[test]
fn every_file_of_source_is_compiled() {
    assert_eq!(
        orphans_in(workspace()),
        Vec::<PathBuf>::new(),
        "no crate reaches these files: add their `mod`"
    );
}

#[test]
fn a_file_that_no_crate_reaches_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(folder.path(), path, text);
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

/// The source files below this folder that no crate reaches, in order.
fn orphans_in(root: &Path) -> Vec<PathBuf> {
    let mut orphans: BTreeSet<_> =
        files_in(root).into_iter().filter(|file| has_extension(file, "rs")).collect();
    for module in crates_in(root).iter().flatten() {
        orphans.remove(&module.file);
    }
    orphans.iter().map(|orphan| orphan.strip_prefix(root).unwrap().to_owned()).collect()
}

/// The modules of every crate below this folder. The first of each crate is its root.
pub fn crates_in(root: &Path) -> Vec<Vec<Module>> {
    let files = files_in(root);
    let sources: BTreeSet<_> = files.iter().filter(|file| has_extension(file, "rs")).cloned().collect();
    let manifests = files.iter().filter(|file| file.ends_with("Cargo.toml"));
    let crate_roots = manifests.flat_map(|manifest| crate_roots(manifest, &sources));
    let modules = crate_roots.map(|file| {
        let mut reached = BTreeSet::new();
        let mut modules = Vec::new();
        let root =
            Module { folder: file.parent().unwrap().to_owned(), file, path: Vec::new(), is_test: false };
        take_reached(root, &sources, &mut reached, &mut modules);
        modules
    });
    modules.collect()
}

/// The crate roots of a package: Cargo's default paths, and those that the manifest names.
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

#[derive(Debug)]
pub struct Module {
    pub file: PathBuf,
    /// Its path in the crate. The root's is empty.
    pub path: Vec<String>,
    /// It is compiled for tests only.
    pub is_test: bool,
    /// The folder of its submodules.
    folder: PathBuf,
}

fn take_reached(
    module: Module,
    sources: &BTreeSet<PathBuf>,
    reached: &mut BTreeSet<PathBuf>,
    modules: &mut Vec<Module>,
) {
    if !sources.contains(&module.file) || !reached.insert(module.file.clone()) {
        return;
    }
    let mut declared = Vec::new();
    take_declared(tokens_of(&module.file), module.file.parent().unwrap(), &module, &mut declared);
    modules.push(module);
    declared.into_iter().for_each(|declared| take_reached(declared, sources, reached, modules));
}

pub fn tokens_of(file: &Path) -> TokenStream {
    let text = fs::read_to_string(file).unwrap();
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The file modules that the text of `parent` declares: in the parent's folder, or relative to `beside` for a
/// `#[path]`.
fn take_declared(text: TokenStream, beside: &Path, parent: &Module, declared: &mut Vec<Module>) {
    let (mut path, mut is_test) = (None, parent.is_test);
    let mut tokens = text.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(attribute) if attribute.delimiter() == Delimiter::Bracket => {
                is_test |= is_test_attribute(&attribute.stream());
                path = path_attribute(attribute.stream()).or(path);
            }
            TokenTree::Ident(word) if word == "mod" => {
                let Some(TokenTree::Ident(name)) =
                    tokens.next_if(|token| matches!(token, TokenTree::Ident(_)))
                else {
                    continue;
                };
                let name = name.to_string();
                let module = Module { is_test, ..by_name(parent, name.trim_start_matches("r#")) };
                match (tokens.next(), path.take()) {
                    (Some(TokenTree::Group(inline)), _) => {
                        take_declared(inline.stream(), &module.folder.clone(), &module, declared);
                    }
                    (_, Some(path)) => {
                        declared.push(Module { path: module.path, is_test, ..at_path(beside.join(path)) })
                    }
                    (_, None) => declared.push(with_its_file(module)),
                }
                is_test = parent.is_test;
            }
            TokenTree::Punct(end) if end.as_char() == ';' => (path, is_test) = (None, parent.is_test),
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
                (path, is_test) = (None, parent.is_test);
            }
            _ => {}
        }
    }
}

/// A file with a `#[path]` has its submodules next to it, as `mod.rs` does.
fn at_path(file: PathBuf) -> Module {
    Module { folder: file.parent().unwrap().to_owned(), file, path: Vec::new(), is_test: false }
}

fn by_name(parent: &Module, name: &str) -> Module {
    let path = parent.path.iter().cloned().chain([name.to_owned()]).collect();
    Module { folder: parent.folder.join(name), file: parent.file.clone(), path, is_test: false }
}

fn with_its_file(module: Module) -> Module {
    let in_own_folder = module.folder.join("mod.rs");
    if in_own_folder.is_file() {
        return Module { path: module.path, is_test: module.is_test, ..at_path(in_own_folder) };
    }
    Module { file: module.folder.with_extension("rs"), ..module }
}

/// `cfg(test)` and `cfg(all(test, …))`.
pub fn is_test_attribute(attribute: &TokenStream) -> bool {
    let text: String = attribute.to_string().split_whitespace().collect();
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
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
