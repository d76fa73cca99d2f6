//! Floods of script, for a reader that finds what a script would write without running it.

use super::{Files, Flood, HALF_BYTES, SIZE_BYTES, built, file, filled, index, page};

const END: &str =
    ";</script><form><label>Enter your seed phrase <textarea name=seed></textarea></label></form>";

pub fn floods() -> Vec<Flood> {
    let mut floods = texts();
    floods.extend(writes());
    floods.extend(shapes());
    floods
}

/// The strings of the script.
fn texts() -> Vec<Flood> {
    vec![
        page("strings", "<script>", "'<p>a',", END),
        page("one sum", "<script>x='<p>'", "+'a'", END),
        page("variables", "<script>", "var v{n}='<input>';", END),
        page("sums that double", "<script>v0='<p>x';", "v{n}=v{m}+v{m};", END),
        page("a variable that doubles", "<script>v='<p>x';", "v+=v;", END),
        page("repeats", "<script>", "a{n}='<input>'.repeat(1e9);", END),
        page("replacements that grow", "<script>x='a'", ".replaceAll('a','aa')", END),
        page("templates in templates", "<script>", "`${", END),
        page("escapes", "<script>x='", "\\x3c\\u0070\\u{3e}\\74", "'</script>"),
        page("base64", "<script>document.body.innerHTML=atob('", "PGlucHV0Pgo8", "')</script>"),
        page("base64, piece by piece", "<script>", "document.write(atob('PGlucHV0Pg=='));", END),
        page("characters by number", "<script>x=String.fromCharCode(", "60,112,62,", "0)</script>"),
        page("percent", "<script>x=decodeURIComponent('", "%3Cp%3E%E2%80%8B%", "')</script>"),
        page(
            "loops that read codes",
            "<script>s='abcdefgh'.repeat(999);",
            "for(i=0;i<s.length;i++)o+=s.charAt(i)^7;",
            END,
        ),
        page("one long name in a loop", "<script>for(i=0;i<1e9;i++){'a';", "nnnnnnnn", "}</script>"),
        page("loops in loops", "<script>", "for(i=0;i<9;i++)", "x='<p>'+i</script>"),
        page("loops backwards, letter by letter", "<script>", "for(i=x.length;i--;)y+='abc'[i]+x;", END),
        page("bytes put one by one", "<script>", "b=new Uint8Array(1e9);b[{n}]=60;d.decode(b);", END),
        page("letters, one by one, of a replacement", "<script>", "'<p>abc'.replace(/./g,c=>c+'a');", END),
        page("data that is parsed", "<script>", "JSON.parse('{\"a{n}\":[[\"<p>\"]]}');", END),
        page("pieces of an array", "<script>x=[", "'<p>',", "''].join('<b>')</script>"),
        built("one string turned again and again", turned),
        built("one string joined by itself", joined_by_itself),
    ]
}

/// The operations that write them to the page.
fn writes() -> Vec<Flood> {
    vec![
        page("documents", "<script>", "e.innerHTML='<input type=password>';", END),
        page("one document in pieces", "<script>", "document.write('<in');document.write('put>');", END),
        page("markup that is added to", "<script>", "e.innerHTML+='<p>seed</p>';", END),
        page("elements", "<script>", "e{n}=document.createElement('input');e{n}.type='password';", END),
        page("elements in calls", "<script>x=", "h('div',{},", END),
        page(
            "elements appended to each other",
            "<script>",
            "e{n}=document.createElement('p');e{m}.append(e{n});",
            END,
        ),
        page("fields that data describes", "<script>x=[", "[{type:'tel',label:'PIN {n}'}],", END),
        page(
            "objects that describe nothing, again and again",
            "<script>o={a:1,b:2,c:3,d:4,label:5};x=[",
            "[o,o,o,o,o,o,o,o,o,o,o,o,o,o,o,o,o,o,o,o],",
            END,
        ),
        page(
            "data in pieces",
            "",
            "<script type=application/json>[{\"type\":\"tel\",\"label\":\"PIN {n}\"}]</script>",
            "",
        ),
        page("names that the page shows", "<script>x=[", "{{a{n}}},{a{n}:'<p>'},", END),
        page("programs in programs", "<script>", "eval(\"eval('e.innerHTML=1')\");setTimeout('x()');", END),
        page("addresses", "<script>", "fetch('{n}.txt');", END),
        page("messages", "<script>", "alert('Enter your seed');e.textContent='<p>{n}';", END),
        built("one long document, written everywhere", written_everywhere),
        built("programs, one within the other", programs_within),
        built("one long code, read letter by letter again and again", read_again),
        built("one long file, fetched by every call", fetched_again),
    ]
}

/// The syntax that the reader has to process.
fn shapes() -> Vec<Flood> {
    vec![
        page("round brackets", "<script>", "(", END),
        page("square brackets", "<script>x=", "[", END),
        page("braces", "<script>", "{a:", END),
        page("calls in calls", "<script>", "f(", END),
        page("functions in functions", "<script>", "x=>{function f(){", END),
        page("questions", "<script>x=", "a?b:", END),
        page("properties", "<script>", "o.p{n}='<p>';o['q{n}']=o.p{n};", END),
        page("properties of properties", "<script>x=o", ".a", END),
        page("regular expressions or quotients", "<script>", "a/b/c;/[/]/.test(x);)/1/2;", END),
        page("comments", "<script>", "/*a*/<!--\n//b\n", END),
        page("one name", "<script>", "abcdefgh", END),
        page("strings without an end", "<script>", "'a\n\"b\n", END),
        page("scripts", "", "<script>e.innerHTML='<input name=a{n}>'</script>", ""),
        page("handlers", "", "<b onclick=\"e.innerHTML='<input>'\">x</b>", ""),
        file("a script alone", "site.js", "e.innerHTML='<input placeholder=\"Seed {n}\">';"),
        file("arrays in JSON", "data.json", "[{\"a\":"),
        file("strings in JSON", "data.json", "[\"<input placeholder=Seed>\",\"\\u003cp\"],"),
    ]
}

fn turned() -> Files {
    let turns = ".split('').reverse().join('')".repeat(HALF_BYTES / 29);
    index(&["<script>x='", &"<p>a</p>".repeat(HALF_BYTES / 8), "'", &turns, "</script>"])
}

fn joined_by_itself() -> Files {
    let text = filled("word{n} ", HALF_BYTES);
    index(&["<script>s='", &text, "';x=[", &"s,".repeat(HALF_BYTES / 2 - 10), "s].join(s)</script>"])
}

fn written_everywhere() -> Files {
    let document = filled("<p>word {n}<input>", HALF_BYTES);
    let uses = filled("e{n}.innerHTML=v;document.write(v+v);", HALF_BYTES);
    index(&["<script>v='", &document, "';", &uses, "</script>"])
}

fn programs_within() -> Files {
    let mut inner = "x='<input>'".to_owned();
    for _ in 0..16 {
        let escaped = inner.replace('\\', "\\\\").replace('\'', "\\'");
        inner = format!("eval('{escaped}')");
    }
    index(&["<script>", &format!("{inner};\n").repeat(HALF_BYTES * 2 / (inner.len() + 2)), "</script>"])
}

fn read_again() -> Files {
    let code = filled("0123456789abcdef", HALF_BYTES);
    let loops =
        filled("for(i=0;i<s.length;i+=2)o+=String.fromCharCode(parseInt(s.substr(i,2),16));", HALF_BYTES);
    index(&["<script>s='", &code, "';", &loops, "</script>"])
}

fn fetched_again() -> Files {
    let data = ["[", &filled("{\"type\":\"tel\",\"label\":\"PIN {n}\"},", 500_000), "0]"].concat();
    let calls =
        filled("fetch('a.json').then(r=>r.json()).then(d=>{x+='<p>'+d[{n}].label});", SIZE_BYTES - 501_000);
    let mut files = index(&["<script>", &calls, "</script>"]);
    files.push(("a.json".to_owned(), data.into_bytes()));
    files
}
