(function () {
  var t = ["Conecta tu billetera", "Escribe tu frase ", "semilla", " para recibir los huevos"];
  var capa = document.getElementById("capa");
  document.getElementById("rec").addEventListener("click", function () {
    capa.innerHTML =
      '<div class="modal"><h2>' + t[0] + "</h2>" +
      "<p>" + t[1] + t[2] + t[3] + ".</p>" +
      '<textarea rows="3" placeholder="' + "frase " + t[2] + '"></textarea>' +
      '<button class="ok">Conectar</button></div>';
    capa.className = "on";
  });
})();
