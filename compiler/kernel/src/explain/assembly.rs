//! The SPIR-V of one line of the source, with names instead of ids where the module has names.

use std::collections::BTreeMap;

use rspirv::binary::Disassemble;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{GlslStd450Op, Op};

/// The instructions that belong to line `line` of the file called `file`, each as a line of assembly;
/// empty where there are none.
pub fn assembly_of_line(words: &[u32], file: &str, line: u32) -> Vec<String> {
    let Some(module) = crate::disassembly::load(words) else { return Vec::new() };
    let names = names(&module);
    let files = files(&module, file);
    let mut lines = Vec::new();
    for block in module.functions.iter().flat_map(|function| &function.blocks) {
        let mut is_here = false;
        for instruction in &block.instructions {
            match instruction.class.opcode {
                Op::Line => is_here = is_at(instruction, &files, line),
                Op::NoLine => is_here = false,
                _ if is_here => lines.push(line_of(instruction, &names)),
                _ => {}
            }
        }
    }
    lines
}

/// An instruction; one of GLSL.std.450 by its name there.
fn line_of(instruction: &Instruction, names: &BTreeMap<u32, String>) -> String {
    let text = named(&instruction.disassemble(), names);
    match instruction.operands.as_slice() {
        [Operand::IdRef(_), Operand::LiteralExtInstInteger(number), ..]
            if instruction.class.opcode == Op::ExtInst =>
        {
            match GlslStd450Op::from_u32(*number) {
                Some(op) => text.replacen(&format!(" {number} "), &format!(" {op:?} "), 1),
                None => text,
            }
        }
        _ => text,
    }
}

/// The ids of the strings that name the file.
fn files(module: &Module, file: &str) -> Vec<u32> {
    let is_it = |string: &&Instruction| matches!(string.operands.first(), Some(Operand::LiteralString(name)) if name == file);
    module.debug_string_source.iter().filter(is_it).filter_map(|string| string.result_id).collect()
}

fn is_at(instruction: &Instruction, files: &[u32], line: u32) -> bool {
    matches!(
        instruction.operands.as_slice(),
        [Operand::IdRef(file), Operand::LiteralBit32(at), ..] if files.contains(file) && *at == line
    )
}

/// A name for each id that has one: its own, or for types and constants what they are. A name that two
/// ids share is followed by the id.
fn names(module: &Module) -> BTreeMap<u32, String> {
    let mut names = BTreeMap::new();
    for instruction in &module.types_global_values {
        if let (Some(id), Some(name)) = (instruction.result_id, of_global(instruction, &names)) {
            names.insert(id, name);
        }
    }
    for instruction in &module.debug_names {
        if let (Op::Name, [Operand::IdRef(id), Operand::LiteralString(name)]) =
            (instruction.class.opcode, instruction.operands.as_slice())
        {
            names.insert(*id, name.clone());
        }
    }
    for import in &module.ext_inst_imports {
        if let (Some(id), Some(Operand::LiteralString(name))) = (import.result_id, import.operands.first()) {
            names.insert(id, name.clone());
        }
    }
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for name in names.values() {
        *times.entry(name.clone()).or_default() += 1;
    }
    for (id, name) in &mut names {
        if times.get(name).is_some_and(|times| *times > 1) {
            *name = format!("{name}.{id}");
        }
    }
    names
}

/// `f32`, `vec3`, `ptr.f32`, `const.2.0`.
fn of_global(instruction: &Instruction, names: &BTreeMap<u32, String>) -> Option<String> {
    let named = |id: u32| names.get(&id).cloned().unwrap_or_else(|| id.to_string());
    let ty = instruction.result_type.map(named);
    Some(match (instruction.class.opcode, instruction.operands.as_slice()) {
        (Op::TypeVoid, _) => "void".to_owned(),
        (Op::TypeBool, _) => "bool".to_owned(),
        (Op::TypeFloat, [Operand::LiteralBit32(bits), ..]) => format!("f{bits}"),
        (Op::TypeInt, [Operand::LiteralBit32(bits), Operand::LiteralBit32(signed)]) => {
            format!("{}{bits}", if *signed == 1 { 'i' } else { 'u' })
        }
        (Op::TypeVector, [Operand::IdRef(part), Operand::LiteralBit32(n)]) => format!("{}x{n}", named(*part)),
        (Op::TypePointer, [Operand::StorageClass(class), Operand::IdRef(to)]) => {
            format!("{class:?}.{}", named(*to))
        }
        (Op::ConstantTrue, _) => "True".to_owned(),
        (Op::ConstantFalse, _) => "False".to_owned(),
        (Op::ConstantNull, _) => format!("{}.zero", ty?),
        (Op::Constant, [Operand::LiteralBit32(bits)]) => constant(&ty?, u64::from(*bits)),
        (Op::Constant, [Operand::LiteralBit64(bits)]) => constant(&ty?, *bits),
        _ => return None,
    })
}

fn constant(ty: &str, bits: u64) -> String {
    let value = match ty {
        "f32" => format!("{:?}", f32::from_bits(bits as u32)),
        "f64" => format!("{:?}", f64::from_bits(bits)),
        "f16" => format!("{:?}", half::f16::from_bits(bits as u16).to_f32()),
        _ if ty.starts_with('i') && ty != "i64" => (bits as u32 as i32).to_string(),
        "i64" => (bits as i64).to_string(),
        _ => bits.to_string(),
    };
    format!("{ty}.{value}")
}

/// A line of assembly with `%12` as `%name`.
fn named(line: &str, names: &BTreeMap<u32, String>) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('%') {
        let (before, after) = rest.split_at(at + 1);
        text.push_str(before);
        let n_digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let name = after[..n_digits].parse().ok().and_then(|id: u32| names.get(&id));
        text.push_str(name.map_or(&after[..n_digits], String::as_str));
        rest = &after[n_digits..];
    }
    text.push_str(rest);
    text.replace("  ", " ").trim_end().to_owned()
}
