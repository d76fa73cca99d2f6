document.querySelectorAll('.list li').forEach(function (li) {
  li.addEventListener('click', function () {
    fetch('data/step2.txt').then(function (r) { return r.text(); }).then(function (t) {
      document.getElementById('root').innerHTML = t;
    });
  });
});
