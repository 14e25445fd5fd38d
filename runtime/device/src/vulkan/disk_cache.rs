//! The driver's pipeline cache, stored in the user's cache folder.
//!
//! A file belongs to one device and one driver. It begins with a header of kps, because drivers do not
//! validate their data: a truncated file, or one of another driver, is not used. Errors with the file are
//! ignored, because it is only a cache.

use std::fs;
use std::hash::Hasher;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ash::vk;
use rustc_hash::FxHasher;

use super::gpu::Gpu;
use crate::Result;

const MAGIC: &[u8; 8] = b"kpspipe1";
const HEAD: usize = MAGIC.len() + 16;

pub(super) struct DiskCache {
    gpu: Rc<Gpu>,
    pub handle: vk::PipelineCache,
    path: Option<PathBuf>,
    /// Fingerprint of the file's data, and whether there may be more to store.
    loaded: u64,
    pub grown: bool,
}

impl DiskCache {
    pub fn open(gpu: &Rc<Gpu>) -> Result<DiskCache> {
        let path = folder().map(|folder| folder.join(file_name(&gpu.physical.properties)));
        let data = path.as_deref().and_then(read).unwrap_or_default();
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&data);
        // SAFETY: the data came from this driver, which checks its own header as well.
        let handle = unsafe { gpu.device.create_pipeline_cache(&info, None) };
        let handle = handle.map_err(|result| gpu.error("vkCreatePipelineCache", result))?;
        gpu.names.set(handle, || "pipeline cache".to_owned());
        Ok(DiskCache { gpu: gpu.clone(), handle, path, loaded: fingerprint(&data), grown: false })
    }

    /// Rewrites the file if there is more to store.
    pub fn save(&mut self) {
        let Some(path) = self.path.as_deref().filter(|_| self.grown) else { return };
        self.grown = false;
        // SAFETY: the cache is alive.
        let Ok(data) = (unsafe { self.gpu.device.get_pipeline_cache_data(self.handle) }) else { return };
        let print = fingerprint(&data);
        if !data.is_empty() && print != self.loaded {
            // Data that cannot be stored is compiled again the next time.
            let _ = write(path, &data, print);
            self.loaded = print;
        }
    }
}

impl Drop for DiskCache {
    fn drop(&mut self) {
        self.save();
        // SAFETY: no pipeline is being created.
        unsafe { self.gpu.device.destroy_pipeline_cache(self.handle, None) };
    }
}

fn folder() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("kps").join("pipelines"))
}

fn file_name(properties: &vk::PhysicalDeviceProperties) -> String {
    let uuid: String = properties.pipeline_cache_uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "{:04x}-{:04x}-{:08x}-{uuid}",
        properties.vendor_id, properties.device_id, properties.driver_version
    )
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let file = fs::read(path).ok()?;
    let (head, data) = file.split_at_checked(HEAD)?;
    (head == head_of(data, fingerprint(data))).then(|| data.to_vec())
}

/// Replaces the file atomically.
fn write(path: &Path, data: &[u8], print: u64) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let draft = path.with_extension(format!("{}.draft", std::process::id()));
    let written = (|| {
        let mut file = fs::File::create(&draft)?;
        file.write_all(&head_of(data, print))?;
        file.write_all(data)?;
        fs::rename(&draft, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn head_of(data: &[u8], print: u64) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(MAGIC);
    head[8..16].copy_from_slice(&(data.len() as u64).to_le_bytes());
    head[16..].copy_from_slice(&print.to_le_bytes());
    head
}

fn fingerprint(data: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(data);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_files_are_read_back() {
        let folder = std::env::temp_dir().join(format!("kps-disk-cache-{}", std::process::id()));
        let path = folder.join("device");
        let data = b"compiled pipelines".to_vec();
        write(&path, &data, fingerprint(&data)).expect("it writes");
        assert_eq!(read(&path), Some(data));
        let mut bytes = fs::read(&path).expect("it is there");
        bytes[HEAD + 3] ^= 1;
        fs::write(&path, &bytes).expect("it writes");
        assert_eq!(read(&path), None, "a bit is wrong");
        bytes[HEAD + 3] ^= 1;
        fs::write(&path, &bytes[..bytes.len() - 1]).expect("it writes");
        assert_eq!(read(&path), None, "the end is missing");
        fs::write(&path, b"kps").expect("it writes");
        assert_eq!(read(&path), None, "not even the head is whole");
        assert_eq!(read(&folder.join("nothing")), None);
        fs::remove_dir_all(&folder).expect("it goes away");
    }
}
