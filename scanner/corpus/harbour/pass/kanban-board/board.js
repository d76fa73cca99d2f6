const cols = ["Ideas", "Doing", "Done"];
let cards = JSON.parse(localStorage.cards || "null") || [
  { n: 1, t: "Card number on every ticket", c: 0 },
  { n: 2, t: "Rotate private key of the web server", c: 1 },
  { n: 3, t: "Ask bank about the second signature", c: 0 },
  { n: 4, t: "Reset password of the door panel", c: 2 },
];
const b = document.getElementById("b");
function draw() {
  b.innerHTML = cols.map((name, i) => `<section data-i="${i}"><h2>${name}</h2>${cards.filter(k => k.c === i).map(k => `<article draggable="true" data-n="${k.n}"><small>#${k.n}</small> ${k.t}</article>`).join("")}</section>`).join("");
  localStorage.cards = JSON.stringify(cards);
}
b.addEventListener("dragstart", e => e.dataTransfer.setData("n", e.target.dataset.n));
b.addEventListener("dragover", e => e.preventDefault());
b.addEventListener("drop", e => { const s = e.target.closest("section"); const k = cards.find(k => k.n == e.dataTransfer.getData("n")); if (s && k) { k.c = +s.dataset.i; draw(); } });
document.getElementById("add").onclick = () => { const f = document.getElementById("new"); if (f.value) { cards.push({ n: cards.length + 1, t: f.value, c: 0 }); f.value = ""; draw(); } };
draw();
