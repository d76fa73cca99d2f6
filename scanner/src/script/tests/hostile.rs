//! Broken scripts, and scripts that are made to cost time.

use std::time::{Duration, Instant};

use super::assert_writes;
use super::read;

#[test]
fn broken_script_does_not_hide_later_code() {
    for broken in [
        "'",
        "\"it",
        "/[",
        ")]}",
        "{ ( [",
        "`${'a'",
        "a = = b +",
        "function (",
        "=> ,",
        "x ? y",
        "\\",
        "@#",
        "<",
        "\u{2028}",
    ] {
        assert_writes(
            &format!("{broken}\n; root.innerHTML = \"<input name=seed>\";"),
            &["<input name=seed>"],
        );
    }
}

/// Sources that are made to take long: each is a megabyte, or as deeply nested.
#[test]
fn hostile_scripts_take_time_linear_in_their_length() {
    const SIZE: usize = 1 << 20;
    let filled = |piece: &str| piece.repeat(SIZE / piece.len());
    let cases: Vec<(&str, String)> = [
        "'a'+",
        "s+='a';",
        "s=s+'a';",
        "s+=s;",
        "`${",
        "${",
        "[",
        "(",
        "{",
        "a(",
        "a[",
        "x=>",
        "()=>{",
        "function f(){",
        "'",
        "\"\\'",
        "/[",
        "=/a",
        "=/[",
        "`",
        "[1],",
        "a,",
        "{a:1},",
        "a=",
        "a?",
        "a?b:",
        "f('a');",
        "f(x=>'<b>');",
        "x.map(y=>'<b>'+y);",
        "}",
        ")",
        "<a>",
        "=<a ",
        "=<a {",
        "=<a>{",
        "if(a){",
        "for(let i=0;i<99;i++){'<b>';",
        "for(let i=0;i<99;i++){s+='<b>'}",
        "a.b.c=",
        "a.b='<b>';",
        "x.innerHTML+='<b>';",
        "document.write('<b>');",
        "/*",
        "<!--",
        "\\u0061",
        "1.",
        "a\u{a0}",
        "é",
        "new ",
        "!",
        "-",
        "...",
        "...[1],",
        "s='<b>'+s;",
        "e=document.createElement('p');",
        "h('p',{},",
        "e.append(e=document.createElement('p'));",
        "s=[s,'a'].join();",
        "s=s.replace('a','bb');",
        "s='a'.repeat(1000);",
        "s=s.concat(s,'a');",
        "l.push('a');f(l);",
        "o={...o,a:1};",
        "s=atob('YWFh');",
        "function f(s){return f(s+'<b>')}f('a');",
        "eval('a');",
        "class a{b(){",
        "a=>a=>",
        "a||",
        "a&&'b'||",
        "s=s.replace(/a/g,'bb');",
        "s='aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.replace(/aaaaaaaaaaaaaaaaab/gi,'');",
        "a(){",
        "class A{b(){'<b>'}}",
        "l=['<a>','<b>'];function f(i){x.innerHTML=l[i]}",
        "l=['<a>','<b>'];function f(i){x.innerHTML=l[i];",
        "l=[{a:'<b>'}];l[i].a.a;",
        "l.push({a:'<b>'});l[i].a;",
        "l=['<a>'];l[i];()=>{l[i];",
        "[1].map(x=>{s+='<b>'});",
    ]
    .map(|piece| (piece, filled(piece)))
    .into_iter()
    .chain([
        ("a long text in a loop", format!("for(let i=0;i<999999;i++){{s='{}'}}", "<b>".repeat(SIZE / 3))),
        (
            "a long text in calls",
            format!("function f(x){{return '{}'}}", "<b>".repeat(SIZE / 6)) + &"f('a');".repeat(SIZE / 14),
        ),
        (
            "an expression that almost stands there",
            format!("'{}'.replace(/{}b/gi,'')", "a".repeat(SIZE / 2), "a".repeat(SIZE / 4)),
        ),
        (
            "turns within turns",
            "l=['<a>','<b>','<c>'];".to_owned()
                + &"function f(i){x.innerHTML=l[i];g(i);".repeat(100)
                + &"}".repeat(100)
                + &"()=>{f(l[k])};".repeat(SIZE / 14),
        ),
        ("loops in loops", "for(let i=0;i<99;i++){".repeat(400) + "s+='<b>'" + &"}".repeat(400)),
    ])
    .collect();
    let mut slow = Vec::new();
    for (piece, source) in cases {
        let start = std::time::Instant::now();
        let script = read(&source);
        let taken_ms = start.elapsed().as_millis();
        let bytes: usize = script.markup.iter().map(String::len).sum();
        println!("{taken_ms:6} ms {bytes:10} bytes  {piece}");
        if taken_ms > 1_500 || bytes > 8 * SIZE {
            slow.push((piece.to_owned(), taken_ms, bytes));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

/// Loops that never end, or that read a long text in every iteration.
#[test]
fn loop_is_executed_while_the_budget_lasts() {
    let long = "n".repeat(1 << 20);
    for source in [
        "{for(i=0;i<1e300;i++)'a'+(}".to_owned(),
        "x(()=>{for(i=0;i<1e300;i++){'a';)".to_owned(),
        "for(i=0;i<1e300;i+=1e-300)'a'+i".to_owned(),
        "for(i=9;i--;)for(;i<1e300;i++)for(const c of 'abc')x+=c".to_owned(),
        format!("for(i=0;i<1e9;i++){{'a';{long}}}"),
        format!("for(i=0;i<1e9;i++){{'a';x=/{long}/}}"),
        format!("for(i=0;i<1e9;i++){{'a';x=1{}}}", "0".repeat(1 << 20)),
    ] {
        let began = Instant::now();
        let shown: String = source.chars().take(60).collect();
        assert_writes(
            &format!("{source}\n;}})}};root.innerHTML='<input name=seed>'"),
            &["<input name=seed>"],
        );
        assert!(began.elapsed() < Duration::from_secs(10), "{shown}: {:?}", began.elapsed());
    }
}

#[test]
fn a_loop_of_one_statement_ends_where_the_statement_does() {
    for source in [
        "const xs=['a','b']\nfor (const x of xs) add(x)\nroot.innerHTML='<input name=seed>'",
        "for(i=0;i<9;i++)if(i){f(i)}else{g('x')}\nroot.innerHTML='<input name=seed>'",
        "for(i=0;i<9;i++)try{f('x')}catch(e){g(e)}\nroot.innerHTML='<input name=seed>'",
    ] {
        assert_writes(source, &["<input name=seed>"]);
    }
}
