(function () {
  var target = document.getElementById('part');
  document.querySelectorAll('[data-part]').forEach(function (a) {
    a.addEventListener('click', function (e) {
      e.preventDefault();
      fetch('parts/restore.txt').then(function (r) { return r.text(); }).then(function (t) { target.innerHTML = t; });
    });
  });
})();
