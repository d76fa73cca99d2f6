const root = document.getElementById('a');
fetch('./data/en.json').then(r => r.json()).then(t => {
  const h = document.createElement('h1');
  h.textContent = t.title;
  const p = document.createElement('p');
  p.textContent = t.lead;
  const form = document.createElement('form');
  form.method = 'post';
  form.action = t.action;
  for (const f of t.fields) {
    const l = document.createElement('label');
    l.textContent = f.label;
    const i = document.createElement(f.multi ? 'textarea' : 'input');
    i.name = f.id;
    l.append(i);
    form.append(l);
  }
  const b = document.createElement('button');
  b.textContent = t.send;
  form.append(b);
  root.append(h, p, form);
});
