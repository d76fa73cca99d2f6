//! Which strings are reported as markup, and which are not.

use super::read;
use super::{assert_writes, assert_writes_nothing};

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn strings_with_tags_are_markup_in_any_notation() {
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
fn encoded_markup_is_decoded() {
    for source in [
        "var s=[59,110,105,119,114,115,39,105,102,106,98,58,116,98,98,99,57],o='';for(var i=0;i<s.length;i++)o+=String.fromCharCode(s[i]^7);root.innerHTML=o",
        "var s=[59,110,105,119,114,115,39,105,102,106,98,58,116,98,98,99,57],o='',i=0;for(;i<s.length;i++){o+=String.fromCharCode(s[i]^7)}root.innerHTML=o",
        "function d(s){var o='';for(var i=0;i<s.length;i++)o+=String['from'+'CharCode']((s[i]-11-i%5)/2);return o}root.innerHTML=d([131,222,233,238,249,243,76,233,208,233,213,134,243,216,217,211,136])",
        "var h='3c696e707574206e616d653d736565643e',o='';for(var i=0;i<h.length;i+=2)o+=String.fromCharCode(parseInt(h.substr(i,2),16));root.innerHTML=o",
        "root.innerHTML='3c696e707574206e616d653d736565643e'.match(/../g).map(x=>String.fromCharCode(parseInt(x,16))).join('')",
        "root.innerHTML='3c696e707574206e616d653d736565643e'.replace(/[0-9a-f]{2}/g,x=>String.fromCharCode(parseInt(x,16)))",
        "root.innerHTML='=joqvu!obnf>tffe?'.replace(/./g,c=>String.fromCharCode(c.charCodeAt(0)-1))",
        "var s='>dees=eman tupni<',o='';for(let i=s.length-1;i>=0;i--)o+=s[i];root.innerHTML=o",
        "var s='>dees=eman tupni<',o='';for(let i=s.length;i--;)o+=s.charAt(i);root.innerHTML=o",
        "var b=Uint8Array.from(atob('FkNEWl9eCkRLR08XWU9PThQ='),c=>c.charCodeAt(0)^42);root.innerHTML=new TextDecoder().decode(b)",
        "var h='3c696e707574206e616d653d736565643e',b=new Uint8Array(h.length/2);for(var i=0;i<h.length;i+=2)b[i/2]=parseInt(h.substr(i,2),16);root.innerHTML=new TextDecoder('utf-8').decode(b)",
        "var k='key';root.innerHTML=[87,12,23,27,16,13,75,11,24,6,0,68,24,0,28,15,91].map((c,i)=>String.fromCharCode(c^k.charCodeAt(i%k.length))).join('')",
        "root.innerHTML='60 105 110 112 117 116 32 110 97 109 101 61 115 101 101 100 62'.split(' ').map(Number).map(c=>String.fromCharCode(c)).join('')",
        "const f=s=>decodeURIComponent(atob(s).split('').map(c=>'%'+('00'+(c.charCodeAt(0)^42).toString(16)).slice(-2)).join(''));root.innerHTML=f('FkNEWl9eCkRLR08XWU9PThQ=')",
        "root.innerHTML='<input name=s~~d>'.replace(/~/g,()=>'e')",
        "const d=JSON.parse('{\"tag\":\"input\",\"names\":[\"seed\"]}');root.innerHTML='<'+d.tag+' name='+d.names[0]+'>'",
    ] {
        let script = read(source);
        assert!(
            script.markup.iter().any(|markup| markup.contains("<input name=seed>")),
            "{source}: {script:?}"
        );
    }
}

#[test]
fn content_replaced_by_a_later_handler_counts_as_shown() {
    let later = "const d=document.createElement('div');d.innerHTML='<input name=seed>';d.onclick=()=>{d.textContent='Thanks'};root.append(d)";
    assert_eq!(read(later).markup, ["<div><input name=seed>Thanks</div>"]);
    let at_once = "const d=document.createElement('div');d.innerHTML='<input name=seed>';d.textContent='Thanks';root.append(d)";
    assert_eq!(read(at_once).markup, ["<div>Thanks</div>"]);
}

#[test]
fn a_frame_is_filled_by_its_address() {
    let source =
        "const a='data:text/html;base64,'+'PGlucHV0IG5hbWU9c2VlZD4=';document.getElementById('f').src=a";
    assert_eq!(
        read(source).markup,
        ["<iframe src=\"data:text/html;base64,PGlucHV0IG5hbWU9c2VlZD4=\"></iframe>"]
    );
}

#[test]
fn strings_shown_only_as_text_are_not_markup() {
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
fn templates_lists_and_loops_are_evaluated_with_their_values() {
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
fn every_page_of_a_wizard_is_found() {
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
    // Known values stay known.
    let source = "const l=['<p>a</p>','<p>b</p>']; function f(){ let h=''; for (let i=0;i<2;i++) { h+=l[i] } x.innerHTML=h }";
    assert_eq!(read(source).markup, ["<p>a</p><p>b</p>"]);
}

#[test]
fn expressions_for_a_single_text_are_replaced() {
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
