//! A person's orders for a project: our record of them, and the person's own file in the
//! project.

use std::path::PathBuf;

use mainspring_kernel::Orders;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::orders::Until;
use mainspring_store::{Trouble, json_change, read_json};

use crate::project::Project;
use crate::store::ProjectStore;

/// While this file exists, the machines are stopped here.
pub(crate) const OFF_FILE: &str = ".mainspring-off";

/// The orders as they are recorded, with the bytes that they were read from.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) orders: Orders,
    path: PathBuf,
    bytes: Option<Vec<u8>>,
}

impl Recorded {
    pub(crate) fn load(store: &ProjectStore) -> Result<Self, Trouble> {
        let found = read_json::<Orders>(store.dir().join("orders.json"))?;
        Ok(Self {
            orders: found.value.unwrap_or_default(),
            path: found.path,
            bytes: found.bytes,
        })
    }

    /// The change that records these orders; without orders the file is deleted.
    pub(crate) fn change(&self, orders: &Orders) -> Result<FileChange, Trouble> {
        let orders = Some(orders).filter(|orders| !orders.is_empty());
        json_change(&self.path, self.bytes.as_deref(), orders)
    }
}

/// The orders in force: those that were recorded, and the file in the project.
pub(crate) fn in_force(project: &Project, store: &ProjectStore) -> Result<Orders, Trouble> {
    let mut orders = Recorded::load(store)?.orders;
    if std::fs::symlink_metadata(project.file(OFF_FILE)).is_ok() {
        orders.everything = Some(Until::FileGone);
    }
    Ok(orders)
}
