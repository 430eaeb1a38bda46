//! Random numbers of many distributions, and their densities.

pub mod densities;
pub mod hawkes;
pub mod laws;
pub mod multinomial;
pub mod randint;
pub mod zipfian;
