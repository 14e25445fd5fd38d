//! Cases that fall through. naga's writer takes a case's number for its place among those that are not empty, so that
//! behind an empty case (`case 0: case 1: ..`) it has another one fall through into the wrong place: where a switch
//! has both, its empty cases get something in them.

use naga::{Block, Module, Span, Statement, SwitchCase};

use crate::statements;

pub(crate) fn fill_empty_cases(module: &mut Module) {
    statements::for_each(module, &mut |statement| {
        if let Statement::Switch { cases, .. } = statement {
            fill(cases);
        }
    });
}

fn fill(cases: &mut [SwitchCase]) {
    if !cases.iter().any(|case| case.fall_through && !case.body.is_empty()) {
        return;
    }
    for case in cases.iter_mut().filter(|case| case.fall_through && case.body.is_empty()) {
        case.body.push(Statement::Block(Block::new()), Span::UNDEFINED);
    }
}
