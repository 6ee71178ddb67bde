//! What the tests and benchmarks are made with. Never shipped.
