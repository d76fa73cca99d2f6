let teller = 0;

class InvulVeld extends HTMLElement {
  connectedCallback() {
    const id = 'v' + ++teller;
    const kop = this.getAttribute('kop');
    const naam = this.getAttribute('naam');
    const opties = this.getAttribute('opties');
    let veld;
    if (opties) {
      veld = `<select id="${id}" name="${naam}">${opties.split(',').map(o => `<option>${o}</option>`).join('')}</select>`;
    } else if (this.hasAttribute('lang')) {
      veld = `<textarea id="${id}" name="${naam}" placeholder="${this.getAttribute('hint') ?? ''}"></textarea>`;
    } else {
      veld = `<input id="${id}" name="${naam}" type="${this.getAttribute('soort') ?? 'text'}">`;
    }
    this.innerHTML = `<label for="${id}">${kop}</label><br>${veld}`;
  }
}

customElements.define('invul-veld', InvulVeld);
