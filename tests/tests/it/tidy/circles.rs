//! Inside a crate the modules form layers: no top module imports another that imports it, directly or
//! indirectly. The same holds for the children of the modules in `LAYERED`. Test code may import anything.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::path::Path;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::modules::{Module, crates_in, is_test_attribute, tokens_of};
use super::{name_of, workspace, write};

/// Modules whose children form layers as well, each with the root of its crate.
const LAYERED: &[(&str, &str)] = &[("scanner/src/lib.rs", "script")];

type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_top_modules_of_a_crate_import_each_other() {
    let mut circles = circles_in(workspace());
    circles.retain(|(_, modules)| !modules.is_empty());
    assert!(circles.is_empty(), "these modules import each other: {circles:#?}");
}

#[test]
fn import_cycle_is_found() {
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

#[test]
fn no_children_of_a_layered_module_import_each_other() {
    let crates = crates_in(workspace());
    for (root, layered) in LAYERED {
        let modules = crates
            .iter()
            .find(|modules| modules.first().is_some_and(|first| name_of(workspace(), &first.file) == *root));
        let parent = [(*layered).to_owned()];
        let imports = imports_between(modules.unwrap(), &parent);
        assert!(!imports.is_empty(), "{root} has no module {layered} with children");
        assert_eq!(in_circles(&imports), BTreeSet::new(), "these modules of {layered} import each other");
    }
}

#[test]
fn import_cycle_below_a_module_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(folder.path(), path, text);
    write("one/Cargo.toml", "[package]\nname = \"one\"");
    write("one/src/lib.rs", "mod up; mod other;");
    write("one/src/other.rs", "use crate::up::a;");
    write("one/src/up.rs", "mod a; mod b; mod c; pub use b::Thing;");
    write("one/src/up/a.rs", "use super::Thing; use crate::other;");
    write("one/src/up/b.rs", "mod inner;");
    write("one/src/up/b/inner.rs", "use crate::up::a::X;");
    write("one/src/up/c.rs", "use super::a::X;");
    let crates = crates_in(folder.path());
    let in_circle = in_circles(&imports_between(&crates[0], &["up".to_owned()]));
    assert_eq!(in_circle, ["a", "b"].map(str::to_owned).into());
}

/// The crates, by their root, with their top modules that are in a circle.
fn circles_in(root: &Path) -> Vec<(String, BTreeSet<String>)> {
    let crates = crates_in(root).into_iter().filter(|modules| !modules.is_empty());
    crates
        .map(|modules| (name_of(root, &modules[0].file), in_circles(&imports_between(&modules, &[]))))
        .collect()
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

/// Which children of `parent` each of its children imports. A name that `parent` imports from a child counts
/// as an import of that child. For a crate's top modules `parent` is empty.
fn imports_between(modules: &[Module], parent: &[String]) -> Imports {
    let child_in = |path: &[String]| path.strip_prefix(parent).and_then(<[String]>::first).cloned();
    let children: BTreeSet<_> = modules.iter().filter_map(|module| child_in(&module.path)).collect();
    let mut paths = Vec::new();
    if let Some(module) = modules.iter().find(|module| module.path == parent) {
        take_paths(tokens_of(&module.file), parent, &mut paths);
    }
    let of_parent: BTreeMap<String, String> = paths
        .into_iter()
        .filter(|path| path.importer == parent && path.is_import && path.target.len() > parent.len() + 1)
        .filter_map(|path| {
            Some((path.name, child_in(&path.target).filter(|child| children.contains(child))?))
        })
        .collect();
    let mut imports = Imports::new();
    for module in modules.iter().filter(|module| !module.is_test) {
        let Some(importer) = child_in(&module.path) else { continue };
        let mut paths = Vec::new();
        take_paths(tokens_of(&module.file), &module.path, &mut paths);
        for path in paths.iter().filter(|path| path.is_absolute) {
            let Some(first) = child_in(&path.target) else { continue };
            let child = if children.contains(&first) { Some(&first) } else { of_parent.get(&first) };
            if let Some(child) = child.filter(|child| **child != importer) {
                imports.entry(importer.clone()).or_default().insert(child.clone());
            }
        }
    }
    imports
}

/// A path in the source, resolved from the crate's root if it begins with `crate`, `super` or `self`.
struct ImportScan {
    importer: Vec<String>,
    target: Vec<String>,
    /// Its name in the importing module.
    name: String,
    is_import: bool,
    is_absolute: bool,
}

/// All paths of a text that are imported, or that begin with `crate`, `super` or `self`, except those of
/// tests.
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

/// The paths of an import after `use`, or of an expression after its first word: `a::{b, c::d as e}` has two.
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
