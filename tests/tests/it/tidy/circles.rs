//! Inside a crate the modules form layers: no top module imports another that imports it, directly or through others.
//! Code for tests may import anything.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::path::Path;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::modules::{Module, crates_in, is_test_attribute, tokens_of};
use super::{name_of, workspace, write};

type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_top_modules_of_a_crate_import_each_other() {
    let mut circles = circles_in(workspace());
    circles.retain(|(_, modules)| !modules.is_empty());
    assert!(circles.is_empty(), "these modules import each other: {circles:#?}");
}

#[test]
fn a_circle_of_imports_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(folder.path(), path, text);
    write("one/Cargo.toml", "[package]\nname = \"one\"");
    write(
        "one/src/lib.rs",
        "mod a; mod b; mod c; mod d; mod e; mod low; #[cfg(test)] mod tests; pub use c::{Thing, deep::Other as Last};",
    );
    write("one/src/a.rs", "mod inner; fn f() { crate::b::g::<crate::low::X>() }");
    write("one/src/a/inner.rs", "use super::Own; use super::super::low;");
    write("one/src/b.rs", "use crate::{Last, low::{self, Y}};");
    write("one/src/c.rs", "mod deep { use super::super::a::f; }");
    write("one/src/d.rs", "use crate::e; use crate::a;");
    write(
        "one/src/e.rs",
        "#[cfg(test)] mod tests { use crate::d; } #[cfg(test)] use crate::d; pub(crate) fn x() {}",
    );
    write("one/src/low.rs", "use std::fmt; use self::own::Z; mod own { use super::X; }");
    write("one/src/tests.rs", "use crate::a; use crate::low::X;");
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(circles_in(folder.path()), [("one/src/lib.rs".to_owned(), names(&["a", "b", "c"]))]);
}

/// The crates, by their root, and which of their top modules are in a circle.
fn circles_in(root: &Path) -> Vec<(String, BTreeSet<String>)> {
    let crates = crates_in(root).into_iter().filter(|modules| !modules.is_empty());
    crates.map(|modules| (name_of(root, &modules[0].file), in_circles(&imports_of(&modules)))).collect()
}

fn in_circles(imports: &Imports) -> BTreeSet<String> {
    let is_in_circle = |module: &&String| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![module.as_str()]);
        while let Some(importer) = next.pop() {
            let imported = imports.get(importer).into_iter().flatten();
            next.extend(imported.map(String::as_str).filter(|imported| reached.insert(*imported)));
        }
        reached.contains(module.as_str())
    };
    imports.keys().filter(is_in_circle).cloned().collect()
}

/// Which top modules each top module imports. A name that the crate's root imports counts as its module's.
fn imports_of(modules: &[Module]) -> Imports {
    let tops: BTreeSet<_> = modules.iter().filter_map(|module| module.path.first()).cloned().collect();
    let mut paths = Vec::new();
    if let Some(root) = modules.first() {
        take_paths(tokens_of(&root.file), &[], &mut paths);
    }
    let of_root: BTreeMap<String, String> = paths
        .into_iter()
        .filter(|path| {
            path.importer.is_empty()
                && path.is_import
                && path.target.len() > 1
                && tops.contains(&path.target[0])
        })
        .map(|path| (path.name, path.target[0].clone()))
        .collect();
    let mut imports = Imports::new();
    for module in modules.iter().filter(|module| !module.is_test && !module.path.is_empty()) {
        let mut paths = Vec::new();
        take_paths(tokens_of(&module.file), &module.path, &mut paths);
        for path in paths.iter().filter(|path| path.is_absolute) {
            let Some(first) = path.target.first() else { continue };
            let top = if tops.contains(first) { Some(first) } else { of_root.get(first) };
            if let Some(top) = top.filter(|top| **top != module.path[0]) {
                imports.entry(module.path[0].clone()).or_default().insert(top.clone());
            }
        }
    }
    imports
}

/// A path in the source, resolved from the crate's root where it begins with `crate`, `super` or `self`.
struct ImportScan {
    importer: Vec<String>,
    target: Vec<String>,
    /// What it is called where it is imported.
    name: String,
    is_import: bool,
    is_absolute: bool,
}

/// All paths of a text that are imported, or that begin with `crate`, `super` or `self`; without those for tests.
fn take_paths(text: TokenStream, module: &[String], found: &mut Vec<ImportScan>) {
    let mut tokens = text.into_iter().peekable();
    let mut is_test = false;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                is_test |= is_test_attribute(&group.stream());
                take_paths(group.stream(), module, found);
            }
            TokenTree::Group(group) => {
                let is_body = group.delimiter() == Delimiter::Brace;
                if !(is_test && is_body) {
                    take_paths(group.stream(), module, found);
                }
                is_test &= !is_body;
            }
            TokenTree::Punct(end) if end.as_char() == ';' => is_test = false,
            TokenTree::Ident(word) if word == "mod" => {
                let Some(TokenTree::Ident(name)) =
                    tokens.next_if(|token| matches!(token, TokenTree::Ident(_)))
                else {
                    continue;
                };
                if let Some(TokenTree::Group(inline)) =
                    tokens.next_if(|token| matches!(token, TokenTree::Group(_)))
                {
                    let inner: Vec<_> = module.iter().cloned().chain([name.to_string()]).collect();
                    if !is_test {
                        take_paths(inline.stream(), &inner, found);
                    }
                    is_test = false;
                }
            }
            TokenTree::Ident(word) if word == "use" => {
                let mut tree = Vec::new();
                take_tree(&mut tokens, &[], &mut tree);
                found.extend(tree.into_iter().filter(|_| !is_test).map(|path| resolved(path, module, true)));
            }
            TokenTree::Ident(word) if word == "crate" || word == "super" || word == "self" => {
                if !matches!(tokens.peek(), Some(TokenTree::Punct(colon)) if colon.as_char() == ':') {
                    continue;
                }
                let mut tree = Vec::new();
                take_tree(&mut tokens, &[word.to_string()], &mut tree);
                found.extend(tree.into_iter().filter(|_| !is_test).map(|path| resolved(path, module, false)));
            }
            _ => {}
        }
    }
}

/// The paths of what follows an import's `use`, or the first word of a path: `a::{b, c::d as e}` has two.
fn take_tree(tokens: &mut Peekable<IntoIter>, before: &[String], paths: &mut Vec<Vec<String>>) {
    let mut path = before.to_vec();
    let mut is_after_word = false;
    loop {
        match tokens.peek() {
            Some(TokenTree::Punct(colon)) if colon.as_char() == ':' => is_after_word = false,
            Some(TokenTree::Ident(word)) if !is_after_word || word == "as" => {
                if word == "as" {
                    path.push("as".to_owned());
                } else {
                    path.push(word.to_string().trim_start_matches("r#").to_owned());
                }
                is_after_word = word != "as";
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace && !is_after_word => {
                let mut inner = group.stream().into_iter().peekable();
                while inner.peek().is_some() {
                    take_tree(&mut inner, &path, paths);
                    inner.next();
                }
                tokens.next();
                return;
            }
            _ => break,
        }
        tokens.next();
    }
    paths.push(path);
}

fn resolved(mut path: Vec<String>, module: &[String], is_import: bool) -> ImportScan {
    let alias = path.iter().position(|part| part == "as");
    let name = path.last().cloned().unwrap_or_default();
    path.truncate(alias.unwrap_or(path.len()));
    let mut base = module.to_vec();
    let mut is_absolute = true;
    let parents =
        path.iter().take_while(|part| *part == "super" || *part == "self" || *part == "crate").count();
    for part in path.drain(..parents).collect::<Vec<_>>() {
        match part.as_str() {
            "crate" => base.clear(),
            "super" => drop(base.pop()),
            _ => {}
        }
    }
    if parents == 0 {
        is_absolute = false;
    }
    base.extend(path);
    ImportScan { importer: module.to_vec(), target: base, name, is_import, is_absolute }
}
