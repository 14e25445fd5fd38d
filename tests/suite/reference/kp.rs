//! The page on the module `kp`, printed from the documentation of its names.
//!
//! The sections, their order and their heads are here; signatures and meanings are the program's. A name without
//! a place on the page is an error, and so is one without documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{arrays, printed};
use crate::Failure;
use crate::program::Program;

const HEAD: &str = "\
# The module kp

You want to look up a class or a method of the GPU library.
A test prints this page from the documentation of the names, which `help(kp.Manager)` shows too.
`UPDATE=1` writes it.

`Manager`, `Tensor`, `Sequence`, the decorators and the kernel types need no import.
`import kp` gives all names.
[Functions of arrays](arrays.md) have a page of their own.
The module also has the types of [Kernel functions and types](kernel-functions.md).
Names of older versions of Kompute are on the page [Kompute](../compatibility/kompute.md) with their meaning.
";

/// A table, or several with one header.
pub struct Section {
    /// Empty for a further table of the section above.
    pub title: &'static str,
    pub head: &'static str,
    pub tables: &'static [Table],
}

/// Rows about the names of a module or a class.
pub struct Table {
    object: &'static str,
    /// Shown before each name.
    prefix: &'static str,
    /// The names of each row. The first has its signature and its meaning there, the others are alike.
    rows: &'static [&'static str],
}

pub const fn names(object: &'static str, prefix: &'static str, rows: &'static [&'static str]) -> Table {
    Table { object, prefix, rows }
}

const SECTIONS: &[Section] = &[
    Section {
        title: "Kernels",
        head: "See also [Tracing](../guide/tracing.md) and [Explain](../guide/explain.md).",
        tables: &[
            names("kp", "@", &["kernel", "python2shader", "struct"]),
            names("kp", "", &["const", "void"]),
            names(
                "Kernel",
                "k.",
                &["launch", "trace", "explain", "to_spirv", "to_bytecode", "name", "description", "input"],
            ),
        ],
    },
    Section {
        title: "Functions",
        head: "",
        tables: &[names("kp", "", &["checks", "log_level", "read_png", "tuned", "write_png"])],
    },
    Section {
        title: "Manager",
        head: "",
        tables: &[
            names("kp", "", &["Manager"]),
            names(
                "Manager",
                "m.",
                &[
                    "tensor",
                    "tensor_t",
                    "image",
                    "image_t",
                    "algorithm",
                    "sequence",
                    "stream",
                    "event",
                    "sync",
                    "get_device_properties",
                    "list_devices",
                    "profile",
                    "memory",
                    "destroy",
                    "is_init",
                ],
            ),
        ],
    },
    Section {
        title: "",
        head: "Older verbs of the manager follow.\n\
               `eval_.._def` runs in a new sequence, and `eval_..` in the one that a further argument names.\n\
               `eval_async_..` does not wait for the end.",
        tables: &[names(
            "Manager",
            "m.",
            &[
                "build_tensor",
                "create_sequence",
                "get_create_sequence",
                "rebuild",
                "eval_tensor_create_def eval_tensor_create eval_async_tensor_create_def eval_async_tensor_create",
                "eval_tensor_copy_def eval_tensor_copy eval_async_tensor_copy_def eval_async_tensor_copy",
                "eval_tensor_sync_device_def eval_tensor_sync_device eval_async_tensor_sync_device_def \
                 eval_async_tensor_sync_device",
                "eval_tensor_sync_local_def eval_tensor_sync_local eval_async_tensor_sync_local_def \
                 eval_async_tensor_sync_local",
                "eval_algo_mult_def eval_algo_mult eval_async_algo_mult_def eval_async_algo_mult",
                "eval_algo_data_def eval_algo_data eval_async_algo_data_def eval_async_algo_data",
                "eval_algo_file_def eval_algo_file eval_async_algo_file_def eval_async_algo_file",
                "eval_algo_str_def eval_algo_str eval_async_algo_str_def eval_async_algo_str",
                "eval_algo_lro_def eval_algo_lro eval_async_algo_lro_def eval_async_algo_lro",
                "eval_await",
                "eval_await_def",
            ],
        )],
    },
    Section {
        title: "Profile and Memory",
        head: "See also [Profiling](../guide/profiling.md) and [Devices](../guide/devices.md).",
        tables: &[
            names("kp", "", &["Profile"]),
            names("Profile", "p.", &["start", "stop", "rows"]),
            names("kp", "", &["Memory"]),
            names("Memory", "memory.", &["used", "peak", "reserved", "budget", "tensors"]),
            names("kp", "kp.", &["OutOfMemoryError", "DeviceLostError"]),
        ],
    },
    Section {
        title: "Tensor",
        head: "",
        tables: &[
            names("kp", "", &["Tensor"]),
            names("Tensor", "Tensor.", &["zeros"]),
            names(
                "Tensor",
                "t.",
                &[
                    "numpy",
                    "data",
                    "tolist",
                    "set_data",
                    "shape",
                    "ndim",
                    "size",
                    "nbytes",
                    "dtype",
                    "reshape",
                    "resize",
                    "data_type",
                    "memory_type tensor_type",
                    "map_data_from_host map_data_into_host",
                    "destroy",
                    "is_init",
                ],
            ),
        ],
    },
    Section {
        title: "",
        head: "Methods of arrays, which are also functions: see [Functions of arrays](arrays.md).",
        tables: &[names(
            "Tensor",
            "t.",
            &[
                "device",
                "to_device",
                "T",
                "mT",
                "real",
                "imag",
                "conj",
                "astype",
                "copy",
                "fill",
                "item",
                "transpose",
                "ravel",
                "flatten",
                "squeeze",
                "clip",
                "round",
                "sum",
                "prod",
                "min",
                "max",
                "any",
                "all",
                "argmin",
                "argmax",
                "mean",
                "var",
                "std",
            ],
        )],
    },
    Section {
        title: "Image and Sampler",
        head: "An image also has the members of a tensor.",
        tables: &[
            names("kp", "", &["Image"]),
            names(
                "Image",
                "image.",
                &["width", "height", "depth", "num_channels", "format", "create_sampler"],
            ),
            names("kp", "", &["Sampler"]),
            names("Sampler", "sampler.", &["filter", "address"]),
        ],
    },
    Section {
        title: "Algorithm",
        head: "",
        tables: &[
            names("kp", "", &["Algorithm"]),
            names(
                "Algorithm",
                "a.",
                &["get_mem_objects get_tensors", "get_spec_consts", "rebuild", "destroy", "is_init"],
            ),
        ],
    },
    Section {
        title: "Sequence",
        head: "",
        tables: &[
            names("kp", "", &["Sequence"]),
            names(
                "Sequence",
                "s.",
                &[
                    "record",
                    "clear",
                    "rerecord",
                    "eval",
                    "eval_async",
                    "eval_await",
                    "get_timestamps",
                    "is_recording is_rec",
                    "is_running",
                    "is_init",
                    "destroy",
                ],
            ),
        ],
    },
    Section {
        title: "",
        head: "Older verbs of a sequence:",
        tables: &[names(
            "Sequence",
            "s.",
            &[
                "init",
                "begin",
                "end",
                "record_tensor_create",
                "record_tensor_copy",
                "record_tensor_sync_device",
                "record_tensor_sync_local",
                "record_algo_mult",
                "record_algo_data",
                "record_algo_file",
                "record_algo_str",
                "record_algo_lro",
            ],
        )],
    },
    Section {
        title: "Stream",
        head: "",
        tables: &[
            names("kp", "", &["Stream"]),
            names("Stream", "s.", &["record", "wait", "sync", "is_done", "queue"]),
        ],
    },
    Section {
        title: "Event",
        head: "",
        tables: &[
            names("kp", "", &["Event"]),
            names("Event", "e.", &["sync", "is_done", "elapsed", "is_recorded"]),
        ],
    },
    Section {
        title: "Operations",
        head: "",
        tables: &[names(
            "kp",
            "",
            &[
                "OpSyncDevice OpTensorSyncDevice",
                "OpSyncLocal OpTensorSyncLocal",
                "OpCopy OpTensorCopy",
                "OpTensorCreate",
                "OpAlgoDispatch",
                "OpMult",
                "OpMemoryBarrier",
                "OpBase",
            ],
        )],
    },
    Section {
        title: "Shaders and constants",
        head: "",
        tables: &[
            names("kp", "", &["Shader"]),
            names("Shader", "Shader.", &["compile_source", "compile_sources"]),
            names("kp", "", &["MemoryTypes", "TensorTypes", "DataTypes"]),
            names("kp", "kp.", &["device", "host", "storage", "deviceAndHost", "staging"]),
            names(
                "kp",
                "kp.",
                &["bool", "int", "uint", "float", "double", "short", "ushort", "char", "uchar"],
            ),
            names("kp", "kp.", &["custom"]),
        ],
    },
];

/// Prints each public name of the module and of its classes: its owner, name, signature and sentence. Constants
/// are on the page of the array API standard.
const SCRIPT: &str = "\
import kp, pyshader
classes = [kp.Manager, kp.Tensor, kp.Image, kp.Sampler, kp.Algorithm, kp.Sequence, kp.Stream, kp.Event, kp.Shader]
classes += [kp.Profile, kp.Memory]
owners = [(kp, 'kp')] + [(c, c.__name__) for c in classes + [pyshader.ShaderModule]]
for owner, title in owners:
    for name in dir(owner):
        inherited = owner is kp.Image and hasattr(kp.Tensor, name)
        value = getattr(owner, name)
        is_constant = value is None or isinstance(value, float)
        if not name.startswith('_') and not inherited and not is_constant:
            print(title, name, getattr(value, '__text_signature__', None) or '', value.__doc__ or '', sep='\\t')
for name in dir(kp.linalg):
    function = getattr(kp.linalg, name)
    if hasattr(function, '__code__') and function.__module__ == 'kp.linalg' and not name.startswith('_'):
        code, defaults = function.__code__, function.__defaults__ or ()
        parameters = list(code.co_varnames[:code.co_argcount])
        for k, default in enumerate(defaults, len(parameters) - len(defaults)):
            parameters[k] += f'={default!r}'
        print('kp.linalg', name, f\"({', '.join(parameters)})\", function.__doc__.splitlines()[0], sep='\\t')
";

/// Signature and sentence by owner and name.
type Docs = BTreeMap<(String, String), (String, String)>;

fn docs(program: &Program) -> Result<Docs, Failure> {
    let mut docs = Docs::new();
    for line in printed(program, SCRIPT)?.lines() {
        let [owner, name, signature, sentence] = line.splitn(4, '\t').collect::<Vec<_>>()[..] else {
            return Err(Failure(format!("not a row: {line:?}")));
        };
        docs.insert((owner.to_owned(), name.to_owned()), (signature.to_owned(), sentence.to_owned()));
    }
    Ok(docs)
}

/// Every public name of the module, its classes and a kernel has a sentence, and a function its parameters.
pub fn every_name_is_documented(program: &Program) -> Result<(), Failure> {
    let docs = docs(program)?;
    let missing: Vec<String> = docs
        .iter()
        .filter(|(_, (_, sentence))| !sentence.ends_with('.') || sentence.contains('\n'))
        .map(|((owner, name), _)| format!("{owner}.{name}"))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Failure(format!("these need a sentence: {}", missing.join(", ")))),
    }
}

pub fn page(program: &Program) -> Result<String, Failure> {
    let docs = docs(program)?;
    let mut unplaced: BTreeSet<(String, String)> = docs.keys().cloned().collect();
    // Types of kernels are on the page of kernel functions.
    unplaced.retain(|(owner, name)| owner != "kp" || !kps_kernel::is_name(name) && name != "Array");
    print(&mut String::new(), arrays::SECTIONS, &docs, &mut unplaced)?;
    let mut page = HEAD.to_owned();
    print(&mut page, SECTIONS, &docs, &mut unplaced)?;
    match unplaced.is_empty() {
        true => Ok(page),
        false => Err(Failure(format!("these names have no place in SECTIONS: {unplaced:?}"))),
    }
}

/// The page on the functions of arrays.
pub fn arrays_page(program: &Program) -> Result<String, Failure> {
    let mut page = arrays::HEAD.to_owned();
    print(&mut page, arrays::SECTIONS, &docs(program)?, &mut BTreeSet::new())?;
    Ok(page)
}

/// Appends sections to a page, whose names are taken from those without a place.
fn print(
    page: &mut String,
    sections: &[Section],
    docs: &Docs,
    unplaced: &mut BTreeSet<(String, String)>,
) -> Result<(), Failure> {
    for section in sections {
        if !section.title.is_empty() {
            write!(page, "\n## {}\n", section.title).expect("a string takes all");
        }
        if !section.head.is_empty() {
            write!(page, "\n{}\n", section.head).expect("a string takes all");
        }
        page.push_str("\n| Name | Meaning |\n|---|---|\n");
        for table in section.tables {
            for row in table.rows {
                let mut shown = Vec::new();
                let mut meaning = "";
                for name in row.split(' ') {
                    let key = (table.object.to_owned(), name.to_owned());
                    let (signature, sentence) = docs
                        .get(&key)
                        .ok_or_else(|| Failure(format!("there is no `{}.{name}`", table.object)))?;
                    unplaced.remove(&key);
                    let is_first = shown.is_empty();
                    meaning = if is_first { sentence } else { meaning };
                    let signature = if is_first { signature } else { "" };
                    shown.push(format!("`{}{name}{signature}`", table.prefix));
                }
                writeln!(page, "| {} | {meaning} |", shown.join(" ")).expect("a string takes all");
            }
        }
    }
    Ok(())
}
