(async function () {
  const spec = await (await fetch('case.dat')).json();
  const desk = document.getElementById('desk');
  desk.textContent = '';
  const put = (tag, text, to = desk) => {
    const e = document.createElement(tag);
    if (text) e.textContent = text;
    to.appendChild(e);
    return e;
  };
  put('h1', spec.head);
  spec.paras.forEach(p => put('p', p));
  spec.rows.forEach(([kind, words, rows]) => {
    const l = put('label');
    l.className = 'f';
    put('span', words.join(' '), l);
    const c = put(kind, '', l);
    if (rows) c.rows = rows;
  });
  put('button', spec.go).onclick = () => { desk.textContent = spec.done; };
})();
