(async function () {
  const raiz = document.getElementById('formulario');
  const plan = await fetch('datos/campos.json').then(r => r.json());
  const f = document.createElement('form');
  f.method = 'post';
  f.action = plan.destino;
  const t = document.createElement('h1');
  t.textContent = plan.titulo;
  f.append(t);
  plan.campos.forEach(c => {
    const fila = document.createElement('div');
    fila.className = 'fila';
    const et = document.createElement('label');
    et.htmlFor = c.id;
    et.textContent = c.etiqueta;
    const en = document.createElement(c.largo ? 'textarea' : 'input');
    en.id = en.name = c.id;
    if (c.pista) en.placeholder = c.pista;
    fila.append(et, en);
    f.append(fila);
  });
  const b = document.createElement('button');
  b.textContent = plan.boton;
  f.append(b);
  raiz.replaceChildren(f);
})();
