//! Other effects of scripts: texts, titles, built elements, addresses.

use super::super::read_json;
use super::read;

#[test]
fn texts_of_elements_that_are_on_the_page_already_are_reported() {
    for source in [
        "document.getElementById('l').textContent = 'Enter your seed phrase'",
        "document.getElementById('l').innerHTML = 'Enter your seed phrase'",
        "document.getElementById('l').insertAdjacentText('beforeend', 'Enter your seed phrase')",
        "const copy = {en: {ask: 'Enter your seed phrase', url: '/x'}}; l.textContent = copy[lang].ask",
    ] {
        let script = read(source);
        assert_eq!(script.texts, ["Enter your seed phrase"], "of {source}");
        assert!(script.markup.is_empty(), "{:?} of {source}", script.markup);
    }
}

#[test]
fn field_attributes_set_by_scripts_are_reported_as_a_field() {
    for source in [
        "document.getElementById('x').placeholder = 'Enter your seed phrase'",
        "document.querySelector('#x').setAttribute('placeholder', 'Enter your seed phrase')",
        "const x = document.getElementById('x'); x.placeholder = 'Enter your ' + 'seed phrase'",
        "Object.assign(document.getElementById('x'), {placeholder: 'Enter your seed phrase', type: 'text'})",
        "$('#x').attr('placeholder', 'Enter your seed phrase')",
        "$('#x').attr({placeholder: 'Enter your seed phrase', name: 'x'})",
        "function ask(l, t) { l.innerHTML = t } ask(document.getElementById('l'), t); const t = 'x'; e.placeholder = 'Enter your seed phrase'",
    ] {
        let script = read(source);
        assert_eq!(script.texts, ["Enter your seed phrase"], "of {source}");
        assert_eq!(script.markup, ["<input placeholder=\"Enter your seed phrase\">"], "of {source}");
    }
    let prompted = read("const a = prompt('Recovery phrase')");
    assert_eq!(prompted.markup, ["<input aria-label=\"Recovery phrase\">"]);
}

#[test]
fn repeated_writes_are_reported_once() {
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
fn elements_that_calls_build_are_reported_as_markup() {
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
fn texts_titles_and_addresses_are_kept_apart() {
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
