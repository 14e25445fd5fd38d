//! Initialises workgroup memory to zero, as WGSL requires. naga lets one invocation store each variable as a
//! whole. Drivers that split arrays need time quadratic in its length to compile that.
//!
//! A module with one entry point goes in. The entry point comes out with stores at its start, followed by a
//! barrier. The elements of an array are divided among the invocations of the workgroup; the first invocation
//! stores the rest. Each store has the line of its variable, and none stores a whole array.

use kps_syntax::Source;
use naga::proc::{GlobalCtx, IndexableLength};
use naga::{
    AddressSpace, Barrier, BinaryOperator, Binding, Block, BuiltIn, EntryPoint, Expression, Function,
    FunctionArgument, GlobalVariable, Handle, Literal, LocalVariable, Module, Range, Scalar, Span, Statement,
    StructMember, Type, TypeInner, UniqueArena,
};

use crate::errors;

/// Initialises the workgroup memory at the start of a module's only entry point.
pub(crate) fn store(source: &Source, module: &mut Module) {
    let index = Type { name: None, inner: TypeInner::Scalar(Scalar::U32) };
    let index = module.types.insert(index, Span::UNDEFINED);
    let Module { types, constants, overrides, global_expressions, global_variables, entry_points, .. } =
        module;
    let [entry] = entry_points.as_mut_slice() else { return };
    let shared: Vec<_> =
        global_variables.iter().filter(|(_, one)| one.space == AddressSpace::WorkGroup).collect();
    if shared.is_empty() {
        return;
    }
    let mut body = Block::new();
    let invocation = invocation(types, entry, index, &mut body);
    // More than any device supports. A device refuses the module when it is loaded.
    let n_invocations = entry.workgroup_size.iter().fold(1, |n: u32, size| n.saturating_mul(*size));
    let function = &mut entry.function;
    let declared = GlobalCtx { types, constants, overrides, global_expressions };
    let mut zeros = Zeros { declared, function, index, invocation, n_invocations, span: Span::UNDEFINED };
    for (handle, variable) in shared {
        zeros.span = name_place(source, variable, global_variables.get_span(handle));
        zeros.variable(handle, variable.ty, &mut body);
    }
    body.push(Statement::ControlBarrier(Barrier::WORK_GROUP), zeros.span);
    body.append(&mut entry.function.body);
    entry.function.body = body;
}

/// The place of a variable's name in its declaration. It is never at the start of a text, for that place
/// means unknown.
fn name_place(source: &Source, variable: &GlobalVariable, declaration: Span) -> Span {
    let location = errors::location(source, declaration);
    let text = source.slice(location.span);
    let name = variable.name.as_deref().unwrap_or_default();
    let behind_space = text.find('>').unwrap_or(0);
    text[behind_space..].find(name).map_or(declaration, |at| {
        let start = location.span.start + (behind_space + at) as u32;
        Span::new(start, start + name.len() as u32)
    })
}

/// The index of an invocation in its workgroup: a parameter of the entry point, or a member of one.
fn invocation(
    types: &UniqueArena<Type>,
    entry: &mut EntryPoint,
    index: Handle<Type>,
    body: &mut Block,
) -> Handle<Expression> {
    const INDEX: Option<Binding> = Some(Binding::BuiltIn(BuiltIn::LocalInvocationIndex));
    let Function { arguments, expressions, .. } = &mut entry.function;
    let known = arguments.iter().enumerate().find_map(|(at, argument)| match &types[argument.ty].inner {
        _ if argument.binding == INDEX => Some((at, None)),
        TypeInner::Struct { members, .. } => {
            members.iter().position(|one| one.binding == INDEX).map(|member| (at, Some(member)))
        }
        _ => None,
    });
    let (at, member) = known.unwrap_or_else(|| {
        arguments.push(FunctionArgument { name: None, ty: index, binding: INDEX });
        (arguments.len() - 1, None)
    });
    let argument = expressions.append(Expression::FunctionArgument(at as u32), Span::UNDEFINED);
    let Some(member) = member else { return argument };
    let member = Expression::AccessIndex { base: argument, index: member as u32 };
    let member = expressions.append(member, Span::UNDEFINED);
    body.push(Statement::Emit(Range::new_from_bounds(member, member)), Span::UNDEFINED);
    member
}

/// Emits the stores for one variable after the other.
struct Zeros<'f> {
    declared: GlobalCtx<'f>,
    function: &'f mut Function,
    /// The type of indices.
    index: Handle<Type>,
    /// The invocation's index in its workgroup.
    invocation: Handle<Expression>,
    n_invocations: u32,
    /// Where the variable is declared.
    span: Span,
}

impl Zeros<'_> {
    fn variable(&mut self, variable: Handle<GlobalVariable>, ty: Handle<Type>, body: &mut Block) {
        let pointer = self.value(Expression::GlobalVariable(variable));
        let (step, zero) = (self.number(self.n_invocations), self.number(0));
        let mut by_first = Block::new();
        for (pointer, ty) in self.parts(pointer, ty, body) {
            match self.declared.types[ty].inner {
                TypeInner::Array { .. } => self.elements(pointer, ty, (self.invocation, step), body),
                _ => self.whole(pointer, ty, &mut by_first),
            }
        }
        if !by_first.is_empty() {
            let condition = self.binary(BinaryOperator::Equal, self.invocation, zero, body);
            body.push(Statement::If { condition, accept: by_first, reject: Block::new() }, self.span);
        }
    }

    /// The arrays of a variable, and the parts that can be stored as a whole: a value, or its members.
    fn parts(
        &mut self,
        pointer: Handle<Expression>,
        ty: Handle<Type>,
        body: &mut Block,
    ) -> Vec<(Handle<Expression>, Handle<Type>)> {
        let types = self.declared.types;
        let TypeInner::Struct { members, .. } = &types[ty].inner else { return vec![(pointer, ty)] };
        if members.iter().all(|member| self.is_storable(member.ty)) {
            return vec![(pointer, ty)];
        }
        let part = |(index, member): (u32, &StructMember)| {
            let pointer = self.computed(Expression::AccessIndex { base: pointer, index }, body);
            self.parts(pointer, member.ty, body)
        };
        (0..).zip(members).flat_map(part).collect()
    }

    /// Whether a type contains no array nor anything else that is not constructible.
    fn is_storable(&self, ty: Handle<Type>) -> bool {
        match &self.declared.types[ty].inner {
            TypeInner::Array { .. } | TypeInner::Atomic(_) => false,
            TypeInner::Struct { members, .. } => members.iter().all(|member| self.is_storable(member.ty)),
            _ => true,
        }
    }

    fn whole(&mut self, pointer: Handle<Expression>, ty: Handle<Type>, body: &mut Block) {
        let value = match self.declared.types[ty].inner {
            TypeInner::Atomic(scalar) => Literal::zero(scalar).map(Expression::Literal),
            _ => None,
        };
        let value = self.value(value.unwrap_or(Expression::ZeroValue(ty)));
        body.push(Statement::Store { pointer, value }, self.span);
    }

    /// Stores zero to elements of an array with a stride. Elements of nested arrays are numbered throughout.
    fn elements(
        &mut self,
        array: Handle<Expression>,
        ty: Handle<Type>,
        (start, step): (Handle<Expression>, Handle<Expression>),
        body: &mut Block,
    ) {
        let (lengths, element) = self.axes(ty);
        let counter = LocalVariable { name: None, ty: self.index, init: None };
        let counter = self.function.local_variables.append(counter, self.span);
        let counter = self.value(Expression::LocalVariable(counter));
        body.push(Statement::Store { pointer: counter, value: start }, self.span);

        let mut each = Block::new();
        let at = self.computed(Expression::Load { pointer: counter }, &mut each);
        let n_elements = self.number(lengths.iter().fold(1, |n: u32, length| n.saturating_mul(*length)));
        let condition = self.binary(BinaryOperator::Less, at, n_elements, &mut each);
        let end = Block::from_vec(vec![Statement::Break]);
        each.push(Statement::If { condition, accept: Block::new(), reject: end }, self.span);
        let pointer = self.element(array, &lengths, at, &mut each);
        let (zero, one) = (self.number(0), self.number(1));
        for (pointer, ty) in self.parts(pointer, element, &mut each) {
            match self.declared.types[ty].inner {
                TypeInner::Array { .. } => self.elements(pointer, ty, (zero, one), &mut each),
                _ => self.whole(pointer, ty, &mut each),
            }
        }

        let mut continuing = Block::new();
        let at = self.computed(Expression::Load { pointer: counter }, &mut continuing);
        let next = self.binary(BinaryOperator::Add, at, step, &mut continuing);
        continuing.push(Statement::Store { pointer: counter, value: next }, self.span);
        body.push(Statement::Loop { body: each, continuing, break_if: None }, self.span);
    }

    /// The lengths of an array and of those nested in it, from the outermost in, and the innermost element
    /// type.
    fn axes(&self, mut ty: Handle<Type>) -> (Vec<u32>, Handle<Type>) {
        let mut lengths = Vec::new();
        while let TypeInner::Array { base, size, .. } = self.declared.types[ty].inner {
            // Overrides that determine a size are specialised already, and no array of a workgroup has
            // another length.
            lengths.push(match size.resolve(self.declared) {
                Ok(IndexableLength::Known(length)) => length,
                _ => 0,
            });
            ty = base;
        }
        (lengths, ty)
    }

    /// A pointer to the element with this linear index.
    fn element(
        &mut self,
        array: Handle<Expression>,
        lengths: &[u32],
        at: Handle<Expression>,
        body: &mut Block,
    ) -> Handle<Expression> {
        let mut pointer = array;
        for (axis, &length) in lengths.iter().enumerate() {
            let n_within: u32 = lengths[axis + 1..].iter().product();
            let mut index = at;
            if n_within > 1 {
                let n_within = self.number(n_within);
                index = self.binary(BinaryOperator::Divide, index, n_within, body);
            }
            if axis > 0 {
                let length = self.number(length);
                index = self.binary(BinaryOperator::Modulo, index, length, body);
            }
            pointer = self.computed(Expression::Access { base: pointer, index }, body);
        }
        pointer
    }

    fn number(&mut self, number: u32) -> Handle<Expression> {
        self.value(Expression::Literal(Literal::U32(number)))
    }

    fn binary(
        &mut self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
        body: &mut Block,
    ) -> Handle<Expression> {
        self.computed(Expression::Binary { op, left, right }, body)
    }

    /// An expression that is available before anything is computed.
    fn value(&mut self, value: Expression) -> Handle<Expression> {
        self.function.expressions.append(value, self.span)
    }

    fn computed(&mut self, value: Expression, body: &mut Block) -> Handle<Expression> {
        let value = self.value(value);
        body.push(Statement::Emit(Range::new_from_bounds(value, value)), self.span);
        value
    }
}
