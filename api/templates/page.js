// What the pages can do better where scripts run: count down, copy, ask in a dialog, send a form once. Nothing needs it.
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

// <a href="…/delete" data-dialog="id">: asks in the <dialog> with this id instead of on a page of its own.
for (const link of document.querySelectorAll('a[data-dialog]')) {
  const dialog = document.getElementById(link.dataset.dialog);
  if (!dialog) continue;
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
