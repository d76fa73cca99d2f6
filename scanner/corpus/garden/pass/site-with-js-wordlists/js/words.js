window.TERMS = [
  "river bank", "seed phrase", "private key", "card number", "cvv", "password", "google", "apple",
  "microsoft", "paypal", "coinbase", "wallet", "verify your", "harvest", "lantern", "thistle",
  "orchard", "mill", "gravel", "quince", "heron", "saddle", "copper", "violet"
];
