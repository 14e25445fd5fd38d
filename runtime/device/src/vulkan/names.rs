//! Names of Vulkan's objects, for debuggers, captures and the messages of layers (VK_EXT_debug_utils).
//!
//! Objects have names only if the instance was made with layers: otherwise nobody would see them.

use std::ffi::CString;

use ash::vk;

use super::loader::Loader;

pub(super) struct Names(Option<ash::ext::debug_utils::Device>);

impl Names {
    pub fn new(loader: &Loader, device: &ash::Device) -> Names {
        Names(loader.has_names.then(|| ash::ext::debug_utils::Device::new(&loader.instance, device)))
    }

    /// Names an object; the text is made only if somebody sees it.
    pub fn set<H: vk::Handle + Copy>(&self, handle: H, name: impl FnOnce() -> String) {
        let Some(debug) = &self.0 else { return };
        if handle.as_raw() == 0 {
            return;
        }
        let name = CString::new(name().replace('\0', " ")).expect("it has no zero byte");
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&name);
        // SAFETY: the object is alive and of this device, and no other thread uses it.
        // A name that the driver has no memory for is only missing.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }
}
