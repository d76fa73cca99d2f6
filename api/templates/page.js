// What the pages can do better where scripts run: count down, copy, ask in a dialog, send a form once, take keys, stay
// up to date. Nothing needs it.
'use strict';

// <time data-countdown="1740">29 minutes</time>: so many seconds are left by the server's clock. The browser's own
// clock may be wrong, so only its steps count; while a phone sleeps one of its clocks may stand. When the time is up the
// page asks the server what is true now. The seconds are rounded up there, so that the answer is never the same again.
for (const time of document.querySelectorAll('[data-countdown]')) {
  const total = Number(time.dataset.countdown) * 1000;
  const [started, opened] = [performance.now(), Date.now()];
  const two = number => String(number).padStart(2, '0');
  const tick = () => {
    const gone = Math.max(performance.now() - started, Date.now() - opened);
    const left = Math.max(0, Math.ceil((total - gone) / 1000));
    const [hours, minutes, seconds] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
    time.textContent = hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
    if (left === 0) {
      clearInterval(clock);
      // Not a reload: this may be the answer to a form, and that is not to be sent again.
      if (time.dataset.then === 'reload') location.replace(location.pathname + location.search);
    }
  };
  const clock = setInterval(tick, 1000);
  tick();
}

// <button type="button" data-copy="id" hidden>Copy</button>: copies the text of the element with this id.
for (const button of document.querySelectorAll('[data-copy]')) {
  const source = document.getElementById(button.dataset.copy);
  if (!source || !navigator.clipboard) continue;
  button.hidden = false;
  const words = [...button.childNodes];
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.replaceChildren(...words); }, 2000);
  });
  button.setAttribute('aria-live', 'polite');
}

// <a href="…/delete" data-dialog="id">: asks in the <dialog> with this id instead of on a page of its own. A button that
// opens one is hidden until here, since without scripts it would do nothing.
for (const link of document.querySelectorAll('[data-dialog]')) {
  const dialog = document.getElementById(link.dataset.dialog);
  if (!dialog) continue;
  link.hidden = false;
  link.setAttribute('aria-haspopup', 'dialog');
  link.addEventListener('click', event => {
    event.preventDefault();
    dialog.showModal();
  });
}

// <form data-once>: is sent once, however often its button is pressed. Who comes back to the page may send it again.
for (const form of document.querySelectorAll('form[data-once]')) {
  const button = form.querySelector('button');
  form.addEventListener('submit', () => { button.disabled = true; });
  addEventListener('pageshow', () => { button.disabled = false; });
}

// <input type="checkbox" data-ticks="page" hidden>, or its label with hidden: ticks all boxes of this name in its form.
for (const all of document.querySelectorAll('[data-ticks]')) {
  (all.closest('label') ?? all).hidden = false;
  all.addEventListener('change', () => {
    for (const box of all.form.querySelectorAll(`[name="${all.dataset.ticks}"]`)) box.checked = all.checked;
  });
}

// <button data-key="b">: the key presses it, but not while somebody types or a dialog is open. A key that leaves the page
// works once, lest a second press send the form again.
const keyed = new Map([...document.querySelectorAll('[data-key]')].map(element => [element.dataset.key, element]));
if (keyed.size > 0) {
  const typing = 'input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]';
  let isLeaving = false;
  for (const [key, element] of keyed) element.setAttribute('aria-keyshortcuts', key);
  document.addEventListener('keydown', event => {
    const element = keyed.get(event.key);
    if (!element || isLeaving || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.closest(typing) || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    isLeaving = !element.dataset.dialog;
    element.click();
  });
  addEventListener('pageshow', () => { isLeaving = false; });
}

// <div id="…" data-live>: shows what is true now, from the page's own address, every two seconds while the page is seen.
// What is the same is not touched, so that focus, selection and what is open stay; what has an id is known by it.
const liveParts = document.querySelectorAll('[data-live]');
if (liveParts.length > 0) {
  const [period, patience] = [2000, 10000];
  const lost = document.querySelector('[data-live-lost]');
  for (const link of document.querySelectorAll('[data-live-reload]')) link.hidden = true;

  const renew = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) { old.nodeValue = fresh.nodeValue; return; }
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    renewChildren(old, [...fresh.childNodes]);
  };
  const renewChildren = (old, wanted) => {
    const named = new Map([...old.children].filter(child => child.id).map(child => [child.id, child]));
    const stay = new Map(wanted.filter(child => child.id).map(child => [child.id, child.nodeName]));
    for (const [id, child] of named) {
      if (stay.get(id) === child.nodeName) continue;
      named.delete(id);
      child.remove();
    }
    let at = old.firstChild;
    const removeAt = () => {
      const next = at.nextSibling;
      at.remove();
      at = next;
    };
    for (const fresh of wanted) {
      const kept = fresh.id ? named.get(fresh.id) : at;
      const isSame = kept && kept.nodeName === fresh.nodeName && kept.id === fresh.id;
      if (!isSame) {
        old.insertBefore(document.importNode(fresh, true), at);
        continue;
      }
      // A row that stays is not moved, which would take the focus from it: what stands before it goes instead.
      while (at && at !== kept && !at.id) removeAt();
      if (kept === at) at = at.nextSibling; else old.insertBefore(kept, at);
      renew(kept, fresh);
    }
    while (at) removeAt();
  };

  let isAsking = false;
  const ask = async () => {
    if (document.hidden || isAsking) return;
    isAsking = true;
    try {
      const signal = AbortSignal.timeout(patience);
      const headers = { Accept: 'text/html' };
      const answer = await fetch(location.href, { cache: 'no-store', redirect: 'manual', signal, headers });
      // Signed out meanwhile: the page leads to the sign-in. Not a reload, which might send a form again.
      if (answer.type === 'opaqueredirect') {
        location.replace(location.pathname + location.search);
        return;
      }
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      for (const part of liveParts) {
        const fresh = page.getElementById(part.id);
        if (fresh) renew(part, fresh);
      }
      lost.hidden = true;
    } catch {
      lost.hidden = false;
    }
    isAsking = false;
  };
  setInterval(ask, period);
  document.addEventListener('visibilitychange', ask);
}

// <input type="radio" data-autocomplete="current-password">: the choice decides what the form's password field is for.
for (const radio of document.querySelectorAll('[data-autocomplete]')) {
  radio.addEventListener('change', () => { radio.form.elements.password.autocomplete = radio.dataset.autocomplete; });
}

// <form data-drop>: files and folders that are dropped anywhere on its page are sent at once, as its field "files". Only
// scripts can read a folder. Hidden files are left out.
for (const form of document.querySelectorAll('form[data-drop]')) {
  // One more than the server takes, so that it says so. A folder may have very many.
  const filesMax = 51;
  const [note, fault, none] = ['note', 'fault', 'none'].map(name => form.querySelector(`[data-drop-${name}]`));
  const words = [...note.childNodes];
  const isHidden = name => name.startsWith('.') && name !== '.well-known';
  let dropped = [];
  const collect = async (entry, files) => {
    if (files.length === filesMax || isHidden(entry.name)) return;
    if (entry.isFile) {
      files.push([await new Promise((done, failed) => entry.file(done, failed)), entry.fullPath.slice(1)]);
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (some.length === 0) return;
      for (const child of some) await collect(child, files);
    }
  };
  note.hidden = false;
  const hasFiles = event => event.dataTransfer.types.includes('Files');
  document.addEventListener('dragover', event => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    form.classList.add('over');
  });
  document.addEventListener('dragleave', event => {
    if (!event.relatedTarget) form.classList.remove('over');
  });
  document.addEventListener('drop', async event => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    form.classList.remove('over');
    if (dropped.length > 0) return;
    [fault.hidden, none.hidden] = [true, true];
    // The list of what was dropped is empty after the event.
    const entries = [...event.dataTransfer.items].map(item => item.webkitGetAsEntry()).filter(Boolean);
    const files = [];
    try {
      for (const entry of entries) await collect(entry, files);
    } catch {
      fault.hidden = false;
      return;
    }
    none.hidden = files.length > 0;
    // A second drop may have been read faster than this one.
    if (files.length === 0 || dropped.length > 0) return;
    dropped = files;
    form.requestSubmit();
    note.setAttribute('role', 'status');
    note.textContent = 'Publishing…';
  });
  form.addEventListener('formdata', ({ formData }) => {
    const chosen = formData.getAll('files').map(file => [file, file.webkitRelativePath || file.name]);
    const visible = chosen.filter(([, path]) => !path.split('/').some(isHidden));
    const sent = dropped.length > 0 ? dropped : visible;
    if (sent.length === 0) return;
    formData.delete('files');
    for (const [file, path] of sent) formData.append('files', file, path);
  });
  addEventListener('pageshow', () => {
    dropped = [];
    note.removeAttribute('role');
    note.replaceChildren(...words);
  });
}
