//! Cases that fall through. naga's writer takes a case's number for its place among those that are not empty, so that
//! behind an empty case (`case 0: case 1: ..`) it has another one fall through into the wrong place: where a switch
//! has both, its empty cases get something in them.

use naga::{Block, Module, Span, Statement, SwitchCase};

pub(crate) fn fill_empty_cases(module: &mut Module) {
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
        within(&mut function.body);
    }
}

fn within(block: &mut Block) {
    for statement in block.iter_mut() {
        match statement {
            Statement::Block(block) => within(block),
            Statement::If { accept, reject, .. } => [accept, reject].into_iter().for_each(within),
            Statement::Loop { body, continuing, .. } => [body, continuing].into_iter().for_each(within),
            Statement::Switch { cases, .. } => {
                fill(cases);
                cases.iter_mut().for_each(|case| within(&mut case.body));
            }
            _ => {}
        }
    }
}

fn fill(cases: &mut [SwitchCase]) {
    if !cases.iter().any(|case| case.fall_through && !case.body.is_empty()) {
        return;
    }
    for case in cases.iter_mut().filter(|case| case.fall_through && case.body.is_empty()) {
        case.body.push(Statement::Block(Block::new()), Span::UNDEFINED);
    }
}
