"use strict";
/* built with a tiny createElement clone, no dependency */
function h(tag, props) {
  var el = document.createElement(tag);
  Object.keys(props || {}).forEach(function (k) {
    if (k.slice(0, 2) === "on") el.addEventListener(k.slice(2).toLowerCase(), props[k]);
    else el[k] = props[k];
  });
  [].slice.call(arguments, 2).forEach(function (c) { el.append(c); });
  return el;
}
var KEY = "errandly.items"; // localStorage key
var items = JSON.parse(localStorage.getItem(KEY) || '[{"t":"pay in cheque at bank","d":false},{"t":"buy new wallet for Dad","d":false},{"t":"apples, milk","d":true}]');
function save() { localStorage.setItem(KEY, JSON.stringify(items)); render(); }
function render() {
  var root = document.getElementById("root");
  root.textContent = "";
  var input = h("input", { type: "text", placeholder: "What needs doing?", name: "todo" });
  var form = h("form", { onSubmit: function (e) { e.preventDefault(); if (input.value) { items.push({ t: input.value, d: false }); save(); } } }, input, h("button", {}, "Add"));
  var list = h("ul", {});
  items.forEach(function (it, i) {
    list.append(h("li", { className: it.d ? "done" : "" },
      h("input", { type: "checkbox", checked: it.d, onChange: function () { it.d = !it.d; save(); } }),
      it.t + " ",
      h("button", { onClick: function () { items.splice(i, 1); save(); } }, "×")));
  });
  root.append(h("div", { className: "app" }, h("h1", {}, "Errandly"), form, list));
}
render();
