let line = [], start = 0;
const next = () => {
  line = Array.from({length: 8}, () => TERMS[Math.random() * TERMS.length | 0]);
  document.getElementById('t').textContent = line.join(' ');
  document.getElementById('i').value = '';
  start = 0;
};
document.getElementById('i').addEventListener('input', e => {
  if (!start) start = Date.now();
  if (e.target.value === line.join(' ')) {
    document.getElementById('s').textContent = Math.round(8 / ((Date.now() - start) / 60000));
    next();
  }
});
next();
