//! Mainspring's decisions.
#![no_std]
