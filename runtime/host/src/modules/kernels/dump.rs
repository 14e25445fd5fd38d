//! Compiled modules as files, for whoever sets `KPS_SPIRV_DIR`: validators and disassemblers.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use kps_kernel::KernelModule;

/// Writes a module to the folder that the environment names, if it names one.
pub fn module(name: &str, module: &KernelModule) {
    let Some(folder) = std::env::var_os("KPS_SPIRV_DIR") else { return };
    let mut hasher = DefaultHasher::new();
    module.words.hash(&mut hasher);
    let file = Path::new(&folder).join(format!("{name}-{:016x}.spv", hasher.finish()));
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, module.bytes()));
    if let Err(error) = written {
        eprintln!("KPS_SPIRV_DIR: cannot write {}: {error}", file.display());
    }
}
