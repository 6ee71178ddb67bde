//! The floor that every figure is compared with: a static program that says hello.

#![expect(clippy::print_stdout, reason = "that is all it does")]

fn main() {
    println!("hello");
}
