mod hostile;
mod pages;
mod reading;
