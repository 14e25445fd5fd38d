//! Words in, assembly out.

use rspirv::binary::{Consumer, Disassemble, ParseAction, parse_words};
use rspirv::dr::{Instruction, Loader, Module, ModuleHeader};
use rspirv::spirv::Op;

/// The assembly of a module; words that are none are named as such.
pub fn disassemble(words: &[u32]) -> String {
    match load(words) {
        Ok(module) => module.disassemble(),
        Err(error) => format!("; not SPIR-V: {error}"),
    }
}

/// A module of any words. Debug information between functions stands behind the types and constants.
pub(crate) fn load(words: &[u32]) -> Result<Module, String> {
    let mut placing = Placing { loader: Loader::new(), in_function: false, outside: Vec::new() };
    parse_words(words, &mut placing).map_err(|state| state.to_string())?;
    let mut module = placing.loader.module();
    module.types_global_values.extend(placing.outside);
    Ok(module)
}

/// Feeds the loader, minus what it has no place for.
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
