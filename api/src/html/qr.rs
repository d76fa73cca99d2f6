//! QR codes as drawings in a page.

use std::fmt::Write;

use qrcode::{Color, QrCode};

/// The light margin that scanners need, in modules.
const MARGIN: usize = 4;

/// A QR code as the path of an SVG drawing, in which a module is one unit wide.
#[derive(Clone, Debug)]
pub struct QrDrawing {
    /// The width and height, with the margin.
    pub size: usize,
    /// The dark modules.
    pub path: String,
}

impl QrDrawing {
    /// `None` if the text is too long for a QR code.
    pub fn of(text: &str) -> Option<Self> {
        let code = QrCode::new(text).ok()?;
        let modules = code.to_colors();
        let mut path = String::new();
        for (row, modules) in modules.chunks(code.width()).enumerate() {
            draw_row(&mut path, row + MARGIN, modules);
        }
        Some(Self { size: code.width() + 2 * MARGIN, path })
    }
}

/// Draws each run of dark modules as one rectangle.
fn draw_row(path: &mut String, row: usize, modules: &[Color]) {
    let mut column = MARGIN;
    for run in modules.chunk_by(|one, next| one == next) {
        let width = run.len();
        if run.first() == Some(&Color::Dark) {
            // Writing to a string cannot fail.
            let _ = write!(path, "M{column} {row}h{width}v1h-{width}z");
        }
        column += width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modules that a path draws, row by row.
    fn drawn(drawing: &QrDrawing) -> Vec<Vec<bool>> {
        let mut modules = vec![vec![false; drawing.size]; drawing.size];
        for run in drawing.path.split_terminator('z') {
            let (at, rest) = run.strip_prefix('M').unwrap().split_once('h').unwrap();
            let (column, row) = at.split_once(' ').unwrap();
            let width: usize = rest.split_once('v').unwrap().0.parse().unwrap();
            let (column, row): (usize, usize) = (column.parse().unwrap(), row.parse().unwrap());
            modules[row][column..column + width].fill(true);
        }
        modules
    }

    #[test]
    fn drawing_has_every_dark_module_of_the_code_and_a_margin() {
        let url = "http://127.0.0.1:8081/site/my-page-a1b2/";
        let drawing = QrDrawing::of(url).unwrap();
        let code = QrCode::new(url).unwrap();
        assert_eq!(drawing.size, code.width() + 8);
        for (row, modules) in drawn(&drawing).iter().enumerate() {
            for (column, is_dark) in modules.iter().enumerate() {
                let inside = |at: usize| (MARGIN..MARGIN + code.width()).contains(&at);
                let expected =
                    inside(row) && inside(column) && code[(column - MARGIN, row - MARGIN)] == Color::Dark;
                assert_eq!(*is_dark, expected, "{column} {row}");
            }
        }
        assert!(QrDrawing::of(&"x".repeat(5_000)).is_none());
    }
}
