document.getElementById('go').onclick=function(){fetch('parts/p2.html').then(function(r){return r.text()}).then(function(t){document.getElementById('v').innerHTML=t})};
