//! Names of memory for instrumentation: variables with their parts, and the arrays of access chains in
//! external modules. Without checks, only variables get names.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Lowerer;
use super::checks::Run;
use super::pointers::{MemoryPlace, Place, Pointer};
use crate::cpu::lane::parts::{Member, Parts};
use crate::cpu::lane::{Array, Space};
use crate::cpu::module::types::{self, Layout, Type, TypeId};
use crate::cpu::module::{Global, Instruction};
use crate::findings::ArrayName;
use crate::{Check, Result};

/// What an access chain of an external module refers to so far.
#[derive(Clone)]
pub(super) struct ChainName {
    start: Option<ArrayName>,
    /// For instance `[..].member`.
    path: String,
    /// Whether the path leads through an element.
    is_part: bool,
    /// The last steps, if they still need a check.
    pub run: Option<Run>,
}

/// Cache of parts, by type and layout.
pub(super) type KnownParts = FxHashMap<(TypeId, bool), Parts>;

impl Lowerer<'_> {
    pub(super) fn name_shared(&mut self, global: &Global, start: u64, end: u64) {
        self.name_array(global, Space::Shared, (start, end), Layout::Natural);
    }

    pub(super) fn name_buffer(&mut self, global: &Global, buffer: u32) {
        self.name_array(global, Space::Buffer(buffer), (0, u64::MAX), Layout::Explicit);
    }

    fn name_array(&mut self, global: &Global, space: Space, (start, end): (u64, u64), layout: Layout) {
        let name = self.module.names.get(&global.id).filter(|name| !name.is_empty());
        // A second variable with the same buffer has the name of the first.
        let name = name.map(|name| self.apart(name.trim_end_matches(".bits")));
        let bound = || Some(ArrayName::Binding { set: global.set?, binding: global.binding? });
        let name = name.or_else(bound);
        let parts = match self.checks {
            Some(_) => self.parts(global.pointee, layout),
            None => Parts::Whole,
        };
        self.builder.kernel.arrays.push(Array { space, start, end, name, parts });
    }

    /// A name that only one variable has.
    fn apart(&self, name: &str) -> ArrayName {
        let is_namesake = |array: &&Array| match &array.name {
            Some(ArrayName::Name(known) | ArrayName::Namesake { name: known, .. }) => known == name,
            _ => false,
        };
        match self.builder.kernel.arrays.iter().filter(is_namesake).count() as u32 {
            0 => ArrayName::Name(name.to_owned()),
            before => ArrayName::Namesake { name: name.to_owned(), nth: before + 1 },
        }
    }

    /// The parts of a type. Types share their element types, so each is computed once.
    fn parts(&mut self, ty: TypeId, layout: Layout) -> Parts {
        let key = (ty, layout == Layout::Natural);
        if let Some(known) = self.known_parts.get(&key) {
            return known.clone();
        }
        let module = self.module;
        let types = &module.types;
        let parts = match types.get(ty) {
            Type::Array { element, stride, .. } | Type::RuntimeArray { element, stride } => {
                match types.stride(*element, *stride, layout) {
                    Some(stride) => {
                        Parts::Elements { stride, element: Arc::new(self.parts(*element, layout)) }
                    }
                    None => Parts::Whole,
                }
            }
            Type::Struct(members) => {
                let member = |(at, of): (usize, &types::Member)| {
                    let offset = types.member_offset(members, at, layout)?;
                    let parts = match self.parts(of.ty, layout) {
                        Parts::Elements { element, .. } if of.is_cell => (*element).clone(),
                        parts => parts,
                    };
                    Some(Member { name: of.name.clone(), offset, parts })
                };
                let made: Option<Vec<Member>> = members.iter().enumerate().map(member).collect();
                made.map_or(Parts::Whole, |members| Parts::Members(members.into()))
            }
            _ => Parts::Whole,
        };
        self.known_parts.insert(key, parts.clone());
        parts
    }

    // Access chains.

    /// Starts the name of a chain; `None` without checks.
    pub(super) fn chain_start(&self, inst: &Instruction, pointer: &Pointer) -> Result<Option<ChainName>> {
        let is_checked = self.checks.is_some_and(|checks| checks.has(Check::Bounds));
        let Place::Memory(place) = &pointer.place else { return Ok(None) };
        if !is_checked || self.module.is_instrumented() {
            return Ok(None);
        }
        let id = self.id(inst, 2)?;
        let start = || self.module.name(id).or_else(|| self.array_name(place));
        let known = self.chain_names.get(&id).cloned();
        Ok(Some(known.unwrap_or_else(|| ChainName {
            start: start(),
            path: String::new(),
            is_part: false,
            run: None,
        })))
    }

    /// Adds a step of a chain, from a value of this type.
    pub(super) fn chain_step(&self, name: &mut ChainName, ty: TypeId, index: Option<u64>) {
        name.is_part |= index.is_none();
        name.path += &match (self.module.types.get(ty), index) {
            (Type::Struct(members), Some(at)) => {
                let member = members.get(at as usize).and_then(|member| member.name.as_ref());
                member.map_or(String::new(), |name| format!(".{name}"))
            }
            (_, Some(at)) => format!("[{at}]"),
            (_, None) => "[..]".to_owned(),
        };
    }

    /// The name of an array to which a pointer was made before.
    fn array_name(&self, place: &MemoryPlace) -> Option<ArrayName> {
        let is_it =
            |array: &&Array| array.space == place.space && (array.start..array.end).contains(&place.constant);
        self.builder.kernel.arrays.iter().find(is_it).filter(|_| place.others.is_empty())?.name.clone()
    }
}

impl ChainName {
    fn named(&self, name: String) -> ArrayName {
        if self.is_part { ArrayName::Part(name) } else { ArrayName::Name(name) }
    }

    /// Members of an unnamed block have their own names.
    pub fn array(&self) -> Option<ArrayName> {
        match (&self.start, self.path.strip_prefix('.')) {
            (Some(ArrayName::Name(name)), _) => Some(self.named(format!("{name}{}", self.path))),
            (Some(ArrayName::Binding { .. }), Some(member)) => Some(self.named(member.to_owned())),
            (start, _) => start.clone(),
        }
    }
}
