//! The Rust part of `enum`, whose rest is a script: the order of assignments in a class body, because the
//! names only have their final values.

use kps_syntax::Source;
use kps_syntax::ast::{Expr, ExprKind, StmtKind};

use crate::errors;
use crate::value::{Args, NativeDef, NativeModule, Result, Value};
use crate::vm::Vm;

pub static MODULE: NativeModule = NativeModule {
    functions: &[NativeDef::function("assignments", assignments)],
    ..NativeModule::new("_enum")
};

/// `assignments(cls)`: pairs of a name and the text of its value, one for each assignment in the body of the class,
/// in order. Those within other statements are not among them.
fn assignments(_: &mut Vm, args: &Args) -> Result {
    let [Value::Class(class)] = args.exactly("assignments")? else {
        return Err(errors::type_error("assignments() takes a class"));
    };
    let Some(body) = &class.body else { return Ok(Value::list(vec![])) };
    let statements = body.code.class.iter().flat_map(|def| def.body.iter());
    let pairs = statements.flat_map(|statement| match &statement.kind {
        StmtKind::Assign { targets, value } => pairs(body.source(), targets, value),
        StmtKind::AnnAssign { target, value: Some(value), .. } => {
            pairs(body.source(), std::slice::from_ref(target), value)
        }
        _ => vec![],
    });
    Ok(Value::list(pairs.collect()))
}

fn pairs(source: &Source, targets: &[Expr], value: &Expr) -> Vec<Value> {
    let pair = |target: &Expr| match &target.kind {
        ExprKind::Name(name) => {
            let pair = [Value::str(&**name), Value::str(source.slice(value.span))];
            Some(Value::tuple(pair.to_vec()))
        }
        _ => None,
    };
    targets.iter().filter_map(pair).collect()
}
