//! External modules with indices out of range: they stay within the memory that they index, and accesses in
//! range are not affected.

use std::fmt::Write;
use std::rc::Rc;

use kps_device::{Backend, Command, Device, DeviceError, PipelineOptions, SourceLine};

use super::common::assemble_for;
use super::common::devices::{Shorthand, dispatch, on_every_device};
use super::{BOTH, READ};

/// A module of SPIR-V 1.3, whose entry points list inputs and outputs only.
fn assemble(text: &str) -> Vec<u32> {
    assemble_for(kps_spirv_tools::TargetEnv::Vulkan_1_1, text)
}

/// The value of guards, which no other code writes.
const PATTERN: u32 = 0x00c0_ffee;
const N_GUARDS: usize = 24;
/// Indices and results that the buffers hold.
const N: usize = 64;

/// A module with one invocation: it reads `%indices`, writes `%results`, and has variables between guards.
struct Text {
    globals: String,
    locals: String,
    body: String,
    next: usize,
}

/// The storage class of the guarded variable.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Class {
    Workgroup,
    Private,
    Function,
}

impl Text {
    fn new() -> Text {
        Text { globals: String::new(), locals: String::new(), body: String::new(), next: 0 }
    }

    fn id(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn uint(&mut self, value: usize) -> String {
        let (id, name) = (format!("%uint_{value}"), format!("%uint_{value} = "));
        if !self.globals.contains(&name) {
            writeln!(self.globals, "{id} = OpConstant %uint {value}").expect("a string grows");
        }
        id
    }

    fn global(&mut self, line: String) {
        self.globals += &(line + "\n");
    }

    fn line(&mut self, line: String) {
        self.body += &(line + "\n");
    }

    fn variable(&mut self, name: &str, ty: &str, class: Class) {
        self.global(format!("%ptr_{name} = OpTypePointer {class:?} {ty}"));
        let variable = format!("%{name} = OpVariable %ptr_{name} {class:?}");
        match class {
            Class::Function => self.locals += &(variable + "\n"),
            Class::Workgroup | Class::Private => self.global(variable),
        }
    }

    /// An index from the buffer.
    fn given(&mut self, at: usize) -> String {
        let (pointer, index, at) = (self.id(), self.id(), self.uint(at));
        self.line(format!("{pointer} = OpAccessChain %ptr_word %indices %uint_0 {at}"));
        self.line(format!("{index} = OpLoad %uint {pointer}"));
        index
    }

    fn result(&mut self, at: usize, value: &str) {
        let (pointer, at) = (self.id(), self.uint(at));
        self.line(format!("{pointer} = OpAccessChain %ptr_word %results %uint_0 {at}"));
        self.line(format!("OpStore {pointer} {value}"));
    }

    /// Guards around the variables of `between`. The last two results count the intact guards.
    fn guarded(mut self, class: Class, between: impl FnOnce(&mut Text)) -> String {
        let pattern = self.uint(PATTERN as usize);
        let n_guards = self.uint(N_GUARDS);
        self.global(format!("%guards = OpTypeArray %uint {n_guards}"));
        self.global(format!(
            "%patterns = OpConstantComposite %guards {}",
            format!("{pattern} ").repeat(N_GUARDS)
        ));
        self.variable("before", "%guards", class);
        self.line("OpStore %before %patterns".to_owned());
        self.line("OpStore %after %patterns".to_owned());
        between(&mut self);
        self.variable("after", "%guards", class);
        let one = self.uint(1);
        for (at, name) in [(N - 2, "%before"), (N - 1, "%after")] {
            let whole = self.id();
            self.line(format!("{whole} = OpLoad %guards {name}"));
            let mut n_whole = self.uint(0);
            for guard in 0..N_GUARDS {
                let [value, same, more, sum] = std::array::from_fn(|_| self.id());
                self.line(format!("{value} = OpCompositeExtract %uint {whole} {guard}"));
                self.line(format!("{same} = OpIEqual %bool {value} {pattern}"));
                self.line(format!("{more} = OpSelect %uint {same} {one} %uint_0"));
                self.line(format!("{sum} = OpIAdd %uint {n_whole} {more}"));
                n_whole = sum;
            }
            self.result(at, &n_whole);
        }
        self.module("")
    }

    fn module(self, ahead: &str) -> String {
        let Text { globals, locals, body, .. } = self;
        let globals = globals.replace("%uint_0 = OpConstant %uint 0\n", "");
        format!(
            "OpCapability Shader\nOpCapability Int8\nOpCapability Int16\nOpCapability Int64\n\
             OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
             OpExecutionMode %main LocalSize 1 1 1\n%file = OpString \"external.cl\"\n\
             OpDecorate %words ArrayStride 4\nOpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n\
             OpDecorate %indices DescriptorSet 0\nOpDecorate %indices Binding 0\n\
             OpDecorate %results DescriptorSet 0\nOpDecorate %results Binding 1\n{ahead}\
             %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n%float = OpTypeFloat 32\n\
             %uint = OpTypeInt 32 0\n%int = OpTypeInt 32 1\n%uchar = OpTypeInt 8 0\n%char = OpTypeInt 8 1\n\
             %short = OpTypeInt 16 1\n%ulong = OpTypeInt 64 0\n%long = OpTypeInt 64 1\n\
             %uint_0 = OpConstant %uint 0\n%words = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %words\n\
             %ptr_block = OpTypePointer StorageBuffer %block\n%ptr_word = OpTypePointer StorageBuffer %uint\n\
             %indices = OpVariable %ptr_block StorageBuffer\n%results = OpVariable %ptr_block StorageBuffer\n\
             {globals}%main = OpFunction %void None %fn\n%entry = OpLabel\n{locals}{body}OpReturn\nOpFunctionEnd\n"
        )
    }
}

/// The results of a module.
fn run(device: &Rc<dyn Device>, text: &str, options: &PipelineOptions, given: &[u32]) -> Vec<u32> {
    let words = assemble(text);
    let kernel = match device.load(&words, options) {
        Ok(kernel) => kernel,
        Err(error) => panic!("{error}:\n{text}"),
    };
    let bits: Vec<f32> = (0..N).map(|at| f32::from_bits(given.get(at).copied().unwrap_or(0))).collect();
    let (indices, results) = (device.floats(&bits), device.zeros(N));
    let Command::Dispatch(mut run) = dispatch(kernel, &[(indices, READ), (results, BOTH)], N) else {
        unreachable!("a dispatch was made")
    };
    run.groups = [1; 3];
    device.done(device.run(vec![Command::Dispatch(run)]));
    let results: Vec<u32> = device.get(results, N).into_iter().map(f32::to_bits).collect();
    assert_eq!(results[N - 2..], [N_GUARDS as u32; 2], "guards were overwritten by\n{text}");
    results
}

fn clamps(device: &Rc<dyn Device>) -> bool {
    device.info().backend == Backend::Vulkan
}

/// Indices of every type, below, in and far beyond an array of five in each class, as constants and as data.
#[test]
fn indices_of_every_type_stay_in_their_array() {
    const LEN: u32 = 5;
    const INDICES: [i64; 10] = [0, 3, 4, 5, 6, 100, -1, -5, i32::MAX as i64, i32::MIN as i64];
    on_every_device(|device| {
        for class in [Class::Workgroup, Class::Private, Class::Function] {
            for ty in ["uint", "int", "uchar", "char", "short", "ulong", "long"] {
                let text = Text::new().guarded(class, |text| {
                    let len = text.uint(LEN as usize);
                    text.global(format!("%cells = OpTypeArray %uint {len}"));
                    text.global(format!("%ptr_cell = OpTypePointer {class:?} %uint"));
                    text.variable("target", "%cells", class);
                    for at in 0..INDICES.len() {
                        let (given, index, cell) = (text.given(at), text.id(), text.id());
                        match ty {
                            "uint" => text.line(format!("{index} = OpCopyObject %uint {given}")),
                            "int" => text.line(format!("{index} = OpBitcast %int {given}")),
                            "uchar" | "ulong" => text.line(format!("{index} = OpUConvert %{ty} {given}")),
                            _ => text.line(format!("{index} = OpSConvert %{ty} {given}")),
                        }
                        text.line(format!("{cell} = OpAccessChain %ptr_cell %target {index}"));
                        let (value, loaded) = (text.uint(at + 1), text.id());
                        text.line(format!("OpStore {cell} {value}"));
                        text.line(format!("{loaded} = OpLoad %uint {cell}"));
                        text.result(at, &loaded);
                    }
                });
                let given: Vec<u32> = INDICES.iter().map(|index| *index as u32).collect();
                let results = run(device, &text, &PipelineOptions::default(), &given);
                for (at, index) in INDICES.iter().enumerate() {
                    let seen = match ty {
                        "uchar" => i64::from(*index as u8),
                        "char" => i64::from(*index as i8),
                        "short" => i64::from(*index as i16),
                        "uint" | "ulong" => i64::from(*index as u32),
                        _ => *index,
                    };
                    let is_inside = (0..i64::from(LEN)).contains(&seen);
                    let expect = if is_inside || clamps(device) { at as u32 + 1 } else { 0 };
                    assert_eq!(results[at], expect, "{class:?} {ty} {index}");
                }
            }
        }
    });
}

/// A random type of a variable.
enum Tree {
    Uint,
    Float,
    Vector(usize),
    Matrix(usize, usize),
    Array(Box<Tree>, usize),
    Struct(Vec<Tree>),
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n
    }

    fn tree(&mut self, depth: usize) -> Tree {
        match self.below(if depth == 0 { 4 } else { 8 }) {
            0 => Tree::Uint,
            1 => Tree::Float,
            2 => Tree::Vector(2 + self.below(3)),
            3 => Tree::Matrix(2 + self.below(3), 2 + self.below(3)),
            4 => Tree::Struct((0..1 + self.below(3)).map(|_| self.tree(depth - 1)).collect()),
            _ => Tree::Array(Box::new(self.tree(depth - 1)), 1 + self.below(5)),
        }
    }
}

impl Tree {
    /// Number of leaves.
    fn n_leaves(&self) -> usize {
        match self {
            Tree::Uint | Tree::Float => 1,
            Tree::Vector(n) => *n,
            Tree::Matrix(columns, rows) => columns * rows,
            Tree::Array(element, n) => element.n_leaves() * n,
            Tree::Struct(members) => members.iter().map(Tree::n_leaves).sum(),
        }
    }

    /// The name of its type, which the text declares.
    fn declare(&self, text: &mut Text) -> String {
        let part = |text: &mut Text, parts: &str| {
            let name = text.id();
            text.global(format!("{name} = {parts}"));
            name
        };
        match self {
            Tree::Uint => "%uint".to_owned(),
            Tree::Float => "%float".to_owned(),
            Tree::Vector(n) => format!("%uvec{n}"),
            Tree::Matrix(columns, rows) => format!("%mat{columns}x{rows}"),
            Tree::Array(element, n) => {
                let (element, n) = (element.declare(text), text.uint(*n));
                part(text, &format!("OpTypeArray {element} {n}"))
            }
            Tree::Struct(members) => {
                let members: Vec<_> = members.iter().map(|member| member.declare(text)).collect();
                part(text, &format!("OpTypeStruct {}", members.join(" ")))
            }
        }
    }
}

/// One step to a leaf: the number of elements, and whether the index must be constant, as for members of
/// structs.
struct Step {
    index: i64,
    len: usize,
    is_constant: bool,
    /// Leaves of each element, or before the member.
    leaves: usize,
    is_member: bool,
}

/// A path to a leaf, and whether that is a float. Every fourth index is out of range.
fn path(random: &mut Random, tree: &Tree) -> (Vec<Step>, bool) {
    let mut steps = Vec::new();
    let mut at = tree;
    let index = |random: &mut Random, len: usize, leaves: usize| {
        const WILD: [i64; 7] = [-1, -2, -1000, 1 << 16, i32::MAX as i64, i32::MIN as i64, 12345];
        let index = match random.below(4) {
            0 if random.below(2) == 0 => WILD[random.below(WILD.len())],
            0 => (len + random.below(3)) as i64,
            _ => random.below(len) as i64,
        };
        Step { index, len, is_constant: random.below(3) == 0, leaves, is_member: false }
    };
    loop {
        match at {
            Tree::Uint => return (steps, false),
            Tree::Float => return (steps, true),
            Tree::Vector(n) => {
                steps.push(index(random, *n, 1));
                return (steps, false);
            }
            Tree::Matrix(columns, rows) => {
                steps.push(index(random, *columns, *rows));
                steps.push(index(random, *rows, 1));
                return (steps, true);
            }
            Tree::Array(element, n) => {
                steps.push(index(random, *n, element.n_leaves()));
                at = element;
            }
            Tree::Struct(members) => {
                let member = random.below(members.len());
                let ahead = members[..member].iter().map(Tree::n_leaves).sum();
                steps.push(Step {
                    index: member as i64,
                    len: members.len(),
                    is_constant: true,
                    leaves: ahead,
                    is_member: true,
                });
                at = &members[member];
            }
        }
    }
}

/// The leaf at the end of a path; `None` if it is out of range and not clamped.
fn leaf(steps: &[Step], clamped: bool) -> Option<usize> {
    steps.iter().try_fold(0, |before, step| {
        let is_inside = (0..step.len as i64).contains(&step.index);
        let index = if is_inside { step.index as usize } else { step.len - 1 };
        let leaves = if step.is_member { step.leaves } else { index * step.leaves };
        (is_inside || clamped).then_some(before + leaves)
    })
}

/// Stores and loads along random paths into random types: each has the result of a model of the memory, and
/// nothing around it changes.
#[test]
fn random_access_chains_into_random_types_stay_inside() {
    const N_PROGRAMS: u64 = 24;
    const N_WAYS: usize = 24;
    on_every_device(|device| {
        for seed in 1..=N_PROGRAMS {
            let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let class = [Class::Workgroup, Class::Private, Class::Function][random.below(3)];
            let tree = Tree::Array(Box::new(random.tree(3)), 1 + random.below(4));
            let mut given = Vec::new();
            let mut expect = Vec::new();
            let mut memory = vec![0; tree.n_leaves()];
            let text = Text::new().guarded(class, |text| {
                for n in 2..=4 {
                    text.global(format!("%uvec{n} = OpTypeVector %uint {n}"));
                    text.global(format!("%vec{n} = OpTypeVector %float {n}"));
                }
                for (columns, rows) in (2..=4).flat_map(|columns| (2..=4).map(move |rows| (columns, rows))) {
                    text.global(format!("%mat{columns}x{rows} = OpTypeMatrix %vec{rows} {columns}"));
                }
                let ty = tree.declare(text);
                text.variable("target", &ty, class);
                text.global(format!("%zeros = OpConstantNull {ty}"));
                text.line("OpStore %target %zeros".to_owned());
                text.global(format!("%ptr_uint_leaf = OpTypePointer {class:?} %uint"));
                text.global(format!("%ptr_float_leaf = OpTypePointer {class:?} %float"));
                for at in 0..N_WAYS {
                    let (steps, is_float) = path(&mut random, &tree);
                    let indices: Vec<_> = steps.iter().map(|step| index_of(text, step, &mut given)).collect();
                    let (pointer, indices) = (text.id(), indices.join(" "));
                    let of = if is_float { "float" } else { "uint" };
                    let chain = ["OpAccessChain", "OpInBoundsAccessChain"][random.below(2)];
                    text.line(format!("{pointer} = {chain} %ptr_{of}_leaf %target {indices}"));
                    let reached = leaf(&steps, clamps(device));
                    if random.below(3) > 0 {
                        let mut value = text.uint(at + 1);
                        if is_float {
                            let (float, from) = (text.id(), value);
                            text.line(format!("{float} = OpConvertUToF %float {from}"));
                            value = float;
                        }
                        text.line(format!("OpStore {pointer} {value}"));
                        reached.into_iter().for_each(|leaf| memory[leaf] = at as u32 + 1);
                    }
                    let mut loaded = text.id();
                    text.line(format!("{loaded} = OpLoad %{of} {pointer}"));
                    if is_float {
                        let (int, from) = (text.id(), loaded);
                        text.line(format!("{int} = OpConvertFToU %uint {from}"));
                        loaded = int;
                    }
                    text.result(at, &loaded);
                    expect.push(reached.map_or(0, |leaf| memory[leaf]));
                }
            });
            let results = run(device, &text, &PipelineOptions::default(), &given);
            assert_eq!(results[..N_WAYS], expect, "seed {seed} on {}:\n{text}", device.info().name);
        }
    });
}

/// The id of an index: a constant, or a value from the buffer.
fn index_of(text: &mut Text, step: &Step, given: &mut Vec<u32>) -> String {
    if !step.is_constant && given.len() < N {
        given.push(step.index as u32);
        return text.given(given.len() - 1);
    }
    if step.index >= 0 {
        return text.uint(step.index as usize);
    }
    let name = format!("%minus_{}", -step.index);
    if !text.globals.contains(&format!("{name} = ")) {
        text.global(format!("{name} = OpConstant %int {}", step.index));
    }
    name
}

#[test]
fn a_length_that_a_constant_gives_bounds_its_array() {
    on_every_device(|device| {
        let mut text = Text::new();
        text.global("%n = OpSpecConstant %uint 8".to_owned());
        let two = text.uint(2);
        text.global(format!("%twice = OpSpecConstantOp %uint IMul %n {two}"));
        let body = text.guarded(Class::Workgroup, |text| {
            text.global("%cells = OpTypeArray %uint %n".to_owned());
            text.global("%more_cells = OpTypeArray %uint %twice".to_owned());
            text.global("%ptr_cell = OpTypePointer Workgroup %uint".to_owned());
            text.variable("target", "%cells", Class::Workgroup);
            text.variable("more", "%more_cells", Class::Workgroup);
            let (index, value) = (text.given(0), text.uint(7));
            for (at, name) in ["%target", "%more"].into_iter().enumerate() {
                let [cell, loaded] = [text.id(), text.id()];
                text.line(format!("{cell} = OpAccessChain %ptr_cell {name} {index}"));
                text.line(format!("OpStore {cell} {value}"));
                text.line(format!("{loaded} = OpLoad %uint {cell}"));
                text.result(at, &loaded);
            }
        });
        let text = body.replace("%void = OpTypeVoid", "OpDecorate %n SpecId 3\n%void = OpTypeVoid");
        let check = |n: Option<u64>, index: u32, expect: [bool; 2]| {
            let spec_constants = n.map(|n| (3, n)).into_iter().collect();
            let options = PipelineOptions { spec_constants, ..PipelineOptions::default() };
            let results = run(device, &text, &options, &[index]);
            let expect = expect.map(|is_inside| if is_inside || clamps(device) { 7 } else { 0 });
            assert_eq!(results[..2], expect, "length {n:?}, index {index}");
        };
        check(None, 7, [true, true]);
        check(Some(3), 2, [true, true]);
        check(Some(3), 5, [false, true]);
        check(Some(3), 6, [false, false]);
        check(Some(3), u32::MAX, [false, false]);
        check(Some(20), 19, [true, true]);
        let none = PipelineOptions { spec_constants: vec![(3, 0)], ..PipelineOptions::default() };
        let refused = device.load(&assemble(&text), &none);
        assert!(matches!(refused, Err(DeviceError::BadModule { .. })), "{refused:?}");
    });
}

#[test]
fn components_of_vectors_stay_in_their_vector() {
    on_every_device(|device| {
        let text = Text::new().guarded(Class::Private, |text| {
            text.global("%uvec3 = OpTypeVector %uint 3".to_owned());
            let [a, b, c, nine] = [10, 20, 30, 9].map(|value| text.uint(value));
            text.global(format!("%abc = OpConstantComposite %uvec3 {a} {b} {c}"));
            for at in 0..4 {
                let index = text.given(at);
                let [component, inserted, first] = std::array::from_fn(|_| text.id());
                text.line(format!("{component} = OpVectorExtractDynamic %uint %abc {index}"));
                text.line(format!("{inserted} = OpVectorInsertDynamic %uvec3 %abc {nine} {index}"));
                text.line(format!("{first} = OpCompositeExtract %uint {inserted} 1"));
                text.result(2 * at, &component);
                text.result(2 * at + 1, &first);
            }
        });
        let results = run(device, &text, &PipelineOptions::default(), &[1, 2, 3, u32::MAX]);
        assert_eq!(results[..4], [20, 9, 30, 20]);
        if clamps(device) {
            assert_eq!(results[4..8], [30, 20, 30, 20]);
        }
    });
}

#[test]
fn push_constants_are_read_within_their_arrays() {
    on_every_device(|device| {
        let mut text = Text::new();
        let four = text.uint(4);
        text.global(format!("%four_words = OpTypeArray %uint {four}"));
        text.global("%pushed = OpTypeStruct %four_words".to_owned());
        text.global("%ptr_pushed = OpTypePointer PushConstant %pushed".to_owned());
        text.global("%ptr_pushed_word = OpTypePointer PushConstant %uint".to_owned());
        text.global("%push = OpVariable %ptr_pushed PushConstant".to_owned());
        for at in 0..4 {
            let index = text.given(at);
            let [pointer, loaded] = [text.id(), text.id()];
            text.line(format!("{pointer} = OpAccessChain %ptr_pushed_word %push %uint_0 {index}"));
            text.line(format!("{loaded} = OpLoad %uint {pointer}"));
            text.result(at, &loaded);
        }
        let decorations = "OpDecorate %four_words ArrayStride 4\nOpDecorate %pushed Block\n\
                           OpMemberDecorate %pushed 0 Offset 0\n";
        let text = text.module(decorations);
        let kernel = device.load(&assemble(&text), &PipelineOptions::default()).expect("it is valid");
        let indices = device.floats(&[0, 3, 4, u32::MAX].map(f32::from_bits));
        let results = device.zeros(4);
        let Command::Dispatch(mut run) = dispatch(kernel, &[(indices, READ), (results, BOTH)], 4) else {
            unreachable!("a dispatch was made")
        };
        run.groups = [1; 3];
        run.push_constants = [5_u32, 6, 7, 8].iter().flat_map(|word| word.to_le_bytes()).collect();
        device.done(device.run(vec![Command::Dispatch(run)]));
        let results: Vec<u32> = device.get(results, 4).into_iter().map(f32::to_bits).collect();
        assert_eq!(results, if clamps(device) { [5, 8, 8, 8] } else { [5, 8, 0, 0] });
    });
}

/// Accesses that cannot be bounded are refused by name, with their line, unless the device bounds them
/// itself.
#[test]
fn what_nothing_bounds_is_refused() {
    let check = |device: &Rc<dyn Device>, text: String, what: &str, line: Option<u32>| {
        let loaded = device.load(&assemble(&text), &PipelineOptions::default());
        if !clamps(device) {
            return;
        }
        match loaded {
            Err(DeviceError::Unbounded { what: said, line: at, .. }) => {
                let file = "external.cl".to_owned();
                let expect = line.map(|line| SourceLine { file, line, column: 4 });
                assert_eq!((said, at), (what, expect));
            }
            other => panic!("{other:?} is no refusal of {what}:\n{text}"),
        }
    };
    on_every_device(|device| {
        let stepping = |element: &str| {
            let mut text = Text::new();
            let eight = text.uint(8);
            text.global(format!("%cells = OpTypeArray %uint {eight}"));
            text.global("%ptr_cell = OpTypePointer Workgroup %uint".to_owned());
            text.variable("target", "%cells", Class::Workgroup);
            let index = if element.is_empty() { text.given(0) } else { element.to_owned() };
            text.line("OpLine %file 12 4".to_owned());
            text.line("%cell = OpAccessChain %ptr_cell %target %uint_0".to_owned());
            text.line(format!("%other = OpPtrAccessChain %ptr_cell %cell {index}"));
            text.line("OpStore %other %uint_0".to_owned());
            let module = text.module("");
            module.replacen("OpMemoryModel", "OpCapability VariablePointers\nOpMemoryModel", 1)
        };
        check(device, stepping(""), "shared memory from a pointer to another element", Some(12));
        assert!(device.load(&assemble(&stepping("%uint_0")), &PipelineOptions::default()).is_ok());

        let mut nothing = Text::new();
        nothing.global("%null = OpConstantNull %ptr_word".to_owned());
        nothing.line("OpStore %null %uint_0".to_owned());
        let nothing = nothing.module("");
        let nothing = nothing.replacen("OpMemoryModel", "OpCapability VariablePointers\nOpMemoryModel", 1);
        check(device, nothing, "memory by a pointer that is null or undefined", None);

        let mut far = Text::new();
        far.global("%ptr_far = OpTypePointer PhysicalStorageBuffer %uint".to_owned());
        far.global("%ulong_64 = OpConstant %ulong 64".to_owned());
        far.line("%far = OpConvertUToPtr %ptr_far %ulong_64".to_owned());
        far.line("OpStore %far %uint_0 Aligned 4".to_owned());
        let far = far.module("").replacen(
            "OpMemoryModel Logical",
            "OpCapability PhysicalStorageBufferAddresses\nOpExtension \"SPV_KHR_physical_storage_buffer\"\n\
             OpMemoryModel PhysicalStorageBuffer64",
            1,
        );
        check(device, far, "memory by address", None);
    });
}
