//! The disassembler: a module in, assembly out; `None` if the module is malformed.

use rspirv::binary::{Consumer, Disassemble, ParseAction, parse_words};
use rspirv::dr::{Instruction, Loader, Module, ModuleHeader};
use rspirv::spirv::Op;
use rustc_hash::FxHashSet;

/// The assembly of a module.
pub fn disassemble(words: &[u32]) -> Option<String> {
    load(words).map(|module| module.disassemble())
}

/// Disassembles a module. Debug information between functions is shown after the types and constants.
pub(crate) fn load(words: &[u32]) -> Option<Module> {
    if !is_readable(words) {
        return None;
    }
    let mut placing = Placing { loader: Loader::new(), in_function: false, outside: Vec::new() };
    parse_words(words, &mut placing).ok()?;
    let mut module = placing.loader.module();
    module.types_global_values.extend(placing.outside);
    Some(module)
}

/// Whether the reader can take words: it trusts instructions to be as long as they say, and constants to be of
/// numbers that are declared.
fn is_readable(words: &[u32]) -> bool {
    const HEADER_WORDS: usize = 5;
    const OP_TYPE_INT: u32 = Op::TypeInt as u32;
    const OP_TYPE_FLOAT: u32 = Op::TypeFloat as u32;
    const OP_CONSTANT: u32 = Op::Constant as u32;
    const OP_SPEC_CONSTANT: u32 = Op::SpecConstant as u32;
    let Some(mut rest) = words.get(HEADER_WORDS..) else { return false };
    let mut numbers = FxHashSet::default();
    while let Some(first) = rest.first() {
        let n_words = (first >> 16) as usize;
        if n_words == 0 || n_words > rest.len() {
            return false;
        }
        let (instruction, behind) = rest.split_at(n_words);
        match (first & 0xffff, instruction) {
            (OP_TYPE_INT | OP_TYPE_FLOAT, [_, id, ..]) => drop(numbers.insert(*id)),
            (OP_CONSTANT | OP_SPEC_CONSTANT, [_, ty, ..]) if !numbers.contains(ty) => return false,
            _ => {}
        }
        rest = behind;
    }
    true
}

/// Feeds the loader, without the instructions that it does not support.
struct Placing {
    loader: Loader,
    in_function: bool,
    outside: Vec<Instruction>,
}

impl Consumer for Placing {
    fn initialize(&mut self) -> ParseAction {
        self.loader.initialize()
    }

    fn finalize(&mut self) -> ParseAction {
        self.loader.finalize()
    }

    fn consume_header(&mut self, header: ModuleHeader) -> ParseAction {
        self.loader.consume_header(header)
    }

    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        match instruction.class.opcode {
            Op::ExtInst if !self.in_function => {
                self.outside.push(instruction);
                return ParseAction::Continue;
            }
            Op::Function => self.in_function = true,
            Op::FunctionEnd => self.in_function = false,
            _ => {}
        }
        self.loader.consume_instruction(instruction)
    }
}
