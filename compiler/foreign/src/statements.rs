//! All statements of a module, however deep they are nested.

use naga::{Block, Module, Statement};

pub(crate) fn for_each(module: &mut Module, change: &mut dyn FnMut(&mut Statement)) {
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
        within(&mut function.body, change);
    }
}

fn within(block: &mut Block, change: &mut dyn FnMut(&mut Statement)) {
    for statement in block.iter_mut() {
        change(statement);
        match statement {
            Statement::Block(block) => within(block, change),
            Statement::If { accept, reject, .. } => {
                within(accept, change);
                within(reject, change);
            }
            Statement::Loop { body, continuing, .. } => {
                within(body, change);
                within(continuing, change);
            }
            Statement::Switch { cases, .. } => {
                cases.iter_mut().for_each(|case| within(&mut case.body, change));
            }
            _ => {}
        }
    }
}
