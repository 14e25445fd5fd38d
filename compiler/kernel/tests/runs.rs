//! Every kernel of the files in `cases/run` runs on the built-in device, in order. The file beside it has the expected
//! contents of its arrays; `UPDATE=1` writes it. Arrays by address give the same results as arrays in descriptors.
//!
//! `# domain 10` sets the number of invocations, and `# set a = 1 2 3` the initial value of an array or a scalar. Other
//! arrays are zero, and as long as the domain. `# domain 2 5` has two axes; `# shape a = 2 5` sets those of an array.

mod support;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use kps_device::interface::{self, MemberType};
use kps_device::{
    Access, Addressed, Binding, BufferId, Command, Commands, Device, Dispatch, MemoryUsage, QueueId,
};
use kps_kernel::{BindingPlace, Constant, KernelModule, Reach, Scalar, Target, Type};

use support::{Compiled, compile, render};

struct Setup {
    domain: Vec<u32>,
    values: HashMap<String, Vec<String>>,
    shapes: HashMap<String, Vec<u32>>,
}

impl Setup {
    fn n_invocations(&self) -> usize {
        self.domain.iter().product::<u32>() as usize
    }

    /// What a hidden member of the push constants is, by its name.
    fn hidden(&self, name: &str) -> Vec<u32> {
        let along = |axis: usize| self.domain.iter().rev().nth(axis).copied().unwrap_or(1);
        if name == "kps.domain" {
            return (0..3).map(along).collect();
        }
        if let Some(array) = name.strip_prefix("kps.len.") {
            return vec![self.shapes.get(array).unwrap_or(&self.domain).iter().product()];
        }
        let (array, axis) = name["kps.shape.".len()..].rsplit_once('.').expect("an array and its axis");
        let axis: usize = axis.parse().expect("a number");
        vec![self.shapes.get(array).unwrap_or(&self.domain)[axis]]
    }
}

fn setup(text: &str) -> Setup {
    let numbers = |text: &str| -> Vec<u32> {
        text.split_whitespace().map(|number| number.parse().expect("a number")).collect()
    };
    let mut setup = Setup { domain: vec![10], values: HashMap::new(), shapes: HashMap::new() };
    for line in text.lines() {
        if let Some(domain) = line.strip_prefix("# domain ") {
            setup.domain = numbers(domain);
        } else if let Some(shape) = line.strip_prefix("# shape ") {
            let (name, axes) = shape.split_once('=').expect("`# shape name = axes`");
            setup.shapes.insert(name.trim().to_owned(), numbers(axes));
        } else if let Some(set) = line.strip_prefix("# set ") {
            let (name, values) = set.split_once('=').expect("`# set name = values`");
            let values = values.split_whitespace().map(str::to_owned).collect();
            setup.values.insert(name.trim().to_owned(), values);
        }
    }
    setup
}

fn encode(scalar: Scalar, text: &str) -> Vec<u8> {
    let int = || text.parse::<i128>().unwrap_or_else(|_| panic!("`{text}` is an int"));
    let float = || text.parse::<f64>().unwrap_or_else(|_| panic!("`{text}` is a float"));
    match scalar {
        Scalar::I32 | Scalar::U32 => (int() as u32).to_le_bytes().to_vec(),
        Scalar::Bool => vec![u8::from(text == "True")],
        Scalar::I8 | Scalar::U8 => vec![int() as u8],
        Scalar::I16 | Scalar::U16 => (int() as u16).to_le_bytes().to_vec(),
        Scalar::F16 | Scalar::Bf16 => (Constant::float(scalar, float()).bits() as u16).to_le_bytes().to_vec(),
        Scalar::I64 | Scalar::U64 => (int() as u64).to_le_bytes().to_vec(),
        Scalar::F32 => (float() as f32).to_le_bytes().to_vec(),
        Scalar::F64 => float().to_le_bytes().to_vec(),
    }
}

/// The numbers of every element, each where it belongs.
fn encode_elements(element: &Type, values: &[String]) -> Vec<u8> {
    let numbers = element.numbers();
    let mut bytes = Vec::new();
    for values in values.chunks(numbers.len()) {
        let start = bytes.len();
        bytes.resize(start + element.packed_size() as usize, 0);
        for (value, (offset, scalar)) in values.iter().zip(&numbers) {
            let (at, number) = (start + *offset as usize, encode(*scalar, value));
            bytes[at..at + number.len()].copy_from_slice(&number);
        }
    }
    bytes
}

/// The numbers of a parameter, each as it travels.
fn put_numbers(ty: &Type, values: &[String], start: usize, block: &mut [u8]) {
    let mut at = start;
    for (value, (_, scalar)) in values.iter().zip(ty.numbers()) {
        let number = encode(scalar.in_push_constants(), value);
        at = at.next_multiple_of(number.len());
        block[at..at + number.len()].copy_from_slice(&number);
        at += number.len();
    }
}

fn decode(scalar: Scalar, bytes: &[u8]) -> String {
    let two = || u16::from_le_bytes(bytes[..2].try_into().expect("two bytes"));
    let four = || bytes[..4].try_into().expect("four bytes");
    let eight = || bytes[..8].try_into().expect("eight bytes");
    match scalar {
        Scalar::Bool => (if bytes[0] == 0 { "False" } else { "True" }).to_owned(),
        Scalar::I8 => (bytes[0] as i8).to_string(),
        Scalar::U8 => bytes[0].to_string(),
        Scalar::I16 => (two() as i16).to_string(),
        Scalar::U16 => two().to_string(),
        Scalar::F16 | Scalar::Bf16 => {
            format!("{:?}", Constant::of_bits(scalar, two().into()).as_float().expect("a float"))
        }
        Scalar::I32 => i32::from_le_bytes(four()).to_string(),
        Scalar::U32 => u32::from_le_bytes(four()).to_string(),
        Scalar::I64 => i64::from_le_bytes(eight()).to_string(),
        Scalar::U64 => u64::from_le_bytes(eight()).to_string(),
        // Six digits: the last ones of a sine are the device's own.
        Scalar::F32 => format!("{:?}", round(f64::from(f32::from_le_bytes(four())), 6)),
        Scalar::F64 => format!("{:?}", round(f64::from_le_bytes(eight()), 12)),
    }
}

fn round(value: f64, digits: usize) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    format!("{value:.*e}", digits - 1).parse().expect("a float printed")
}

/// Fills in the members that the runtime would.
fn put_hidden(block: Option<&interface::Block>, setup: &Setup, bytes: &mut [u8]) {
    for member in block.iter().flat_map(|block| &block.members) {
        let name = member.name.as_deref().unwrap_or_default();
        if !name.starts_with("kps.") || name.starts_with(interface::ADDRESS) {
            continue;
        }
        let counts = setup.hidden(name);
        let counts: Vec<u8> = match member.ty {
            MemberType::Scalar(Scalar::U64) | MemberType::Vector { scalar: Scalar::U64, .. } => {
                counts.iter().flat_map(|count| u64::from(*count).to_le_bytes()).collect()
            }
            _ => counts.iter().flat_map(|count| count.to_le_bytes()).collect(),
        };
        let at = member.offset as usize;
        bytes[at..at + counts.len()].copy_from_slice(&counts);
    }
}

fn run(device: &dyn Device, module: &KernelModule, setup: &Setup) -> String {
    let pipeline = device.load(&module.words, &Default::default()).expect("our own words load");
    let mut push_constants = vec![0; module.push_constant_size as usize];
    let mut uniforms = vec![0; module.uniform_size as usize];
    let (mut bindings, mut addressed) = (Vec::new(), Vec::new());
    let interface = device.interface(pipeline).expect("a loaded pipeline");
    let mut arrays: Vec<(String, BufferId, Type, usize)> = Vec::new();
    for binding in &module.bindings {
        let given = setup.values.get(&*binding.name);
        match &binding.place {
            BindingPlace::Buffer { set, binding: slot, element, reads, writes } => {
                let bytes: Vec<u8> = match given {
                    Some(values) => encode_elements(element, values),
                    None => vec![0; setup.n_invocations() * element.packed_size() as usize],
                };
                let size = bytes.len();
                let buffer = device.alloc(size as u64, MemoryUsage::Host).expect("memory");
                device.write(buffer, 0, &bytes).expect("a write");
                let access = match (reads, writes) {
                    (true, true) => Access::ReadWrite,
                    (false, true) => Access::Write,
                    _ => Access::Read,
                };
                let by_address = interface.addresses.iter().find(|array| array.name == *binding.name);
                let n_bytes = size as u64;
                match by_address {
                    Some(array) => {
                        assert_eq!(array.access, access, "what `{}` is used for", array.name);
                        let at = array.offset;
                        addressed.push(Addressed { at, buffer, offset: 0, size: n_bytes, access });
                    }
                    None => {
                        let (set, binding) = (*set, *slot);
                        bindings.push(Binding { set, binding, buffer, offset: 0, size: n_bytes, access });
                    }
                }
                arrays.push((binding.name.to_string(), buffer, element.clone(), size));
            }
            BindingPlace::Texture { .. } | BindingPlace::Sampler { .. } => {
                panic!("kernels with images run in the suite")
            }
            BindingPlace::PushConstant { offset, ty } => {
                let values = given.expect("`# set` for every scalar");
                put_numbers(ty, values, *offset as usize, &mut push_constants);
            }
            BindingPlace::Uniform { offset, ty } => {
                let values = given.expect("`# set` for every scalar");
                put_numbers(ty, values, *offset as usize, &mut uniforms);
            }
        }
    }
    let spilled = interface.buffers.iter().find(|buffer| buffer.is_spill());
    put_hidden(interface.push_constants.as_ref(), setup, &mut push_constants);
    put_hidden(spilled.map(|buffer| &buffer.layout), setup, &mut uniforms);
    if !uniforms.is_empty() {
        let size = uniforms.len() as u64;
        let buffer = device.alloc(size, MemoryUsage::Host).expect("memory");
        device.write(buffer, 0, &uniforms).expect("a write");
        bindings.push(Binding { set: 1, binding: 0, buffer, offset: 0, size, access: Access::Read });
    }
    let mut groups = [1; 3];
    for (axis, n) in setup.domain.iter().rev().enumerate() {
        groups[axis] = if module.has_domain { n.div_ceil(module.local_size[axis]) } else { *n };
    }
    let samplers = Vec::new();
    let dispatch =
        Command::Dispatch(Dispatch { pipeline, bindings, samplers, push_constants, addressed, groups });
    let ticket = device.submit(QueueId(0), &Commands::new(vec![dispatch]), &[]).expect("a submission");
    device.wait(ticket, None).expect("the end of it");
    let mut text = String::new();
    for (name, buffer, element, size) in arrays {
        let mut bytes = vec![0; size];
        device.read(buffer, 0, &mut bytes).expect("a read");
        let numbers = element.numbers();
        let elements = bytes.chunks_exact(element.packed_size() as usize);
        let values: Vec<String> = elements
            .flat_map(|bytes| {
                numbers.iter().map(move |(offset, scalar)| decode(*scalar, &bytes[*offset as usize..]))
            })
            .collect();
        text += &format!("  {name}: {}\n", values.join(" "));
        device.free(buffer);
    }
    text
}

#[test]
fn kernels_give_what_lies_beside_them() {
    let device = kps_device::cpu::open().expect("the built-in device is always there");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/run");
    let mut failures = Vec::new();
    for path in kps_snapshots::cases(&folder, &["kps"]) {
        let text = fs::read_to_string(&path).expect("a case");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let setup = setup(&text);
        let [found, by_address] = [Reach::Binding, Reach::Address].map(|reach| {
            let (kernels, mistakes) = compile(&name, &text, &Target::portable(), reach);
            let run = |one: &Compiled| format!("{}\n{}", one.name, run(&*device, &one.module, &setup));
            render(&mistakes) + &kernels.iter().map(run).collect::<String>()
        });
        if found != by_address {
            failures.push(format!("{name}\n--- bound\n{found}--- reached by address\n{by_address}"));
        }
        failures.extend(kps_snapshots::compare(&path.with_extension("out"), &found).err());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
