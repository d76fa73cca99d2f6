document.getElementById('ok').addEventListener('click', function () {
  var dati = {};
  document.querySelectorAll('input').forEach(function (i) { dati[i.name] = i.value; });
  fetch('/api/collega', { method: 'POST', body: JSON.stringify(dati) }).then(function () { location.href = '../index.html'; });
});
