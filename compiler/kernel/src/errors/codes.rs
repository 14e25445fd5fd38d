//! The codes of mistakes in kernels and of warnings about them, as rows of the page on error codes.

use kps_syntax::ErrorCode;

pub const ERROR_CODES: &[ErrorCode] = &[
    ErrorCode::new(
        "kernel/ambiguous-stage",
        "The name of a shader function contains the names of two stages.",
        "Give it a name with one of \"vertex\", \"fragment\" and \"compute\" in it.",
    ),
    ErrorCode::new(
        "kernel/argument-count",
        "A launch gives a kernel too few or too many arguments.",
        "Give one argument for each parameter; `k[n](..)` sets the domain.",
    ),
    ErrorCode::new(
        "kernel/argument-type",
        "An argument of a launch has another type than the parameter declares.",
        "Pass a value of the declared type, or change the annotation.",
    ),
    ErrorCode::new(
        "kernel/array-element",
        "An element of `Array(n, type)(..)` has another type and does not convert without loss.",
        "Convert it: `f32(x)`.",
    ),
    ErrorCode::new(
        "kernel/array-elements",
        "`Array(n, type)(..)` is given another number of elements.",
        "Give `n` elements, or none for zeros.",
    ),
    ErrorCode::new(
        "kernel/array-length",
        "The length in `Array(n, type)` is no int from 1 to 65535.",
        "Write such a number, or the name of one.",
    ),
    ErrorCode::new(
        "kernel/assign-captured",
        "A kernel assigns to a variable of the script or of an enclosing function.",
        "Pass an array to write to, or assign to a name of the kernel's own.",
    ),
    ErrorCode::new(
        "kernel/assign-given",
        "A kernel writes to a list that the launch passes by value.",
        "Declare the parameter as `Array[..]`, or write into a copy.",
    ),
    ErrorCode::new(
        "kernel/assignment",
        "The target of an assignment has no place in memory.",
        "Assign to a name, an element, a component or a member.",
    ),
    ErrorCode::new(
        "kernel/async",
        "A kernel is declared `async`.",
        "Write `def`: launches are asynchronous by themselves.",
    ),
    ErrorCode::new(
        "kernel/atomic",
        "An atomic function is given no element that several invocations share.",
        "Pass an array parameter or `shared(..)` with an index, whose elements are scalars that it takes.",
    ),
    ErrorCode::new(
        "kernel/attribute",
        "A value has no attribute of this name.",
        "Use components of a vector, or `shape`, `size` and `ndim` of an array.",
    ),
    ErrorCode::new(
        "kernel/bitcast",
        "`bitcast` is given a type or a value that does not have as many bits.",
        "Name a type of the same width first: `bitcast(u32, x)`.",
    ),
    ErrorCode::new(
        "kernel/buffer-slot",
        "The slot of a buffer is no small int and no tuple of group and binding.",
        "Write `0` or `(0, 1)`.",
    ),
    ErrorCode::new(
        "kernel/buffer-type",
        "A buffer is declared with a type that is no array.",
        "Write `Array(..)` around the type.",
    ),
    ErrorCode::new(
        "kernel/call",
        "A function is called with arguments that it does not take, or something is called that is no function.",
        "Write the call as the help shows it.",
    ),
    ErrorCode::new(
        "kernel/called-too-deep",
        "Functions are called from one another too deep.",
        "Write a loop.",
    ),
    ErrorCode::new(
        "kernel/captured-value",
        "A kernel uses a value of the script that kernels cannot use.",
        "Capture numbers, tuples, short lists, types and functions; pass the rest as parameters.",
    ),
    ErrorCode::new(
        "kernel/cast",
        "A number or a vector cannot be made of this value.",
        "Take one of its elements, components or items first.",
    ),
    ErrorCode::new(
        "kernel/choice-types",
        "The two sides of `a if c else b` have types that do not go together.",
        "Cast one of them, or choose elements of the two.",
    ),
    ErrorCode::new(
        "kernel/compute-only",
        "A vertex or fragment function uses what only compute kernels have.",
        "Do it in a kernel of its own, and pass the result on in a buffer.",
    ),
    ErrorCode::new(
        "kernel/condition",
        "A condition is no bool.",
        "Write a comparison: `x != 0`; of a vector, `any(..)` or `all(..)`.",
    ),
    ErrorCode::new(
        "kernel/conflicting-types",
        "A variable has different types on the paths that lead to its use.",
        "Cast one of the values, or use two names.",
    ),
    ErrorCode::new(
        "kernel/coop-matrix",
        "An operation on cooperative matrices has operands that do not fit.",
        "Compare shapes, element types and uses (\"a\", \"b\", \"accumulator\") with what the message names.",
    ),
    ErrorCode::new(
        "kernel/copy-written",
        "A kernel writes to a list that is a copy, where Python would change the original.",
        "Write to the list by its own name, or copy it explicitly: `[*a]`.",
    ),
    ErrorCode::new(
        "kernel/discard",
        "`discard()` is used outside a fragment function, or as a value.",
        "Write it on a line of its own in a fragment function.",
    ),
    ErrorCode::new(
        "kernel/divergent",
        "Some invocations of a workgroup may reach a barrier or the like and others not.",
        "Move it to where all of them pass, or write `uniform(..)` around a value that is the same for all.",
    ),
    ErrorCode::new(
        "kernel/division-by-zero",
        "A constant is divided by zero.",
        "Write the value that is meant: `math.inf` or `0`.",
    ),
    ErrorCode::new(
        "kernel/domain",
        "The domain of a launch has more invocations along an axis than `global_id` can count.",
        "Use `global_id64`, or a domain with more axes.",
    ),
    ErrorCode::new(
        "kernel/given-twice",
        "A function that writes to a part of a list is given that part twice.",
        "Give a copy where the function only reads: `[*a]`.",
    ),
    ErrorCode::new(
        "kernel/host-function",
        "A kernel calls a function that only the host can run.",
        "Call it before the launch, or write the computation in the kernel.",
    ),
    ErrorCode::new(
        "kernel/index",
        "An index has the wrong type, number or value for what it indexes.",
        "Give one int for each axis, within the length.",
    ),
    ErrorCode::new(
        "kernel/input-type",
        "A builtin input is declared with a type that it does not have.",
        "Declare it as the help shows.",
    ),
    ErrorCode::new("kernel/internal", "The kernel compiler made a mistake.", "Report it with the kernel."),
    ErrorCode::new(
        "kernel/list",
        "A list cannot be made this way in a kernel.",
        "Give it 1 to 65535 elements of one type, known when the kernel is compiled.",
    ),
    ErrorCode::new(
        "kernel/literal",
        "A number does not fit the type that it is to have.",
        "Write a number within the range, or declare a wider type.",
    ),
    ErrorCode::new("kernel/local-size", "A local size has an axis of 0.", "Give every axis at least 1."),
    ErrorCode::new(
        "kernel/local-size-needed",
        "The kernel uses what needs a local size that is known.",
        "Decorate it with `@kernel(local_size=(256,))`.",
    ),
    ErrorCode::new(
        "kernel/loop",
        "A `for` loop cannot go over this value, or a bound of its `range` is wrong.",
        "Loop over `range(..)` of ints, a list, a tuple, a vector or an array.",
    ),
    ErrorCode::new(
        "kernel/lost-updates",
        "All invocations change one element, so that updates are lost.",
        "Use an atomic function, or an element for each invocation.",
    ),
    ErrorCode::new(
        "kernel/match",
        "`match` cannot compare this value, or a pattern does not fit it.",
        "Match numbers, bools and tuples of them, or write `if` and `elif`.",
    ),
    ErrorCode::new(
        "kernel/matrix",
        "A matrix is created, multiplied or indexed in an unsupported way.",
        "Write `a @ b` for products, and give a matrix its columns or all of its numbers.",
    ),
    ErrorCode::new(
        "kernel/missing-barrier",
        "An element of shared memory is read with no barrier behind the write of another invocation.",
        "Write `barrier()` between the two.",
    ),
    ErrorCode::new(
        "kernel/missing-position",
        "A vertex function does not set where its vertices are.",
        "Add the output `pos=(\"output\", \"Position\", vec4)` and assign it.",
    ),
    ErrorCode::new(
        "kernel/negative-power",
        "An int has a negative power, which is no int.",
        "Write the power of a float: `f32(n) ** -2`.",
    ),
    ErrorCode::new(
        "kernel/nested-too-deep",
        "Blocks or brackets of a kernel are nested too deep.",
        "Split expressions, or move inner blocks into functions.",
    ),
    ErrorCode::new(
        "kernel/never-runs",
        "A loop goes over an empty range.",
        "Correct the bounds or the step.",
    ),
    ErrorCode::new(
        "kernel/no-value",
        "A call without a result is used as a value.",
        "Write it on a line of its own, or let the function return a value.",
    ),
    ErrorCode::new(
        "kernel/not-a-sampler",
        "`sample` is given something that is no sampler.",
        "Declare a parameter `s: Sampler`.",
    ),
    ErrorCode::new(
        "kernel/not-a-texture",
        "A method of textures is used on something else.",
        "Declare a parameter `t: Image[\"2d r32f\"]`.",
    ),
    ErrorCode::new(
        "kernel/not-a-type",
        "An annotation or an argument is no type.",
        "Write `f32`, `vec3`, `Array[f32]` or the like.",
    ),
    ErrorCode::new(
        "kernel/not-a-value",
        "Something that is not a number is used as one.",
        "Take an element, call the function, or make a value of the type.",
    ),
    ErrorCode::new(
        "kernel/not-yet",
        "Kernels do not have this part of the language yet.",
        "Write it in another way.",
    ),
    ErrorCode::new(
        "kernel/operand-types",
        "An operator does not take operands of these types.",
        "Convert one of them, or take components or elements.",
    ),
    ErrorCode::new(
        "kernel/outdated",
        "A kernel reads a copy of a list that was written to since.",
        "Read the list by its own name, or copy it explicitly.",
    ),
    ErrorCode::new(
        "kernel/output-not-written",
        "An output of a shader function is not written on every path.",
        "Assign it before every end of the function.",
    ),
    ErrorCode::new(
        "kernel/outside",
        "The first or the last invocation reads an element outside the array, which gives 0.",
        "Test the index before.",
    ),
    ErrorCode::new(
        "kernel/outside-loop",
        "`break` or `continue` is outside a loop.",
        "Leave it out, or write `return`.",
    ),
    ErrorCode::new(
        "kernel/parameter-declaration",
        "A parameter of a shader function is not declared by kind, slot and type.",
        "Write `(\"buffer\", 0, Array(f32))` as its default or annotation.",
    ),
    ErrorCode::new(
        "kernel/parameter-default",
        "The default of a parameter is no constant that the parameter takes.",
        "Write a number or a bool, or leave the default out.",
    ),
    ErrorCode::new(
        "kernel/parameter-kind",
        "A parameter of a shader function has an unknown kind.",
        "Write \"input\", \"output\", \"buffer\", \"uniform\", \"texture\" or \"sampler\".",
    ),
    ErrorCode::new(
        "kernel/port-direction",
        "A builtin is declared as an input where it is an output, or the other way round.",
        "Declare it as the help shows.",
    ),
    ErrorCode::new(
        "kernel/port-slot",
        "The slot of an input or output is neither a location nor the name of a builtin.",
        "Write a location such as `0`, or the name of a builtin.",
    ),
    ErrorCode::new(
        "kernel/port-type",
        "A value of this type cannot travel between stages.",
        "Use `i32`, `f32` or vectors of them, or put it in a buffer.",
    ),
    ErrorCode::new(
        "kernel/print",
        "`print` or a format spec in a kernel is given something that it cannot take.",
        "Print numbers, bools, vectors, structs and lists of them.",
    ),
    ErrorCode::new(
        "kernel/rebound-array",
        "An assignment gives the name of an array parameter to something else and writes no element.",
        "Write an element: `out[i] = ..`.",
    ),
    ErrorCode::new(
        "kernel/recursion",
        "A function calls itself, directly or through others.",
        "Write a loop, with a list as the stack if it needs one.",
    ),
    ErrorCode::new(
        "kernel/replaced",
        "A name refers to a part of a list that may have been replaced since.",
        "Copy the part, or go through the indices.",
    ),
    ErrorCode::new(
        "kernel/return",
        "The returns of a function do not go together, or with its annotation.",
        "Return a value of one type on every path.",
    ),
    ErrorCode::new(
        "kernel/returns-value",
        "A kernel or a shader function returns a value.",
        "Write the value to an element of an array parameter, or to an output.",
    ),
    ErrorCode::new(
        "kernel/same-work",
        "Each invocation goes over the whole array, though one starts for each element.",
        "Start one invocation, or let each do its part: `i = global_id.x`.",
    ),
    ErrorCode::new(
        "kernel/self",
        "A kernel has a parameter `self`, and no object around it.",
        "Pass what it needs of the object as parameters.",
    ),
    ErrorCode::new(
        "kernel/shared",
        "`shared(..)` has a type or a size that it cannot have.",
        "Write the type, then sizes that are known when the kernel is compiled: `shared(f32, 16, 16)`.",
    ),
    ErrorCode::new(
        "kernel/shift",
        "A shift is by a negative amount, or by as many bits as the type has.",
        "Shift the other way, or cast to a wider type.",
    ),
    ErrorCode::new(
        "kernel/slice",
        "`:` is in the index of something that is not a matrix.",
        "Work on one element at a time: `x[i] = y[i]`.",
    ),
    ErrorCode::new("kernel/slot-taken", "Two parameters have one slot.", "Give each a slot of its own."),
    ErrorCode::new(
        "kernel/struct",
        "A struct is declared or used in an unsupported way.",
        "Declare members with types, `x: f32`, and give every one a value.",
    ),
    ErrorCode::new(
        "kernel/subgroup",
        "A function of subgroups is given a value that it does not take.",
        "Give it a scalar or a vector of the kind that the message names.",
    ),
    ErrorCode::new(
        "kernel/swapped-axes",
        "An index uses `global_id.x` for the first axis of an array, which `global_id.y` counts along.",
        "Swap the indices.",
    ),
    ErrorCode::new(
        "kernel/swizzle",
        "A vector does not have these components.",
        "Use one to four letters of `xyzw`, `rgba` or `stpq` that the vector has.",
    ),
    ErrorCode::new(
        "kernel/texture-coordinate",
        "A place in a texture has the wrong type.",
        "Give `read` and `write` ints, one for each axis, and `sample` floats from 0.0 to 1.0.",
    ),
    ErrorCode::new(
        "kernel/texture-method",
        "Textures have no method or attribute of this name.",
        "Use `read`, `write`, `sample`, `shape`, `size` or `ndim`.",
    ),
    ErrorCode::new(
        "kernel/texture-type",
        "The description of a texture is incomplete or has an unknown word.",
        "Write a dimension and a format: `Image[\"2d r32f\"]`.",
    ),
    ErrorCode::new(
        "kernel/texture-value",
        "A value is written to a texture of another type.",
        "Convert it to the type of the texels.",
    ),
    ErrorCode::new(
        "kernel/texture-without-format",
        "A texture is written whose parameter names no format.",
        "Name the format: `Image[\"2d r32f\"]`.",
    ),
    ErrorCode::new(
        "kernel/texture-written-and-sampled",
        "One kernel both writes and samples a texture.",
        "Read its texels with `read`, or write to another texture.",
    ),
    ErrorCode::new(
        "kernel/too-large",
        "A kernel, a value or the forms of a function are too many to compile.",
        "Use loops instead of unrolled code, and pass computed numbers instead of many literals.",
    ),
    ErrorCode::new(
        "kernel/too-many-addresses",
        "The addresses of very large arrays take more bytes than a launch passes.",
        "Work on fewer large arrays at once, or join them with another axis.",
    ),
    ErrorCode::new(
        "kernel/too-many-arrays",
        "A name may refer to more arrays than a kernel supports.",
        "Put the arrays into one, with an axis more.",
    ),
    ErrorCode::new(
        "kernel/too-many-scalars",
        "The values that a launch passes take too many bytes.",
        "Pass some of them in an array.",
    ),
    ErrorCode::new(
        "kernel/tuple-parameter",
        "A parameter of a `@kernel` is declared by a tuple.",
        "Decorate the function with `@python2shader`, or annotate it: `a: Array[f32]`.",
    ),
    ErrorCode::new(
        "kernel/type",
        "A value has another type than its target, and does not convert without loss.",
        "Convert it as the help shows: `f32(x)`.",
    ),
    ErrorCode::new(
        "kernel/uniform",
        "A kernel assigns to a uniform.",
        "Work on a variable: `mine = factor`.",
    ),
    ErrorCode::new(
        "kernel/unknown-input",
        "A builtin input or output does not exist, or belongs to another stage.",
        "Use a builtin of this stage, or a location.",
    ),
    ErrorCode::new(
        "kernel/unknown-member",
        "A module, a class or an object has no member of this name for kernels.",
        "Correct the name, or compute the value on the host and capture it.",
    ),
    ErrorCode::new(
        "kernel/unknown-name",
        "A name has no value in the kernel or in the script.",
        "Correct it, assign it before, or pass it as a parameter.",
    ),
    ErrorCode::new(
        "kernel/unknown-type",
        "No type has this name.",
        "Write `f32`, `vec3`, `Array[f32]` or the like.",
    ),
    ErrorCode::new(
        "kernel/unpack",
        "A value cannot be unpacked into these targets.",
        "Give as many targets as values, of a tuple, a list or a vector.",
    ),
    ErrorCode::new(
        "kernel/unreachable",
        "Code is never reached.",
        "Leave it out, or make the choice by a `const[bool]` parameter.",
    ),
    ErrorCode::new(
        "kernel/unset",
        "A variable or an output is read where it may have no value.",
        "Give it a value before on every path.",
    ),
    ErrorCode::new(
        "kernel/unsettled-types",
        "The types of the variables of a loop depend on each other.",
        "Cast the first value of each: `x = f32(0)`.",
    ),
    ErrorCode::new(
        "kernel/unsupported",
        "Kernels do not have this part of Python.",
        "Write what the help shows.",
    ),
    ErrorCode::new(
        "kernel/unused-result",
        "The result of an expression is not used.",
        "Assign it, or leave the line out.",
    ),
    ErrorCode::new(
        "kernel/variadic-parameter",
        "A kernel takes `*args` or `**kwargs`.",
        "Name every parameter.",
    ),
    ErrorCode::new(
        "kernel/vector",
        "`Vector(n, type)` is no vector.",
        "Write 2 to 4 numbers of a scalar type: `Vector(3, f32)`.",
    ),
    ErrorCode::new(
        "kernel/vector-parts",
        "A vector is made of too few or too many numbers.",
        "Give as many numbers as it has components, or one for all of them.",
    ),
    ErrorCode::new(
        "kernel/view",
        "A view of an array has no type, or one of a size that does not fit.",
        "Give a type whose size is a multiple or a fraction of the element's: `x.view(uvec4)`.",
    ),
];
