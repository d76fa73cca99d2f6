//! Pages that a library builds from calls, data or attributes.

use super::Status::{Blocked, Pass, Review};

use super::{assert_all, verdict_of};

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn elements_built_by_libraries_are_scanned_as_rendered() {
    assert_all(
        Blocked,
        &[
            (
                "an element of its own maker",
                "<script>h('form',{},h('p',{text:'Enter your seed phrase'}),h('textarea',{name:'t'}))</script>",
            ),
            (
                "markup added to an element of jQuery's",
                "<script>var f=$('<form>');f.append('<textarea placeholder=\"Seed phrase\"></textarea>')</script>",
            ),
            (
                "markup added by a function that another calls before it is read",
                "<script>function go(){ask()}function ask(){$('#b').append('<input placeholder=\"Seed phrase\">')}</script>",
            ),
            (
                "a component for each of twelve words",
                "<script>function Word(p){return React.createElement('label',null,p.n+1,React.createElement('input',{name:'w'+p.n}))}
                 function Restore(){var s=React.useState(Array.from({length:12},function(){return ''})),words=s[0];
                 return React.createElement('form',null,React.createElement('h1',null,'Restore from seed phrase'),
                 words.map(function(w,i){return React.createElement(Word,{key:i,n:i})}))}
                 React.createElement(Restore)</script>",
            ),
            (
                "a template that is shown on a condition",
                "<body x-data='{step:1}'><template x-if='step===2'><div><h3>Seed phrase</h3><textarea></textarea></div></template>",
            ),
            (
                "fields that data describes",
                "<div id=m></div><script>render([{type:'email',label:'E-mail'},{type:'text',label:'Card number'},{type:'text',label:'CVC'}])</script>",
            ),
            (
                "markup that data gives",
                "<div v-html='body'></div><script>new Vue({data:{body:'<textarea placeholder=\"Seed phrase\"></textarea>'}})</script>",
            ),
            (
                "markup that an element holds for a script",
                "<div id=m data-page='&lt;textarea placeholder=\"Seed phrase\">'></div><script>m.innerHTML=m.dataset.page</script>",
            ),
            (
                "a code that an element holds for a script",
                "<x-y data-k='PGlucHV0IHBsYWNlaG9sZGVyPSJTZWVkIHBocmFzZSI+'></x-y><script>y.innerHTML=atob(y.getAttribute('data-k'))</script>",
            ),
            (
                "fields of data that a script looks up",
                "<form id=f></form><script type='application/json' id='s'>{\"rows\":[{\"name\":\"a\",\"text\":\"Recovery phrase\"}]}</script>
                 <script>const s=JSON.parse(document.getElementById('s').textContent);s.rows.forEach(d=>{const l=document.createElement('label');l.append(d.text,document.createElement('input'));f.append(l)})</script>",
            ),
            (
                "fields that data of an element describes",
                "<form data-fields='[{\"kind\":\"area\",\"label\":\"Recovery phrase\",\"ph\":\"12 words\"}]'></form><script src=f.js></script>",
            ),
            (
                "an ask and its field in two elements of a script's",
                "<script>const i=document.createElement('input');a.append(i);const h=document.createElement('h1');h.textContent='Welcome back';
                 const p=document.createElement('p');p.textContent='Type the words of your recovery phrase';a.append(h,p)</script>",
            ),
            (
                "an ask in a talk",
                "<div contenteditable data-ph='Write a reply…'></div><style>[data-ph]:empty::before{content:attr(data-ph)}</style>
                 <script>const lines=['Hi!','Please type all 12 words of your recovery phrase here.'];function say(t){const d=document.createElement('p');d.textContent=t;log.append(d)}for(const l of lines)say(l)</script>",
            ),
            (
                "fields of no type that data describes",
                "<script>const fields=[{k:'a',label:'Card number',ac:'cc-number'},{k:'b',label:'CVC',ph:'123'}];render(fields)</script>",
            ),
            (
                "fields that data in the page describes",
                "<script type='application/json'>{\"fields\":[{\"type\":\"textarea\",\"label\":\"Recovery phrase\"}]}</script><script>go()</script>",
            ),
        ],
    );
    assert_all(
        Review,
        &[
            (
                "a password that is a password most of the time",
                "<h1>Verify your account</h1><input :type=\"seen ? 'text' : 'password'\">",
            ),
            (
                "a heading that data gives",
                "<body x-data='portal()'><h1 x-text='title'></h1><input type=password><script>function portal(){return{title:'Sign in to Coinbase'}}</script>",
            ),
            (
                "a heading in braces",
                "<h1>{{ page.kop }}</h1><input type=password><script>new Vue({data:{page:{kop:'Verifieer uw account'}}})</script>",
            ),
        ],
    );
    let data = "[{\"type\":\"tel\",\"label\":\"Card number\"},{\"type\":\"tel\",\"label\":\"CVV\"}]";
    let fetched =
        [("index.html", "<script>fetch('fields.json').then(render)</script>"), ("fields.json", data)];
    assert_eq!(verdict_of(&fetched).status, Blocked);
    let build = "const spec=await(await fetch('data/form.json')).json();spec.rows.forEach(([tag,words])=>{const l=document.createElement('label');
                 l.textContent=words.join(' ');l.append(document.createElement(tag));document.body.append(l)})";
    let rows = r#"{"rows":[["input",["Your","name"]],["textarea",["Your","seed","phrase"]]]}"#;
    let page = ("index.html", "<script src=js/a.js></script>");
    assert_eq!(verdict_of(&[page, ("js/a.js", build), ("data/form.json", rows)]).status, Blocked);
    let decoy = ("a/form.json", r#"{"rows":[["input",["Your","name"]]]}"#);
    assert_eq!(verdict_of(&[page, decoy, ("js/a.js", build), ("data/form.json", rows)]).status, Blocked);
    assert_eq!(verdict_of(&[page, ("js/a.js", build), ("data/other.json", rows)]).status, Pass);
    let own = "<input type=password><script>var posts=[{title:'Sign in to Coinbase'}]</script>";
    let two = [("index.html", "<h1>{{ title }}</h1>"), ("other.html", own)];
    assert_eq!(verdict_of(&two).status, Pass);
}

#[test]
fn text_near_a_field_that_is_not_its_label_is_no_request() {
    assert_all(
        Pass,
        &[
            (
                "a talk beside an article of that name",
                "<title>Recovery phrase</title><h2>Recovery phrase</h2><p>It restores a wallet.</p>
                 <script>w.innerHTML='<p>Hi, how can we help?</p><textarea placeholder=\"Type a message…\"></textarea>'</script>",
            ),
            (
                "a guess above the answer",
                "<script>app.innerHTML='<h1>Crypto flashcards</h1><input id=guess><button>Check</button><h2>Seed phrase</h2><p>Words that restore a wallet.</p>'</script>",
            ),
            (
                "a list to tick off above a reminder",
                "<h2>Seed phrase checklist</h2><input type=checkbox> On paper <input type=checkbox> Kept offline<p>Get reminders</p><input name=e><button>OK</button>",
            ),
            (
                "another way in behind a password",
                "<p>Password</p><div><input type=password><span>Recovery phrase</span></div><button>Unlock</button>",
            ),
            (
                "what a payment was for, above a code that was sent",
                "<div><p>Merchant</p><p>20 €</p><p>Today</p><p>Card number •••• 4242</p><p>Security code sent to your phone</p><p>Enter it</p>
                 <input maxlength=1><input maxlength=1><input maxlength=1><input maxlength=1><input maxlength=1><input maxlength=1></div>",
            ),
            (
                "advice in Polish beside a search",
                "<p>Przepisz frazę odzyskiwania na kartkę papieru.</p><input name=x placeholder='E-mail'>",
            ),
        ],
    );
}

#[test]
fn data_that_describes_no_form_is_no_request() {
    assert_all(
        Pass,
        &[
            (
                "columns of a table",
                "<script>grid([{type:'text',title:'Card number'},{type:'text',title:'CVV'}])</script><input name=q>",
            ),
            (
                "parameters of an interface",
                "<script>docs([{name:'number',type:'string',description:'Card number'},{name:'cvc',type:'string',description:'CVC'}])</script>",
            ),
            (
                "cards to learn from",
                "<script>cards([{title:'Seed phrase',hint:'12 or 24 words'},{title:'Private key',hint:'64 digits'}])</script>",
            ),
            (
                "messages in a lesson",
                "<script>inbox([{type:'email',title:'Send us your card number and CVV'}])</script>",
            ),
            (
                "settings beside a login",
                "<input type=password><script type='application/json'>{\"pay\":[\"PayPal\",\"Apple ID\"]}</script>",
            ),
            (
                "a template that nothing copies, beside a name that sounds so",
                "<p>{{ content }}</p><template><textarea placeholder='Seed phrase'></textarea></template><script>var a=1</script>",
            ),
            (
                "a title that is not shown",
                "<input type=password><script>var posts=[{title:'Sign in to Coinbase'}]</script>",
            ),
            (
                "what describes the page to others",
                "<script type='application/ld+json'>[{\"type\":\"email\",\"label\":\"Seed phrase\"}]</script>",
            ),
            (
                "a template for which nothing is there",
                "<template><textarea placeholder='Seed phrase'></textarea></template>",
            ),
        ],
    );
}
