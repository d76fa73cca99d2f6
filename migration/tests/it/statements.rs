//! The SQL that a change consists of, as it stands in its source.

use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

/// A text that begins with one of these is SQL.
const VERBS: &str = "ALTER ANALYZE CALL CLUSTER COMMENT COPY CREATE DELETE DO DROP GRANT INSERT LOCK MERGE PRAGMA \
    REFRESH REINDEX REPLACE REVOKE SELECT SET TRUNCATE UPDATE VACUUM WITH";

/// One change of the schema.
pub struct Change {
    pub name: String,
    /// Each on one line, without comments.
    pub statements: Vec<String>,
    /// The words of its Rust that are no text.
    pub words: Vec<String>,
}

/// Every change, in order.
pub fn changes() -> Vec<Change> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.retain(|path| name_of(path).starts_with('m') && path.extension().is_some_and(|end| end == "rs"));
    sources.sort();
    sources.iter().map(|path| change(path)).collect()
}

fn change(source: &Path) -> Change {
    let mut read = Read::default();
    read.walk(std::fs::read_to_string(source).unwrap().parse().unwrap());
    // The text beside it, if it has one.
    if let Ok(text) = std::fs::read_to_string(source.with_extension("sql")) {
        read.texts.push(text);
    }
    let statements = read.texts.iter().flat_map(|text| statements_in(text)).collect();
    Change { name: name_of(source), statements, words: read.words }
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

#[derive(Default)]
struct Read {
    texts: Vec<String>,
    words: Vec<String>,
}

impl Read {
    fn walk(&mut self, tokens: TokenStream) {
        let mut is_attribute = false;
        for token in tokens {
            let was_attribute = std::mem::take(&mut is_attribute);
            match token {
                // What documentation says is no SQL.
                TokenTree::Group(_) if was_attribute => {}
                TokenTree::Group(group) => self.walk(group.stream()),
                TokenTree::Punct(punct) => {
                    is_attribute = punct.as_char() == '#' || (punct.as_char() == '!' && was_attribute);
                }
                TokenTree::Ident(word) => self.words.push(word.to_string()),
                TokenTree::Literal(literal) => {
                    let text = syn::parse_str::<syn::LitStr>(&literal.to_string());
                    self.texts.extend(text.map(|text| text.value()));
                }
            }
        }
    }
}

/// None, if the text is no SQL.
fn statements_in(text: &str) -> Vec<String> {
    let without_comments: Vec<_> =
        text.lines().map(|line| line.split_once("--").map_or(line, |(before, _)| before)).collect();
    let statements = without_comments.join(" ");
    let statements = statements.split(';').map(|one| one.split_whitespace().collect::<Vec<_>>().join(" "));
    statements.filter(|one| is_sql(one)).collect()
}

fn is_sql(text: &str) -> bool {
    let first = text.split(' ').next();
    VERBS.split_whitespace().any(|verb| Some(verb) == first)
}

#[test]
fn sql_is_extracted_from_all_string_literals_but_not_from_comments() {
    let source = r##"
        //! DROP TABLE said;
        /// ALTER TABLE said;
        const SQL: &str = "
            CREATE TABLE a ( -- one; two
                id TEXT
            );
            INSERT INTO a VALUES (1);";
        // "DROP TABLE said"
        fn up() { run(&format!(r#"DROP TABLE "{name}""#), 'x', "versions (id)") }
    "##;
    let mut read = Read::default();
    read.walk(source.parse().unwrap());
    let statements: Vec<_> = read.texts.iter().flat_map(|text| statements_in(text)).collect();
    assert_eq!(
        statements,
        ["CREATE TABLE a ( id TEXT )", "INSERT INTO a VALUES (1)", "DROP TABLE \"{name}\""]
    );
    assert!(read.words.contains(&"format".to_owned()));
}
