mod hostile;
mod looks;
mod sheets;
