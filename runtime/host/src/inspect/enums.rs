//! The enumerations of a script, as far as its text determines them.
//!
//! A class with a base from `enum` goes in; its members come out, as a kernel sees them in a run. Not covered
//! are classes with a custom way to create members, and values that are only known at run time.

use std::rc::Rc;
use std::sync::Arc;

use kps_kernel::{EnvModule, EnvValue, Holder, KernelEnv, MapEnv};
use kps_syntax::ast::*;

use super::classes::{self, StaticView};
use super::names::StaticEnv;
use super::values::value_of as value_in;

/// A base from `enum`: the type of its members, and the values of `auto()`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Enum,
    IntEnum,
    StrEnum,
    Flag,
    IntFlag,
}

impl Base {
    fn named(name: &str) -> Option<Base> {
        Some(match name {
            "Enum" => Base::Enum,
            "IntEnum" => Base::IntEnum,
            "StrEnum" => Base::StrEnum,
            "Flag" => Base::Flag,
            "IntFlag" => Base::IntFlag,
            _ => return None,
        })
    }

    /// The next value of `auto()` after these values.
    fn next(self, name: &str, last: &[(Name, EnvValue)]) -> Option<EnvValue> {
        let numbers = last.iter().map(|(_, value)| match value {
            EnvValue::Int(value) => Some(*value),
            _ => None,
        });
        match self {
            Base::StrEnum => Some(EnvValue::Str(name.to_lowercase().into())),
            _ if last.is_empty() => Some(EnvValue::Int(1)),
            Base::Enum | Base::IntEnum => Some(EnvValue::Int(
                numbers.collect::<Option<Vec<i128>>>()?.into_iter().max()?.checked_add(1)?,
            )),
            Base::Flag | Base::IntFlag => {
                let most = numbers.collect::<Option<Vec<i128>>>()?.into_iter().max()?;
                let n_bits = (0..64).contains(&most).then(|| i128::BITS - most.leading_zeros());
                Some(EnvValue::Int(1 << n_bits?))
            }
        }
    }
}

/// The only base of a class without other arguments.
pub(super) fn base(def: &ClassDef) -> Option<&Expr> {
    match &def.arguments[..] {
        [Argument { kind: ArgumentKind::Positional(base), .. }] => Some(base),
        _ => None,
    }
}

/// A class with this definition; `None` if its members are unknown.
pub(super) fn value_of(def: &Arc<ClassDef>, view: StaticView, around: &StaticEnv) -> Option<EnvValue> {
    let (module, name) = around.imported(base(def)?)?;
    let base = Base::named(&name).filter(|_| &*module == "enum")?;
    if !def.decorators.iter().all(|decorator| is_of_enum(decorator, "unique", around)) {
        return None;
    }
    let members = members(def, base, around)?;
    let EnvValue::Module(class) = classes::value_of(def, view, around) else { return None };
    let members = Members(Rc::new(Enumeration { def: Arc::clone(def), base, members, class }));
    let (name, kind) = (def.name.name.clone(), Holder::Class);
    Some(EnvValue::Module(EnvModule { name, kind, members: Rc::new(members) }))
}

struct Enumeration {
    def: Arc<ClassDef>,
    base: Base,
    /// With their values, in the order of the source.
    members: Vec<(Name, EnvValue)>,
    /// The other attributes of the class.
    class: EnvModule,
}

/// The assignments in the body. A class with dunder names may create other members from them.
fn members(def: &ClassDef, base: Base, around: &StaticEnv) -> Option<Vec<(Name, EnvValue)>> {
    let body = around.of_class(def);
    let mut members: Vec<(Name, EnvValue)> = Vec::new();
    for stmt in &def.body {
        match &stmt.kind {
            StmtKind::Pass | StmtKind::Expr(_) => {}
            StmtKind::Function(def) if !def.name.name.starts_with('_') => {}
            StmtKind::Assign { targets, value } => {
                let [Expr { kind: ExprKind::Name(name), .. }] = &targets[..] else { return None };
                if name.starts_with('_') || members.iter().any(|(known, _)| known == name) {
                    return None;
                }
                let earlier = members.iter().find(|(known, _)| is_name(value, known)).map(|(_, value)| value);
                let value = match earlier {
                    Some(value) => value.clone(),
                    None if is_auto(value, around) => base.next(name, &members)?,
                    None => value_in(value, &body),
                };
                let is_of_base = match (base, &value) {
                    (Base::Enum, value) => is_plain(value),
                    (Base::StrEnum, value) => matches!(value, EnvValue::Str(_)),
                    (Base::IntEnum | Base::Flag | Base::IntFlag, value) => matches!(value, EnvValue::Int(_)),
                };
                if !is_of_base {
                    return None;
                }
                members.push((name.clone(), value));
            }
            _ => return None,
        }
    }
    Some(members)
}

fn is_name(expr: &Expr, name: &Name) -> bool {
    matches!(&expr.kind, ExprKind::Name(known) if known == name)
}

fn is_auto(value: &Expr, around: &StaticEnv) -> bool {
    let ExprKind::Call { func, args } = &value.kind else { return false };
    args.is_empty() && is_of_enum(func, "auto", around)
}

fn is_of_enum(expr: &Expr, name: &str, around: &StaticEnv) -> bool {
    around.imported(expr).is_some_and(|(module, member)| (&*module, &*member) == ("enum", name))
}

/// Whether it is a number, a string or a tuple of those.
fn is_plain(value: &EnvValue) -> bool {
    match value {
        EnvValue::Int(_) | EnvValue::Float(_) | EnvValue::Bool(_) | EnvValue::Str(_) => true,
        EnvValue::Tuple(items) => items.iter().all(is_plain),
        _ => false,
    }
}

/// The attributes of an enumeration's class.
struct Members(Rc<Enumeration>);

impl KernelEnv for Members {
    fn get(&self, name: &str) -> Option<EnvValue> {
        let Members(of) = self;
        let Some(at) = of.members.iter().position(|(known, _)| &**known == name) else {
            return of.class.members.get(name);
        };
        let (name, value) = &of.members[at];
        Some(match of.base {
            Base::IntEnum | Base::IntFlag | Base::StrEnum => value.clone(),
            Base::Enum | Base::Flag => {
                let mut own = MapEnv::new();
                for (known, member) in [("name", EnvValue::Str(name.clone())), ("value", value.clone())] {
                    own.insert(known, member.clone());
                    own.insert(&format!("_{known}_"), member);
                }
                let members = Rc::new(Member { own, at, of: Rc::clone(of) });
                EnvValue::Module(EnvModule { name: of.class.name.clone(), kind: Holder::Object, members })
            }
        })
    }

    fn names(&self) -> Vec<Name> {
        self.0.class.members.names()
    }

    fn identity(&self) -> usize {
        Arc::as_ptr(&self.0.def) as usize
    }
}

/// The attributes of one member, followed by those of its class.
struct Member {
    own: MapEnv,
    at: usize,
    of: Rc<Enumeration>,
}

impl KernelEnv for Member {
    fn get(&self, name: &str) -> Option<EnvValue> {
        self.own.get(name).or_else(|| match Members(Rc::clone(&self.of)).get(name)? {
            EnvValue::Function(_) => Some(EnvValue::Other { type_name: "method".to_owned() }),
            value => Some(value),
        })
    }

    fn names(&self) -> Vec<Name> {
        self.own.names().into_iter().chain(self.of.class.members.names()).collect()
    }

    fn identity(&self) -> usize {
        // Its name, which occurs once in the source.
        Arc::as_ptr(&self.of.members[self.at].0).cast::<u8>() as usize
    }
}
