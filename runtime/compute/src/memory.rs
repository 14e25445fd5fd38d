//! The memory of a manager's tensors on its device.

use std::cell::Cell;
use std::rc::Rc;

use crate::DType;
use crate::context::Context;
use crate::error::Result;

/// What a manager uses of its device's memory, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryReport {
    /// Of the manager's tensors and images that are on the device.
    pub used: u64,
    /// The most that was used at a time.
    pub peak: u64,
    /// What the process holds of the device's memory: tensors of all managers, buffers for transfers, and free
    /// memory for later tensors.
    pub reserved: u64,
    /// What the process can hold, as far as the driver tells.
    pub budget: u64,
    /// Each tensor on the device, the largest first.
    pub tensors: Vec<TensorMemory>,
}

/// A tensor or an image on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorMemory {
    pub label: String,
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub bytes: u64,
}

/// Counts bytes.
#[derive(Default)]
pub(crate) struct Usage {
    used: Cell<u64>,
    peak: Cell<u64>,
}

impl Usage {
    pub fn peak(&self) -> u64 {
        self.peak.get()
    }

    pub fn set_peak(&self, peak: u64) {
        self.peak.set(peak);
    }
}

/// Bytes that count until this is dropped.
pub(crate) struct Counted {
    context: Rc<Context>,
    bytes: u64,
}

impl Counted {
    pub fn new(context: &Rc<Context>, bytes: u64) -> Counted {
        let usage = &context.usage;
        usage.used.set(usage.used.get() + bytes);
        usage.peak.set(usage.peak.get().max(usage.used.get()));
        Counted { context: context.clone(), bytes }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let used = &self.context.usage.used;
        used.set(used.get() - self.bytes);
    }
}

/// The memory of the manager with this context.
pub(crate) fn report(context: &Rc<Context>) -> Result<MemoryReport> {
    let memory = context.device("read the memory of")?.memory();
    let mut tensors = Vec::new();
    context.each_storage(|storage| tensors.extend(storage.memory_on(context)));
    tensors.sort_by(|one: &TensorMemory, other| {
        other.bytes.cmp(&one.bytes).then_with(|| one.label.cmp(&other.label))
    });
    Ok(MemoryReport {
        used: context.usage.used.get(),
        peak: context.usage.peak.get(),
        reserved: memory.reserved,
        budget: memory.budget,
        tensors,
    })
}
