//! t
#![allow(dead_code)]
mod heap;
