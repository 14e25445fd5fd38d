//! `Manager.memory()`: what the tensors of a manager take of its device's memory.

use kps_compute::MemoryReport;

use crate::modules::struct_seq::StructSeq;
use crate::value::{Args, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static MEMORY: NativeType = NativeType {
    methods: &[
        NativeDef::getter("used", |_, args| Ok(this(args)?.used.into()))
            .doc("", "Bytes of the manager's tensors and images on the device."),
        NativeDef::getter("peak", |_, args| Ok(this(args)?.peak.into()))
            .doc("", "The most bytes that were used at a time."),
        NativeDef::getter("reserved", |_, args| Ok(this(args)?.reserved.into())).doc(
            "",
            "Bytes that the process holds of the device's memory, with those of other managers and those kept for \
             later.",
        ),
        NativeDef::getter("budget", |_, args| Ok(this(args)?.budget.into()))
            .doc("", "Bytes that the process can hold, as far as the driver tells."),
        NativeDef::getter("tensors", |_, args| Ok(Value::list(args.this::<Memory>()?.tensors.clone())))
            .doc("", "Each tensor on the device, the largest first: its label, shape, dtype and bytes."),
    ],
    ..NativeType::new("Memory", "kp")
        .doc("", "What a manager uses of its device's memory; `Manager.memory` returns one.")
};

static TENSOR_MEMORY: NativeType = NativeType::new("TensorMemory", "kp");

/// Tensors that are shown at most.
const SHOWN: usize = 20;

struct Memory {
    report: MemoryReport,
    tensors: Vec<Value>,
}

/// The report as a script sees it.
pub fn value(vm: &mut Vm, report: &MemoryReport) -> Value {
    let mut tensors = Vec::with_capacity(report.tensors.len());
    for tensor in &report.tensors {
        let shape = Value::tuple(tensor.shape.iter().map(|axis| Value::from(*axis)).collect::<Vec<_>>());
        let dtype = super::dtype_value(vm, tensor.dtype.into()).unwrap_or(Value::None);
        let items = vec![Value::str(tensor.label.clone()), shape, dtype, tensor.bytes.into()];
        tensors.push(StructSeq::value(&TENSOR_MEMORY, &["label", "shape", "dtype", "nbytes"], items));
    }
    Value::native(Memory { report: report.clone(), tensors })
}

fn this<'a>(args: &'a Args) -> Result<&'a MemoryReport> {
    Ok(&args.this::<Memory>()?.report)
}

impl Native for Memory {
    fn native_type(&self) -> &'static NativeType {
        &MEMORY
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        let MemoryReport { used, peak, reserved, budget, tensors } = &self.report;
        let mut lines = vec![format!(
            "memory of the device: {} used, {} at the peak, {} reserved, budget {}",
            with_unit(*used),
            with_unit(*peak),
            with_unit(*reserved),
            with_unit(*budget)
        )];
        let sizes: Vec<String> = tensors.iter().take(SHOWN).map(|tensor| with_unit(tensor.bytes)).collect();
        let width = sizes.iter().map(String::len).max().unwrap_or(0);
        for (size, tensor) in sizes.iter().zip(tensors) {
            lines.push(format!("  {size:>width$}  {}", tensor.label));
        }
        if tensors.len() > SHOWN {
            lines.push(format!("  and {} smaller ones", tensors.len() - SHOWN));
        }
        Ok(lines.join("\n"))
    }
}

/// A number of bytes with a unit, in powers of 1024.
pub fn with_unit(n_bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = n_bytes as f64;
    let mut unit = None;
    for next in UNITS {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = Some(next);
    }
    match unit {
        None => format!("{n_bytes} B"),
        Some(unit) => format!("{size:.1} {unit}"),
    }
}
