//! Compiled modules as files, for validators and disassemblers.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use kps_kernel::KernelModule;

use crate::value::{ExceptionKind, Raise, Result};

/// Writes a module to a folder, which is created if it does not exist.
pub fn module(folder: &Path, name: &str, module: &KernelModule) -> Result<()> {
    let mut hasher = DefaultHasher::new();
    module.words.hash(&mut hasher);
    let file = folder.join(format!("{name}-{:016x}.spv", hasher.finish()));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, module.bytes()));
    written.map_err(|error| {
        let message = format!("cannot write the SPIR-V of `{name}` to {}: {error}", file.display());
        Raise::new(ExceptionKind::OSError, message)
    })
}
