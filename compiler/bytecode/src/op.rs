//! The instructions of the virtual machine.
//!
//! An instruction is eight bytes: an operation, a small field `x`, and three 16-bit operands. Some read `B`
//! and `C` together as one 32-bit number, written `Bx`. Operands name registers of the running frame unless
//! the table says otherwise.
//!
//! Notation: `R[A]` is a register, `K[..]` a constant, `G[..]` a global name of the program, `S[..]` an
//! attribute site (a name with its inline cache), `F[..]` a captured cell of the function, `unset` an empty
//! register. `~` before an operand means that it may be a temporary whose lifetime ends there. If its bit in
//! `x` is set ([`ENDS_B`], [`ENDS_C`]), the machine empties the register, so that no object outlives its
//! expression.

/// The operand in `B` (or the only one, in `A`) is a temporary that ends here.
pub const ENDS_B: u8 = 1;
/// The operand in `C` (or the second one, in `B`) is a temporary that ends here.
pub const ENDS_C: u8 = 2;
/// A binary operation is an augmented assignment: `__iadd__` is tried before `__add__`.
pub const IN_PLACE: u8 = 4;
/// A test jumps if it is true; without the bit it jumps if it is false.
pub const WHEN_TRUE: u8 = 4;
/// `Format` has no format spec.
pub const NO_SPEC: u16 = u16::MAX;

/// One instruction. The layout is fixed at eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    pub op: Op,
    pub x: u8,
    pub a: u16,
    pub b: u16,
    pub c: u16,
}

const _: () = assert!(size_of::<Instruction>() == 8);

impl Instruction {
    pub fn abc(op: Op, a: u16, b: u16, c: u16) -> Instruction {
        Instruction { op, x: 0, a, b, c }
    }

    /// With `B` and `C` holding one 32-bit number.
    pub fn wide(op: Op, a: u16, bx: i32) -> Instruction {
        Instruction { op, x: 0, a, b: bx as u16, c: (bx >> 16) as u16 }
    }

    /// `Bx` as a signed number: a jump's distance, a small int.
    #[inline(always)]
    pub fn bx(self) -> i32 {
        (self.b as u32 | (self.c as u32) << 16) as i32
    }

    /// `Bx` as an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.bx() as u32 as usize
    }

    #[inline(always)]
    pub fn ends_b(self) -> bool {
        self.x & ENDS_B != 0
    }

    #[inline(always)]
    pub fn ends_c(self) -> bool {
        self.x & ENDS_C != 0
    }

    #[inline(always)]
    pub fn when_true(self) -> bool {
        self.x & WHEN_TRUE != 0
    }
}

#[rustfmt::skip]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    // Values and names.
    Move,            // R[A] := ~R[B]
    LoadConst,       // R[A] := K[Bx]
    LoadInt,         // R[A] := Bx
    Clear,           // R[A..A+B] := unset
    CheckLocal,      // UnboundLocalError when R[A] is unset
    DeleteLocal,     // UnboundLocalError when R[A] is unset; R[A] := unset
    LoadGlobal,      // R[A] := G[Bx], or the builtin of that name; NameError when neither is there
    StoreGlobal,     // G[Bx] := ~R[A]
    DeleteGlobal,    // del G[Bx]
    LoadClassName,   // R[A] := R[B] when it is set, else G[C]
    MakeCell,        // R[A] := new cell holding R[A], which may be unset
    LoadCell,        // R[A] := value of the cell in R[B]
    StoreCell,       // value of the cell in R[A] := ~R[B]
    DeleteCell,      // empties the cell in R[A]
    LoadFree,        // R[A] := value of F[B]
    StoreFree,       // value of F[A] := ~R[B]
    DeleteFree,      // empties F[A]

    // Arithmetic. `x` may have IN_PLACE.
    Add,             // R[A] := ~R[B] + ~R[C]
    Sub,             // R[A] := ~R[B] - ~R[C]
    Mul,             // R[A] := ~R[B] * ~R[C]
    MatMul,          // R[A] := ~R[B] @ ~R[C]
    Div,             // R[A] := ~R[B] / ~R[C]
    FloorDiv,        // R[A] := ~R[B] // ~R[C]
    Mod,             // R[A] := ~R[B] % ~R[C]
    Pow,             // R[A] := ~R[B] ** ~R[C]
    LeftShift,       // R[A] := ~R[B] << ~R[C]
    RightShift,      // R[A] := ~R[B] >> ~R[C]
    BitAnd,          // R[A] := ~R[B] & ~R[C]
    BitOr,           // R[A] := ~R[B] | ~R[C]
    BitXor,          // R[A] := ~R[B] ^ ~R[C]
    AddInt,          // R[A] := ~R[B] + C         C is a signed 16-bit int
    SubInt,          // R[A] := ~R[B] - C         likewise
    MulInt,          // R[A] := ~R[B] * C         likewise
    Neg,             // R[A] := -~R[B]
    Pos,             // R[A] := +~R[B]
    Invert,          // R[A] := ~~R[B]            bitwise complement
    Not,             // R[A] := not ~R[B]

    // Comparison to a value. ORDER OP: as `CompareOp`.
    Eq,              // R[A] := ~R[B] == ~R[C]
    NotEq,           // R[A] := ~R[B] != ~R[C]
    Less,            // R[A] := ~R[B] < ~R[C]
    LessEq,          // R[A] := ~R[B] <= ~R[C]
    Greater,         // R[A] := ~R[B] > ~R[C]
    GreaterEq,       // R[A] := ~R[B] >= ~R[C]
    Is,              // R[A] := ~R[B] is ~R[C]
    IsNot,           // R[A] := ~R[B] is not ~R[C]
    In,              // R[A] := ~R[B] in ~R[C]
    NotIn,           // R[A] := ~R[B] not in ~R[C]

    // Branches. A test is followed by the `Jump` that it takes or skips. A jump backwards polls the
    // interrupt flag. Distances count from the instruction after the jump.
    Jump,            // pc += Bx
    JumpIfTrue,      // if ~R[A] then pc += Bx
    JumpIfFalse,     // if not ~R[A] then pc += Bx
    TestEq,          // if (~R[A] == ~R[B]) is WHEN_TRUE then take the next jump, else skip it
    TestNotEq,       // likewise with !=
    TestLess,        // likewise with <
    TestLessEq,      // likewise with <=
    TestGreater,     // likewise with >
    TestGreaterEq,   // likewise with >=
    TestEqInt,       // if (~R[A] == C) is WHEN_TRUE then take the next jump; C a signed 16-bit int
    TestNotEqInt,    // likewise with !=
    TestLessInt,     // likewise with <
    TestLessEqInt,   // likewise with <=
    TestGreaterInt,  // likewise with >
    TestGreaterEqInt,// likewise with >=

    // Attributes, items, methods.
    LoadAttr,        // R[A] := (~R[B]).S[C]
    StoreAttr,       // (~R[A]).S[C] := ~R[B]
    DeleteAttr,      // del (~R[A]).S[C]
    LoadMethod,      // R[A], R[A+1] := method S[C] of ~R[B] and its receiver; or the attribute and unset
    LoadItem,        // R[A] := ~R[B][~R[C]]
    StoreItem,       // R[A][R[B]] := R[C]; `x`: bit 0 ends A, bit 1 ends B, bit 2 ends C
    DeleteItem,      // del (~R[A])[~R[B]]
    BuildSlice,      // R[A] := slice(R[B], R[B+1], R[B+2]), all three end

    // Calls. Arguments end: they become the callee's first registers.
    Call,            // R[A] := R[A](R[A+1 .. A+1+B])
    CallNames,       // likewise, the last arguments named by the tuple K[C]
    CallMethod,      // R[A] := R[A](R[A+1] unless unset, R[A+2 .. A+2+B])
    CallMethodNames, // likewise, the last arguments named by the tuple K[C]
    CallSpread,      // R[A] := R[A](*R[A+1], **R[A+2]); a list, and a dict or unset
    Return,          // return ~R[A]
    Yield,           // give R[B] to whoever resumed this generator; R[A] := what it is sent
    Delegate,        // R[A] := next of the iterator R[B], sent R[A], and the next jump is skipped; at its end
                     // R[A] := its result. A `Yield` of R[A] follows the jump, and nothing else is like that

    // Displays. Elements end.
    BuildTuple,      // R[A] := (R[B .. B+C])
    BuildList,       // R[A] := [R[B .. B+C]]
    BuildSet,        // R[A] := {R[B .. B+C]}
    BuildDict,       // R[A] := {R[B]: R[B+1], ..}, C pairs
    ListAppend,      // R[A].append(~R[B])
    ListExtend,      // R[A].extend(~R[B])
    ListToTuple,     // R[A] := tuple(R[A])
    SetAdd,          // R[A].add(~R[B])
    SetUpdate,       // R[A].update(~R[B])
    DictInsert,      // R[A][~R[B]] := ~R[C]
    DictUpdate,      // R[A].update(~R[B])
    DictMerge,       // likewise for `**` in a call: names must be strings, each given once
    Format,          // R[A] := format of R[B] by R[C] or NO_SPEC; `x`: 0, 1 str, 2 repr, 3 ascii; both end
    BuildString,     // R[A] := the strings R[B .. B+C], joined

    // Unpacking and loops.
    Unpack,          // R[A .. A+C] := the C items of ~R[B]
    UnpackStar,      // R[A ..] := C & 255 items, a list, C >> 8 items of ~R[B]
    GetIter,         // R[A .. A+3] := the state of an iteration over ~R[B]
    Iter,            // R[A] := iter(~R[B])
    ForIter,         // if R[A .. A+3] has a next then R[B] := it and take the next jump; else clear
                     // R[A .. A+3] and skip the jump

    // Patterns. Where one matches, the next jump is skipped.
    MatchSequence,   // R[A ..] := the C items of R[B], a sequence; `x` 1: C & 255 items, a list, C >> 8 items;
                     // `x` 2: likewise, and the list stays unset
    MatchMapping,    // R[A .. A+C] := what the mapping R[B] has for these keys; `x` 1: R[A+C] := a dict of the rest
    MatchClass,      // R[A ..] := of R[B], an instance of R[A], `x` attributes by place, and those named by K[C]

    // Functions, classes, modules.
    MakeFunction,    // R[A] := function of child code C; `x` bit 0: R[B] is the tuple of defaults;
                     // bit 1: R[B+1] is the dict of keyword defaults; bit 2: R[B+2] gives the annotations; all end
    MakeClass,       // R[A] := class named K[C] with body R[A] and bases R[A+1 .. A+1+B]; `x` bit 0: R[A+1+B] is
                     // the dict of keywords
    LoadLocals,      // R[A] := dict of the named locals that are set (the end of a class body)
    Import,          // R[A] := module K[B], `C` leading dots; `x` 0: its first package, 1: the module
    ImportFrom,      // R[A] := name K[C] of module R[B]
    ImportStar,      // every public name of module R[A] becomes a global; R[A] ends

    // Exceptions.
    Raise,           // raise ~R[A]
    RaiseFrom,       // raise ~R[A] from ~R[B]
    RaiseBare,       // raise what is being handled again
    Reraise,         // raise the exception R[A] again, as it is; it ends
    MatchException,  // R[A] := whether the exception R[B] is one of ~R[C]
    AssertFail,      // raise AssertionError; with ENDS_B, holding R[A]
    WithEnter,       // R[A+1] := R[A].__exit__; R[A+2] := R[A].__enter__()
    WithExit,        // R[A+1](None, None, None); R[A .. A+2] := unset
    WithExcept,      // R[A+3] := R[A+1](type, R[A+2], None) as a bool, for the exception R[A+2]
}
