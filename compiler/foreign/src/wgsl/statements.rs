//! Visits all statements of a module or a block, however deeply they are nested.

use naga::{Block, Span, Statement};

/// The first result of `look` for a statement of a block with its place, including nested statements.
pub(crate) fn find<T>(block: &Block, look: &dyn Fn(&Statement, Span) -> Option<T>) -> Option<T> {
    let within = |block: &Block| find(block, look);
    block.span_iter().find_map(|(statement, span)| {
        look(statement, *span).or_else(|| match statement {
            Statement::Block(block) => within(block),
            Statement::If { accept, reject, .. } => within(accept).or_else(|| within(reject)),
            Statement::Loop { body, continuing, .. } => within(body).or_else(|| within(continuing)),
            Statement::Switch { cases, .. } => cases.iter().find_map(|case| within(&case.body)),
            _ => None,
        })
    })
}

/// Replaces each statement of a block by what `replace` emits for it. Statements that contain others stay
/// around them.
pub(crate) fn replaced(block: Block, replace: &mut dyn FnMut(Statement, Span, &mut Block)) -> Block {
    let mut made = Block::with_capacity(block.len());
    for (statement, span) in block.span_into_iter() {
        let nesting = match statement {
            Statement::Block(block) => Statement::Block(replaced(block, replace)),
            Statement::If { condition, accept, reject } => Statement::If {
                condition,
                accept: replaced(accept, replace),
                reject: replaced(reject, replace),
            },
            Statement::Loop { body, continuing, break_if } => {
                let (body, continuing) = (replaced(body, replace), replaced(continuing, replace));
                Statement::Loop { body, continuing, break_if }
            }
            Statement::Switch { selector, mut cases } => {
                for case in &mut cases {
                    case.body = replaced(std::mem::take(&mut case.body), replace);
                }
                Statement::Switch { selector, cases }
            }
            other => {
                replace(other, span, &mut made);
                continue;
            }
        };
        made.push(nesting, span);
    }
    made
}
