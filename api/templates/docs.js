// The search of the documentation while typing, and commands with one's own token. Everything works without it.
'use strict';

// The same search as on the server: every word in the title or the text, titles first.
const search = document.querySelector('.docs-search input');
const found = document.getElementById('docs-found');
if (search && found) {
  const SHOWN = 8;
  const count = document.getElementById('docs-found-count');
  let entries;
  const load = () => {
    entries ??= fetch('/docs/search.json').then(response => response.ok ? response.json() : []).catch(() => []);
    return entries;
  };
  const rank = (entry, words) => {
    const [title, text] = [entry.title.toLowerCase(), entry.text.toLowerCase()];
    const missing = words.filter(word => !title.includes(word));
    return missing.every(word => text.includes(word)) ? missing.length : undefined;
  };
  const link = entry => {
    const [a, kind] = [document.createElement('a'), document.createElement('span')];
    [kind.className, kind.textContent] = ['note', entry.kind];
    a.href = entry.path;
    a.append(kind, entry.title);
    return a;
  };
  const close = () => { found.hidden = true; };
  const show = async () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return close();
    const query = search.value;
    const ranked = (await load()).map(entry => [rank(entry, words), entry]).filter(([place]) => place !== undefined);
    // Another letter was typed meanwhile.
    if (query !== search.value) return;
    ranked.sort(([a], [b]) => a - b);
    found.replaceChildren(...ranked.slice(0, SHOWN).map(([, entry]) => link(entry)));
    found.hidden = ranked.length === 0;
    count.textContent = ranked.length === 1 ? '1 result' : `${ranked.length} results`;
  };
  search.addEventListener('focus', load, { once: true });
  search.addEventListener('input', show);
  const top = search.closest('.docs-top');
  top.addEventListener('keydown', event => {
    if (event.key === 'Escape') close();
  });
  top.addEventListener('focusout', event => {
    if (!top.contains(event.relatedTarget)) close();
  });
  found.addEventListener('click', close);
  // A press on a result must not close the list first.
  found.addEventListener('mousedown', event => event.preventDefault());
}

// The token stays in this page: it is in no form, and nothing stores it.
const token = document.querySelector('#docs-token input');
if (token) {
  const NAME = '$HANDBILL_TOKEN';
  const PATTERN = /^svc_sk_[A-Za-z0-9]{32}$/;
  const commands = [...document.querySelectorAll('pre code')].filter(code => code.textContent.includes(NAME));
  const originals = new Map(commands.map(code => [code, code.textContent]));
  const fill = () => {
    const value = token.value.trim();
    for (const [code, text] of originals) {
      code.textContent = PATTERN.test(value) ? text.replaceAll(NAME, value) : text;
    }
  };
  token.parentElement.hidden = false;
  token.addEventListener('input', fill);
  // Browsers keep what was typed when people come back to the page.
  addEventListener('pagehide', () => { token.value = ''; fill(); });
}
