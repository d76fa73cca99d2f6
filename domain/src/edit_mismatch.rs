//! An edit of a text file whose old text does not occur exactly once.

use serde::{Deserialize, Serialize};

/// Why an edit does not apply, and which lines it may have meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditMismatch {
    /// The position of the edit in its request, from 0.
    pub edit: usize,
    pub path: String,
    /// How often the old text occurs.
    pub hits: usize,
    /// The lines of the first hits. Without a hit, the lines that are most similar to the old text.
    pub nearest: Vec<NearestLine>,
}

/// A line of the file. A long one is cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearestLine {
    /// Counted from 1.
    pub line: usize,
    pub text: String,
}

impl EditMismatch {
    pub(crate) fn message(&self) -> String {
        let Self { edit, path, hits, .. } = self;
        let occurs = match hits {
            0 => "does not occur".to_owned(),
            hits => format!("occurs {hits} times"),
        };
        format!("edits[{edit}].old: {occurs} in {path:?}; it must occur exactly once. Nothing was published")
    }
}
