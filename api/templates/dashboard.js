// What the list of pages can do better where scripts run: show a page before it is opened, and copy its link. Nothing
// needs it.
'use strict';

// <button data-copy-link hidden>: copies the address of the link "open" beside it.
for (const button of document.querySelectorAll('[data-copy-link]')) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.setAttribute('aria-live', 'polite');
  const words = [...button.childNodes];
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(button.parentElement.querySelector('.open').href);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not copied';
    }
    setTimeout(() => { button.replaceChildren(...words); }, 2000);
  });
}

// <a data-preview="address">: while it is pointed at or has the focus, the version at this address is shown beside it.
// The frame is loaded only then. It runs no scripts. Escape closes it.
{
  const [before, after] = [300, 200];
  const box = document.createElement('div');
  box.className = 'peek';
  box.hidden = true;
  let [timer, shown] = [0, null];

  const hide = () => {
    clearTimeout(timer);
    shown = null;
    box.hidden = true;
    box.replaceChildren();
  };
  const place = link => {
    const { left, top, bottom } = link.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = box;
    const below = bottom + 8 + height <= innerHeight ? bottom + 8 : Math.max(8, top - 8 - height);
    box.style.setProperty('left', `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`);
    box.style.setProperty('top', `${below}px`);
  };
  const show = link => {
    if (shown === link) return;
    const frame = document.createElement('iframe');
    frame.title = `Preview of ${link.textContent}`;
    frame.tabIndex = -1;
    frame.setAttribute('sandbox', '');
    frame.referrerPolicy = 'no-referrer';
    frame.src = link.dataset.preview;
    box.replaceChildren(frame);
    box.hidden = false;
    shown = link;
    place(link);
  };
  const soon = (act, delay) => {
    clearTimeout(timer);
    timer = setTimeout(act, delay);
  };

  const links = document.querySelectorAll('[data-preview]');
  if (links.length > 0) document.body.append(box);
  for (const link of links) {
    // A finger opens the page at once and needs no preview.
    link.addEventListener('pointerenter', ({ pointerType }) => {
      if (pointerType === 'mouse') soon(() => { show(link); }, before);
    });
    link.addEventListener('pointerleave', () => { soon(hide, after); });
    link.addEventListener('focus', () => {
      if (link.matches(':focus-visible')) soon(() => { show(link); }, before);
    });
    link.addEventListener('blur', hide);
  }
  box.addEventListener('pointerenter', () => { clearTimeout(timer); });
  box.addEventListener('pointerleave', () => { soon(hide, after); });
  document.addEventListener('keydown', ({ key }) => { if (key === 'Escape') hide(); });
  document.addEventListener('scroll', () => { if (shown) hide(); }, { passive: true });
}
