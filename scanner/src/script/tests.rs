//! What scripts as pages ship them would put on the page.

use super::{read, read_json};

/// A script and what its markup must hold, in this order.
fn assert_writes(source: &str, pieces: &[&str]) {
    let whole = read(source).markup.join("\n");
    let mut rest = whole.as_str();
    for piece in pieces {
        let at = rest.find(piece);
        assert!(at.is_some(), "{piece} is missing\n in: {whole}\n of: {source}");
        rest = &rest[at.unwrap() + piece.len()..];
    }
}

fn assert_writes_nothing(source: &str) {
    let markup = read(source).markup;
    assert!(markup.is_empty(), "{markup:?}\n of: {source}");
}

#[test]
fn a_string_that_holds_a_tag_is_markup_however_it_is_written() {
    for source in [
        "box.innerHTML = '<input name=seed>';",
        "box.innerHTML = \"<inp\" + 'ut name=seed>'",
        "box.innerHTML = '\\x3cinput name=seed\\x3e'",
        "box.innerHTML = '\\u003cinput name=seed\\u{3e}'",
        "box.innerHTML = '\\74input name=seed>'",
        "box.innerHTML = '<input \\\nname=seed>'",
        "box.innerHTML = `<input name=${'seed'}>`",
        "box['innerHTML'] = '<input name=seed>'",
        "box['inner' + 'HTML'] = '<input name=seed>'",
        "const a = '<input'; const b = ' name=seed>'; document.body.innerHTML = a + b;",
        "let h = ''; h += '<input'; h += ' name='; h += 'seed>'; out(h)",
        "var o = {tag: 'input', n: 'seed'}; x.innerHTML = '<' + o.tag + ' name=' + o.n + '>'",
        "x.innerHTML = ['<input', 'name=seed>'].join(' ')",
        "x.innerHTML = ['<input'].concat([' name=', 'seed>']).join('')",
        "x.innerHTML = '<inXput name=seed>'.replace('X', '')",
        "x.innerHTML = '>dees=eman tupni<'.split('').reverse().join('')",
        "x.innerHTML = [...'>dees=eman tupni<'].reverse().join('')",
        "x.innerHTML = '  <INPUT NAME=SEED> '.trim().toLowerCase()",
        "x.innerHTML = atob('PGlucHV0IG5hbWU9c2VlZD4=')",
        "const k = 'PGlucHV0IG5hbWU9c2VlZD4'; document.write(window.atob(k))",
        "document.write(decodeURIComponent(escape(window.atob('PGlucHV0IG5hbWU9c2VlZD4='))))",
        "document.write(unescape('%3Cinput%20name%3Dseed%3E'))",
        "document.write(unescape('%u003Cinput name=seed>'))",
        "document.write(decodeURIComponent('%3Cinput name=seed%3E'))",
        "document.write(String.fromCharCode(60,105,110,112,117,116,32,110,97,109,101,61,115,101,101,100,62))",
        "document.write(String.fromCharCode(...[60,105,110,112,117,116], 32) + 'name=seed>')",
        "document.write(String.fromCharCode.apply(null, [60,105,110,112,117,116]) + ' name=seed>')",
        "document.write([60,105,110,112,117,116].map(c => String.fromCharCode(c)).join('') + ' name=seed>')",
        "document.write([61,106,111,113,118,117].map(function(c){return String.fromCharCode(c-1)}).join('')+' name=seed>')",
        "document.write('<inp'); document.write('ut name=seed>')",
        "var _0x12ab=['\\x6e\\x61\\x6d\\x65','<input '];document['write'](_0x12ab[0x1]+_0x12ab[0]+'=seed>')",
        "eval('document.write(\\'<input name=seed>\\')')",
        "eval(atob('ZG9jdW1lbnQud3JpdGUoJzxpbnB1dCBuYW1lPXNlZWQ+Jyk='))",
        "new Function('document.write(\"<input name=seed>\")')()",
        "setTimeout(\"document.write('<input name=seed>')\", 10)",
        "el.insertAdjacentHTML('beforeend', '<input name=seed>')",
        "$('#x').html('<input name=seed>')",
        "$('#x').append('<input name=seed>')",
        "render(html`<input name=${'seed'}>`, document.body)",
        "frame.setAttribute('srcdoc', '<input name=seed>')",
        "location = URL.createObjectURL(new Blob(['<input', ' name=seed>'], {type: 'text/html'}))",
        "const t = {form: '<input name=seed>'}; root.innerHTML = t.form",
        "function form() { return '<input name=seed>' } root.innerHTML = form()",
        "root.innerHTML = form(); function form() { return `<input name=seed>` }",
        "const f = n => `<input name=${n}>`; root.innerHTML = f('seed')",
        "const f = ({n}) => { const s = `<input name=${n}>`; return s }; root.innerHTML = f({n: 'seed'})",
        "root.innerHTML = ['seed'].map(n => `<input name=${n}>`).join('')",
        "let h=''; for (const n of ['seed']) { h += '<input name=' + n + '>' } root.innerHTML = h",
        "const p=[]; p.push('<input'); p.push(' name=seed>'); root.innerHTML = p.join('')",
        "const t = document.createElement('template'); t.innerHTML = '<input name=seed>'",
        "var re = /['\"`]/g, x = 4 / 2; root.innerHTML = '<input name=seed>' // it's",
        "if (a) /'/.test(b); root.innerHTML = '<input name=seed>'",
        "root.innerHTML = dark ? '<input name=seed>' : ''",
        "root.innerHTML = given || '<input name=seed>'",
        "const x = JSON.parse('{\"h\": \"<input name=seed>\"}'); root.innerHTML = x.h",
        "root.innerHTML = '<inpAut nAame=seAed>'.replaceAll('A', '')",
        "<!-- \nroot.innerHTML = '<input name=seed>'\n-->",
        "export default { template: '<input name=seed>' }",
        "customElements.define('x-y', class extends HTMLElement { connectedCallback() { this.innerHTML = `<input name=seed>` } })",
    ] {
        assert_writes(source, &["<input name=seed>"]);
    }
}

#[test]
fn what_is_only_shown_as_text_is_no_markup() {
    for source in [
        "pre.textContent = '<input name=seed>'",
        "const s = '<input name=seed>'; pre.textContent = s; pre.innerText = s",
        "function f() { pre.textContent = s } const s = '<input name=seed>';",
        "const s = `<input ${a}>`; document.querySelector('code').textContent = s",
        "console.log('<input name=seed>', `<input>`)",
        "area.value = '<input name=seed>'",
        "box.appendChild(document.createTextNode('<input name=seed>'))",
        "if (x === '<input>' || x.includes('<input')) y()",
        "const samples = {a: '<input name=seed>', b: '<form>'}; pre.textContent = samples[key]",
        "const samples = ['<input name=seed>']; samples.forEach(s => { const p = q(); p.textContent = s })",
        "const samples = [{code: '<input name=seed>'}]; for (const s of samples) { pre.textContent = s.code }",
        "const samples = [{code: '<input name=seed>'}]; pre.textContent = samples[i].code",
        "function show(s) { pre.textContent = s } show('<input name=seed>')",
        "/<input name=seed>/.test(x)",
        "// <input name=seed>\n/* <input name=seed> */",
        "navigator.clipboard.writeText('<input name=seed>')",
        "throw new Error('<input name=seed> is missing')",
        "x = x.replace('<b>', '').split('<br>').join()",
        "'use strict'; a = 'b' + c; d = a < e; f('input')",
        "pre.textContent = on ? '<input name=a>' : '<input name=b>'",
    ] {
        assert_writes_nothing(source);
    }
    let source = "pre.innerHTML = escapeHtml('<input name=seed>')";
    assert_eq!(read(source).markup, ["&lt;input name=seed&gt;"]);
}

#[test]
fn templates_lists_and_loops_are_gone_through_with_their_values() {
    let template = "root.innerHTML = `<h1>${t.title}</h1><ol>${words.map(w => `<li><input placeholder=\"${w}\"></li>`).join('')}</ol>`";
    let known = format!("const t = {{title: 'Restore'}}, words = ['One', 'Two']; {template}");
    assert_eq!(
        read(&known).markup,
        ["<h1>Restore</h1><ol><li><input placeholder=\"One\"></li><li><input placeholder=\"Two\"></li></ol>"]
    );
    assert_writes(
        &format!("function show(words, t) {{ {template} }}"),
        &["<h1> </h1><ol><li><input placeholder=\" \"></li></ol>"],
    );
    for source in [
        "x.innerHTML = Array.from({length: 12}, (_, i) => `<input name=w${i + 1}>`).join('')",
        "x.innerHTML = [...Array(12)].map((_, i) => `<input name=w${i + 1}>`).join('')",
        "x.innerHTML = Array(12).fill(0).map((_, i) => '<input name=w' + (i + 1) + '>').join('')",
        "x.innerHTML = [...Array(12).keys()].map(i => `<input name=w${i + 1}>`).join('')",
        "let h = ''; for (let i = 1; i <= 12; i++) { h += `<input name=w${i}>`; } x.innerHTML = h",
        "for (var i = 0; i < 12; ++i) { x.innerHTML += '<input name=w' + (i + 1) + '>'; }",
        "const N = 12; for (let i = 1; i <= N; i++) { document.write(`<input name=w${i}>`) }",
        "function f(i) { return `<input name=w${i}>` } let h = ''; for (let i = 1; i <= 12; i++) { h += f(i) } x.innerHTML = h",
    ] {
        assert_writes(
            source,
            &["<input name=w1>", "<input name=w2>", "<input name=w11>", "<input name=w12>"],
        );
    }
    let elements = "for (let i = 1; i <= 12; i++) { const e = document.createElement('input'); e.name = 'w' + i; box.appendChild(e); }";
    assert_eq!(read(elements).markup.len(), 12);
    assert_writes(elements, &["name=\"w1\"", "name=\"w12\""]);
}

#[test]
fn every_page_of_a_wizard_comes_out() {
    let steps = "[{h:'Who?',f:[['Name','n1']]},{h:'Card',f:[['Card number','c1'],['CVV','c3']]}]";
    let pages = [
        "<h1>Who?</h1><label>Name</label><input name=\"n1\">",
        "<h1>Card</h1><label>Card number</label><input name=\"c1\"><label>CVV</label><input name=\"c3\">",
    ];
    let draw = "x='<h1>'+s.h+'</h1>'; s.f.forEach(function(f){x+='<label>'+f[0]+'</label><input name=\"'+f[1]+'\">'}); w.innerHTML=x";
    for source in [
        format!(
            "var steps={steps}; function draw(i){{var s=steps[i],{draw}}} b.onclick=function(e){{draw(+e.target.id)}}"
        ),
        format!("var steps={steps}; function draw(i){{var s=steps[i],{draw}}} draw(0)"),
        format!("(function(){{var steps={steps}; function draw(i){{var s=steps[i],{draw}}} draw(0)}})()"),
        format!("function draw(i){{var s=steps[i],{draw}}} var steps={steps}; draw(0)"),
        format!(
            "const steps={steps}; let step=0; function next(){{step++; draw()}} function draw(){{const s=steps[step]; let {draw}}} draw()"
        ),
        format!(
            "const steps={steps}; const state={{step: 0}}; const draw=()=>{{const s=steps[state.step]; let {draw}}}; b.onclick=()=>{{state.step+=1; draw()}}; draw()"
        ),
        format!(
            "const pages={{who: {steps}[0], card: {steps}[1]}}; function draw(page){{const s=pages[page]; let {draw}}} draw('who')"
        ),
        format!(
            "class Wizard {{ constructor() {{ this.step = 0 }} next() {{ this.step++; this.draw() }} draw() {{ const s = STEPS[this.step]; let {draw} }} }} const STEPS={steps}; new Wizard()"
        ),
        format!(
            "(function(){{var names=['A','B']; document.title=names[k]; var steps={steps}; function draw(i){{var s=steps[i],{draw}}} draw(0); b.onclick=()=>draw(1)}})()"
        ),
        format!(
            "const app = {{ draw(i) {{ const s = steps.find(s => s.id === i); let {draw} }} }}, steps={steps}; app.draw(id)"
        ),
    ] {
        let markup = read(&source).markup;
        assert_eq!(
            markup.iter().filter(|page| pages.contains(&page.as_str())).count(),
            2,
            "{markup:?}\n of: {source}"
        );
        assert_eq!(markup.len(), 2, "{markup:?}\n of: {source}");
    }
    // What is known stays known.
    let source = "const l=['<p>a</p>','<p>b</p>']; function f(){ let h=''; for (let i=0;i<2;i++) { h+=l[i] } x.innerHTML=h }";
    assert_eq!(read(source).markup, ["<p>a</p><p>b</p>"]);
}

#[test]
fn expressions_that_stand_for_one_text_are_replaced() {
    for source in [
        "x.innerHTML = '&lt;input name=seed&gt;'.replace(/&lt;/g, '<').replace(/&gt;/g, '>')",
        "x.innerHTML = '&lt;input name=seed&gt;'.replaceAll('&lt;', '<').replaceAll('&gt;', '>')",
        "x.innerHTML = '&LT;input name=seed>'.replace(/&lt;/i, '<')",
        "x.innerHTML = '[input name=se[ed>'.replace(/\\[/, '<').replace(/\\x5b/g, '')",
        "x.innerHTML = '<inp--ut name--=seed>'.split(/--/).join('')",
        "x.innerHTML = '<input name=seed>'.replace(/\\s+|[a-z]/g, '')",
    ] {
        assert_writes(source, &["<input name=seed>"]);
    }
    assert_eq!(read("x.innerHTML = '<b>aXbXc</b>'.replace(/X/, '')").markup, ["<b>abXc</b>"]);
}

#[test]
fn texts_of_elements_that_are_on_the_page_already_are_told() {
    for source in [
        "document.getElementById('x').placeholder = 'Enter your seed phrase'",
        "document.querySelector('#x').setAttribute('placeholder', 'Enter your seed phrase')",
        "const x = document.getElementById('x'); x.placeholder = 'Enter your ' + 'seed phrase'",
        "document.getElementById('l').textContent = 'Enter your seed phrase'",
        "document.getElementById('l').innerHTML = 'Enter your seed phrase'",
        "document.getElementById('l').insertAdjacentText('beforeend', 'Enter your seed phrase')",
        "Object.assign(document.getElementById('x'), {placeholder: 'Enter your seed phrase', type: 'text'})",
        "$('#x').attr('placeholder', 'Enter your seed phrase')",
        "$('#x').attr({placeholder: 'Enter your seed phrase', name: 'x'})",
        "const copy = {en: {ask: 'Enter your seed phrase', url: '/x'}}; l.textContent = copy[lang].ask",
        "function ask(l, t) { l.innerHTML = t } ask(document.getElementById('l'), t); const t = 'x'; e.placeholder = 'Enter your seed phrase'",
    ] {
        let script = read(source);
        assert_eq!(script.texts, ["Enter your seed phrase"], "of {source}");
        assert!(script.markup.is_empty(), "{:?} of {source}", script.markup);
    }
}

#[test]
fn what_is_written_again_and_again_is_told_once() {
    for (source, markup) in [
        ("x.innerHTML += '<p>a</p>'; x.innerHTML += '<p>b</p>'", " <p>a</p><p>b</p>"),
        ("let h='<p>a</p>'; x.innerHTML = h; h += '<p>b</p>'; x.innerHTML = h", "<p>a</p><p>b</p>"),
        ("x.innerHTML = '<p>a</p>'; y.innerHTML = '<p>a</p><p>b</p>'", "<p>a</p><p>b</p>"),
        (
            "const el=(t,p,...c)=>{const n=document.createElement(t);Object.assign(n,p);n.append(...c);return n};
            let items=[{t:'a'},{t:'b'}];
            function App(){const list=items.map((x,i)=>el('li',{onchange(){items[i].d=!x.d;render()}},x.t)); return el('ul',{},...list)}
            function render(){root.replaceChildren(App())} render()",
            "<ul><li>a</li><li>b</li></ul>",
        ),
    ] {
        assert_eq!(read(source).markup, [markup], "of {source}");
    }
}

#[test]
fn elements_that_calls_build_are_told_as_markup() {
    for (source, markup) in [
        (
            "const e = document.createElement('input'); e.type = 'password'; e.placeholder = 'A \"b\" <c>'; e.className = 'x'; e.required = true; box.append(e)",
            "<input type=\"password\" placeholder=\"A &quot;b&quot; &lt;c&gt;\" class=\"x\" required=\"\">",
        ),
        (
            "let l = document.createElement('label'); l.htmlFor = 's'; l.textContent = 'Seed <phrase>'; const i = document.createElement('input'); i.setAttribute('id', 's'); i.ariaLabel = 'Seed'; l.appendChild(i)",
            "<label for=\"s\">Seed &lt;phrase&gt;<input id=\"s\" aria-label=\"Seed\"></label>",
        ),
        ("x.append(Object.assign(document.createElement('input'), {name: 'seed'}))", "<input name=\"seed\">"),
        (
            "React.createElement('div', {className: 'a'}, React.createElement('label', null, 'Seed'), React.createElement('input', {type: 'text'}))",
            "<div class=\"a\"><label>Seed</label><input type=\"text\"></div>",
        ),
        (
            "(0,r.jsxs)(\"div\",{children:[(0,r.jsx)(\"label\",{htmlFor:\"s\",children:\"Seed\"}),(0,r.jsx)(\"input\",{id:\"s\",onChange:e=>n(e.target.value)})]})",
            "<div><label for=\"s\">Seed</label><input id=\"s\"></div>",
        ),
        (
            "const e=React.createElement;const S=[{h:'Card',f:['CVV']}];function App(){const [i,setI]=useState(0),s=S[i];return e('form',null,e('h1',null,s.h),s.f.map(l=>e('label',{key:l},l)))}",
            "<form><h1>Card</h1><label>CVV</label></form>",
        ),
        ("const App = () => h('p', {}, ['a', h('b', {}, 'c')])", "<p>a<b>c</b></p>"),
        (
            "e(\"input\",{type:\"password\",placeholder:\"Key\"},null,40,v)",
            "<input type=\"password\" placeholder=\"Key\">",
        ),
        (
            "$('<input>', {type: 'password'}).attr('name', 'pin').appendTo('body')",
            "<input type=\"password\" name=\"pin\">",
        ),
        (
            "const el = (t, p = {}, ...c) => { const e = document.createElement(t); Object.assign(e, p); e.append(...c); return e }; el('label', {id: 'a'}, 'Seed')",
            "<label id=\"a\">Seed</label>",
        ),
        ("jsx('div', {dangerouslySetInnerHTML: {__html: '<i>x</i>'}})", "<div><i>x</i></div>"),
        (
            "function App() { return <div className=\"a\">Don't {t('x')} <label htmlFor='s'>Seed</label>{on && <input id=\"s\" onChange={e => set(e.target.value)} placeholder={\"Key\"} />}</div> }",
            "<div class=\"a\">Don't   <label for='s'>Seed</label> <input id=\"s\" onChange=\"\" placeholder=\"Key\" /></div>",
        ),
    ] {
        assert_eq!(read(source).markup, [markup], "of {source}");
    }
}

#[test]
fn texts_titles_and_addresses_are_told_apart() {
    let script = read(
        "import x from './x.js'; import './side.js'; export * from './more.js'; import('./late.js');
        document.title = 'Pay' + 'Pal'; h.textContent = 'Enter it'; alert('Now');
        fetch('/a.html').then(r => r.text()).then(t => box.innerHTML = t);
        xhr.open('GET', 'b.html'); $.get('c.html'); $('#x').load('d.html'); axios.get('e.html'); frame.src = 'f.html';
        htmx.ajax('GET', 'g.html', '#x'); $.ajax({url: 'h.html'}); new Worker('w.js')",
    );
    assert_eq!(script.titles, ["PayPal"]);
    assert_eq!(script.texts, ["Enter it", "Now"]);
    assert_eq!(
        script.fetched,
        [
            "./x.js",
            "./side.js",
            "./more.js",
            "./late.js",
            "/a.html",
            "b.html",
            "c.html",
            "d.html",
            "e.html",
            "f.html",
            "g.html",
            "h.html",
            "w.js"
        ]
    );
    assert!(script.changes_the_page);
    assert!(script.markup.is_empty(), "{:?}", script.markup);
    assert!(!read("let a = 1 + 2; postMessage(a)").changes_the_page);
}

#[test]
fn json_gives_its_strings_that_hold_markup() {
    let json = r#"{"<a>": 1, "html": "\u003cinput name=\"seed\">", "list": ["<b>", "x < y"]}"#;
    assert_eq!(read_json(json).markup, ["<input name=\"seed\">", "<b>"]);
}

#[test]
fn a_broken_script_loses_nothing_that_follows() {
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

/// Sources made to take long: each a megabyte, or nested as deep.
#[test]
fn hostile_scripts_take_no_longer_than_their_length() {
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
