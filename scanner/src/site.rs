//! Combines files to pages. Each file is read once. A page is a document with the files that it shows in
//! frames, runs as scripts or fetches by scripts. Linked pages are separate pages and do not affect it.

mod address;

use std::cell::{Cell, OnceCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ScannedFile;
use crate::budget::Budget;
use crate::document::{self, Kind, Source};
use crate::page::{self, Around, Flow, Part, Reading, Reveals};
use crate::script::{Bound, Files};
use crate::style::{self, Canvas};

/// The total size of linked style sheets, each counted for every page that links it. Further ones are left
/// out.
const SHEETS_BYTES_MAX: usize = 16 << 20;
/// The range in which a whole document is recognized.
const HEAD_CHARS: usize = 1_000;
/// The file with the redirects of a site.
const REDIRECTS: &str = "_redirects";
/// The number of files of one page. A version has fewer.
const FILES_OF_A_PAGE_MAX: usize = 64;

pub(crate) struct Site<'a> {
    paths: HashMap<&'a str, usize>,
    sources: Vec<Source<'a>>,
    files: &'a [ScannedFile<'a>],
    sheet_bytes: Cell<usize>,
    /// The numbers of the style sheets that each one imports, computed on first use.
    imports: Vec<OnceCell<Vec<usize>>>,
    /// The data that its pages show. Scripts in separate files may contain it.
    bound: Bound,
    /// The files that its scripts may fetch.
    texts: Rc<Files>,
    /// The reading of each file, by number. Computed on first use, because binary files are read only if they
    /// are fetched.
    readings: Vec<OnceCell<Reading>>,
    budget: &'a Budget<'a>,
}

/// A page with everything that is on it.
pub(crate) struct Page<'s> {
    pub(crate) parts: Vec<&'s Part>,
    pub(crate) reveals: Reveals,
    pub(crate) flow: Flow,
    /// The file of its document. `None` for a script without a document.
    pub(crate) root: Option<usize>,
}

impl<'a> Site<'a> {
    pub(crate) fn read(files: &'a [ScannedFile<'a>], budget: &'a Budget<'a>) -> Self {
        let paths = files.iter().enumerate().map(|(number, file)| (file.path, number)).collect();
        let sources: Vec<_> =
            files.iter().map(|file| document::read(file.content_type, file.bytes)).collect();
        let mut bound = Bound::default();
        let binding = sources.iter().filter(|source| may_bind(source.kind));
        binding.for_each(|source| bound.join(&Bound::of(&source.text)));
        let texts = Rc::new(fetchable(files, &sources));
        Self {
            paths,
            bound: bound.beside(&texts),
            sources,
            files,
            sheet_bytes: Cell::new(0),
            imports: files.iter().map(|_| OnceCell::new()).collect(),
            texts,
            readings: files.iter().map(|_| OnceCell::new()).collect(),
            budget,
        }
    }

    /// Files that are served as text and contain NUL bytes. Their meaning depends on the reader.
    pub(crate) fn unclear_files(&self) -> impl Iterator<Item = usize> {
        let is_unclear = |source: &Source<'_>| source.kind != Kind::Binary && source.text.contains('\0');
        (0..self.files.len()).filter(move |file| is_unclear(&self.sources[*file]))
    }

    /// The file with redirects, if one of them leads to another site.
    pub(crate) fn redirecting_file(&self) -> Option<usize> {
        let file = *self.paths.get(REDIRECTS)?;
        let leads_away = Flow::redirects_elsewhere(&document::decoded(self.files[file].bytes));
        leads_away.then_some(file)
    }

    /// Every document of the site with its files. A script that no document runs is a page of its own.
    pub(crate) fn pages(&self) -> impl Iterator<Item = Page<'_>> {
        let numbers = 0..self.files.len();
        let mut roots: Vec<usize> =
            numbers.clone().filter(|file| self.sources[*file].is_document()).collect();
        // If the budget does not suffice for all, the front page and short pages come first.
        roots.sort_by_key(|root| (self.files[*root].path != "index.html", self.files[*root].bytes.len()));
        let is_script = |file: &usize| self.sources[*file].kind == Kind::Script;
        let alone = numbers.filter(is_script).filter(|_| !roots.is_empty()).collect::<Vec<_>>();
        let mut shown = HashSet::new();
        let roots =
            roots.into_iter().map(|root| (root, true)).chain(alone.into_iter().map(|file| (file, false)));
        roots.filter_map(move |(file, is_document)| {
            let files = match is_document {
                true => self.together(file),
                false => vec![file],
            };
            let is_new = files.iter().filter(|file| shown.insert(**file)).count() > 0;
            (is_document || is_new).then(|| self.page(&files, is_document))
        })
    }

    fn page(&self, files: &[usize], is_document: bool) -> Page<'_> {
        let root = files.first().copied().filter(|_| is_document);
        let mut page = Page { parts: Vec::new(), reveals: Reveals::default(), flow: Flow::default(), root };
        for reading in files.iter().map(|file| self.reading(*file)) {
            page.parts.extend(&reading.parts);
            page.reveals.join(reading.reveals);
            page.flow.join(reading.flow);
        }
        page
    }

    /// A file and all files that it uses directly or indirectly, each once.
    fn together(&self, root: usize) -> Vec<usize> {
        let mut files = vec![root];
        let mut next = 0;
        while next < files.len() && files.len() < FILES_OF_A_PAGE_MAX {
            for address in &self.reading(files[next]).embedded {
                // A script's own imports are relative to it. What it fetches is relative to the page.
                for file in [files[next], root].into_iter().filter_map(|from| self.find(from, address)) {
                    if !files.contains(&file) {
                        files.push(file);
                    }
                }
            }
            next += 1;
        }
        files
    }

    fn reading(&self, file: usize) -> &Reading {
        self.readings[file].get_or_init(|| {
            let source = &self.sources[file];
            if source.kind == Kind::Binary && source.looks_like.is_none() {
                let text = document::decoded(self.files[file].bytes);
                return self.reading_of(file, Kind::Text, &text);
            }
            let mut reading = Reading::default();
            for text in [Some(&*source.text), source.as_declared.as_deref()].into_iter().flatten() {
                source.kinds().for_each(|kind| reading.join(self.reading_of(file, kind, text)));
            }
            reading
        })
    }

    fn reading_of(&self, file: usize, kind: Kind, text: &str) -> Reading {
        let sheets = |address: &str| self.sheet(file, address);
        let is_for_all = matches!(kind, Kind::Script | Kind::Json);
        let own = if is_for_all { Bound::default() } else { Bound::of(text).beside(&self.texts) };
        let bound = if is_for_all { &self.bound } else { &own };
        let around = Around { file, sheets: &sheets, bound, budget: self.budget };
        let canvas = match kind {
            Kind::Html => canvas_of(text),
            Kind::Xml => Canvas::White,
            // By itself it is shown as plain text. A script that fetches it may render it as a page.
            _ => Canvas::Unknown,
        };
        let parse = if kind == Kind::Xml { document::parse_xml } else { document::parse_html };
        let read_document = || Some(page::read(&around.parse(text, parse)?, canvas, around));
        let reading = match kind {
            Kind::Html | Kind::Xml => read_document(),
            Kind::Text | Kind::Style if text.contains('<') => read_document(),
            Kind::Text | Kind::Style => Some(page::read_text(text, around)),
            Kind::Script => page::read_source(text, around),
            Kind::Json => page::read_json(text, around),
            Kind::Binary => None,
        };
        reading.unwrap_or_default()
    }

    /// The style sheet at an address and the sheets that it imports. Sheets that import each other are read
    /// once.
    fn sheet(&self, from: usize, address: &str) -> Vec<&str> {
        let mut sheets: Vec<usize> = self.find(from, address).into_iter().collect();
        let mut next = 0;
        while next < sheets.len() && sheets.len() < FILES_OF_A_PAGE_MAX {
            for file in self.imported_by(sheets[next]) {
                if !sheets.contains(file) {
                    sheets.push(*file);
                }
            }
            next += 1;
        }
        // Imported sheets come before the sheet that imports them.
        let styles = sheets.into_iter().rev().filter(|file| self.sources[*file].kind == Kind::Style);
        styles.map(|file| &*self.sources[file].text).take_while(|text| self.has_budget_for(text)).collect()
    }

    fn imported_by(&self, sheet: usize) -> &[usize] {
        self.imports[sheet].get_or_init(|| {
            let addresses = style::imports(&self.sources[sheet].text);
            addresses.iter().filter_map(|address| self.find(sheet, address)).collect()
        })
    }

    fn has_budget_for(&self, sheet: &str) -> bool {
        self.sheet_bytes.set(self.sheet_bytes.get().saturating_add(sheet.len()));
        self.sheet_bytes.get() <= SHEETS_BYTES_MAX
    }

    /// The file for an address on a page, resolved as the edge does for a site without rewrites.
    fn find(&self, from: usize, address: &str) -> Option<usize> {
        let path = address::resolve(self.files[from].path, address)?;
        address::candidates(&path).iter().find_map(|path| self.paths.get(path.as_str()).copied())
    }
}

/// The texts that the site's scripts may fetch. Files that are served as text come first, because the size is
/// limited.
fn fetchable(files: &[ScannedFile<'_>], sources: &[Source<'_>]) -> Files {
    let mut texts = Files::default();
    for (file, source) in files.iter().zip(sources) {
        if matches!(source.kind, Kind::Json | Kind::Text | Kind::Style) {
            texts.add(file.path, &source.text);
        }
    }
    for (file, source) in files.iter().zip(sources) {
        if source.kind == Kind::Binary && file.bytes.len() <= texts.bytes_left() {
            texts.add(file.path, &document::decoded(file.bytes));
        }
    }
    texts
}

/// Whether a file may contain a template.
fn may_bind(kind: Kind) -> bool {
    matches!(kind, Kind::Html | Kind::Xml | Kind::Text | Kind::Script)
}

/// A whole document has a white background. A fragment may be inserted anywhere.
fn canvas_of(text: &str) -> Canvas {
    let head: String = text.chars().take(HEAD_CHARS).collect::<String>().to_ascii_lowercase();
    let is_whole = ["<!doctype", "<html", "<head", "<body"].iter().any(|mark| head.contains(mark));
    if is_whole { Canvas::White } else { Canvas::Unknown }
}
