//! The floor that every measurement is compared with: a static program that prints hello.

#![expect(clippy::print_stdout, reason = "that is all it does")]

fn main() {
    println!("hello");
}
