//! Honest pages of any size, with the usual parts: a head, a style sheet, prose, forms, images and a script
//! bundle.

use std::fmt::Write;

use domain::Chance;

/// Includes words that the rules know, in the context of honest pages.
const WORDS: [&str; 40] = [
    "the",
    "garden",
    "of",
    "a",
    "small",
    "house",
    "and",
    "its",
    "tools",
    "were",
    "kept",
    "in",
    "an",
    "open",
    "shed",
    "by",
    "the banks of the river",
    "where",
    "people",
    "come",
    "to",
    "read",
    "every",
    "morning",
    "account",
    "delivery",
    "order",
    "an apple tree",
    "a turn of phrase",
    "the key under the mat",
    "a private view",
    "library card",
    "for",
    "seed trays",
    "on",
    "Sunday",
    "market",
    "letters",
    "print",
    "news",
];

/// The percentages of a page's bytes for style, images and script. The rest is prose with forms.
const STYLE_PERCENT: usize = 10;
const PICTURES_PERCENT: usize = 15;
const SCRIPT_PERCENT: usize = 35;
/// The number of passages of prose before each form.
const PASSAGES_PER_FORM: usize = 6;

const END: &str = "</body></html>\n";

/// A unique page of about this size. It asks for nothing that the rules forbid.
pub fn honest(chance: &Chance, size_bytes: usize) -> String {
    let title = words(chance, 4);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title} {}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"description\" content=\"{}\">\n<style>\n",
        chance.base36(12),
        words(chance, 14)
    );
    grow(&mut page, size_bytes * STYLE_PERCENT / 100, |number| style_rule(chance, number));
    page.push_str(
        "</style>\n</head>\n<body class=\"page\">\n<header class=\"bar\"><nav><ul>\
         <li><a href=\"/\">Home</a></li><li><a href=\"/notes.html\">Notes</a></li><li><a href=\"#sign-in\">Sign in</a>\
         </li></ul><form role=\"search\"><input type=\"search\" name=\"q\" placeholder=\"Search\"></form></nav></header>\n",
    );
    let pictures_and_script = size_bytes * (PICTURES_PERCENT + SCRIPT_PERCENT) / 100;
    let prose = size_bytes.saturating_sub(page.len() + pictures_and_script + END.len());
    grow(&mut page, prose, |number| passage(chance, number));
    page.push_str("<figure><img alt=\"A view of the garden\" src=\"data:image/png;base64,");
    grow(&mut page, size_bytes * PICTURES_PERCENT / 100, |_| chance.alphanumeric(64));
    page.push_str("\"></figure>\n<script>\n\"use strict\";\n");
    let script = size_bytes.saturating_sub(page.len() + END.len());
    grow(&mut page, script, |number| script_line(chance, number));
    page.push_str("</script>\n");
    page + END
}

/// Appends numbered pieces until the page has grown by this many bytes.
fn grow(page: &mut String, bytes: usize, piece: impl Fn(usize) -> String) {
    let end = page.len() + bytes;
    let mut number = 0;
    while page.len() < end {
        page.push_str(&piece(number));
        number += 1;
    }
}

fn style_rule(chance: &Chance, number: usize) -> String {
    let name = chance.base36(5);
    match number % 4 {
        0 => format!(".c-{name}{{display:flex;gap:{number}px;color:#1c2b3a;background:#fff}}\n"),
        1 => format!(".page .c-{name} > a:hover{{color:#06c;text-decoration:underline}}\n"),
        2 => format!("@media (max-width:{}px){{.c-{name}{{display:block;padding:0 1rem}}}}\n", 320 + number),
        _ => format!(".c-{name}::after{{content:\"\\2192\";margin-left:.25em;opacity:.6}}\n"),
    }
}

fn passage(chance: &Chance, number: usize) -> String {
    if number % PASSAGES_PER_FORM == 1 {
        return form(chance, number);
    }
    match number % 5 {
        0 => format!("<h2 id=\"s{number}\">{}</h2>\n", words(chance, 5)),
        2 => {
            format!("<ul class=\"c-list\"><li>{}</li><li>{}</li></ul>\n", words(chance, 6), words(chance, 7))
        }
        3 => {
            format!("<table><tr><th>{}</th><td>{number}.50&nbsp;&euro;</td></tr></table>\n", words(chance, 2))
        }
        _ => format!(
            "<p class=\"text\">{}, <em>{}</em> &mdash; <a href=\"/n/{number}.html\">{}</a>. {}.</p>\n",
            words(chance, 18),
            words(chance, 3),
            words(chance, 3),
            words(chance, 22)
        ),
    }
}

fn form(chance: &Chance, number: usize) -> String {
    format!(
        "<form class=\"c-form\" id=\"sign-in-{number}\"><label for=\"mail-{number}\">E-mail</label>\
         <input id=\"mail-{number}\" type=\"email\" name=\"email\" autocomplete=\"email\">\
         <label>Password <input type=\"password\" name=\"password\"></label>\
         <label><input type=\"checkbox\" name=\"news\"> {}</label><button>Sign in</button></form>\n",
        words(chance, 4)
    )
}

fn script_line(chance: &Chance, number: usize) -> String {
    let name = chance.base36(6);
    match number % 4 {
        0 => format!("function f{name}(e,t){{return e&&t?e.{name}+{number}:null}}\n"),
        1 => format!("const s{name}=\"{}\",n{name}={number};\n", words(chance, 4)),
        2 => format!(
            "document.querySelector(\".c-{name}\")?.addEventListener(\"click\",()=>{{f{name}(1,2)}});\n"
        ),
        _ => format!("const v{name}=o=>`<li class=\"c-{name}\">${{o.title}} {}</li>`;\n", words(chance, 3)),
    }
}

fn words(chance: &Chance, count: usize) -> String {
    let mut text = String::new();
    for pick in chance.bytes::<32>().into_iter().take(count) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{} ", WORDS[usize::from(pick) % WORDS.len()]);
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_page_has_the_given_size_and_typical_elements() {
        let chance = Chance::seeded(1);
        for size_bytes in [4_096, 100_000, 1_000_000] {
            let page = honest(&chance, size_bytes);
            assert!(page.len().abs_diff(size_bytes) < 600, "{} of {size_bytes}", page.len());
            for part in ["<style>", "<script>", "type=\"password\"", "<p class", "data:image", "</html>"] {
                assert!(page.contains(part), "{size_bytes}: {part}");
            }
        }
    }
}
