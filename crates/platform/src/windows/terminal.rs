//! The person's window.

/// Its columns and rows are not asked for here: a view is printed as it is, without a pager.
pub fn size() -> Option<(usize, usize)> {
    None
}
