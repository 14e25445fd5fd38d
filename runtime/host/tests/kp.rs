//! The module `kp` on the built-in device, as scripts of either generation of Kompute use it.

mod common;

use common::check;

#[test]
fn the_first_generation_multiplies() {
    check(
        r#"
mgr = Manager()
a = Tensor([2, 2, 2])
b = Tensor([1, 2, 3])
out = Tensor([0, 0, 0])
mgr.eval_tensor_create_def([a, b, out])
mgr.eval_algo_mult_def([a, b, out])
mgr.eval_await_def()
mgr.eval_tensor_sync_local_def([out])
assert out.data() == [2.0, 4.0, 6.0]
print(out.data(), out.data() == [2.0, 4.0, 6.0], out.data() == [2.0, 4.0], out.size(), len(out))

seq = mgr.create_sequence("op")
print(seq.begin(), seq.is_rec())
seq.record_tensor_sync_device([b])
seq.record_algo_mult([a, b, out])
seq.record_tensor_sync_local([out])
print(seq.end(), seq.is_rec())
for i in range(3):
    b.set_data([float(i), 1.0, 0.5])
    seq.eval()
    print(out.data())
mgr.eval_async_algo_mult([out, out, out], "op")
print(mgr.eval_await("op"), out.data())
"#,
        "[2.0, 4.0, 6.0] True False 3 3\nTrue True\nTrue False\n[0.0, 2.0, 1.0]\n[2.0, 2.0, 1.0]\n[4.0, 2.0, 1.0]\n\
         True [16.0, 4.0, 1.0]\n",
    );
}

#[test]
fn the_later_generations_record_and_chain() {
    check(
        r#"
import kp
mgr = kp.Manager(0)
a = mgr.tensor([2, 2, 2])
b = mgr.tensor([1, 2, 3])
out = mgr.tensor([0, 0, 0])
sq = mgr.sequence()
sq.record(kp.OpTensorSyncDevice([a, b, out])).record(kp.OpMult([a, b, out])).record(kp.OpSyncLocal([out])).eval()
print(out.data().tolist(), sq.is_init(), sq.is_running())
sq.eval_async(kp.OpCopy([a, out])).eval_await()
print(out.data())
print(mgr.get_device_properties()["device_name"] in [d["device_name"] for d in mgr.list_devices()])
print(a.tensor_type(), a.memory_type() == kp.TensorTypes.device, kp.device == kp.MemoryTypes.device, a.data_type())
t = mgr.tensor_t([1, 2], dtype="int32")
print(t, t.shape, t.data())
print(Tensor([[1, 2], [3, 4]]), Tensor([[1, 2], [3, 4]]).tolist(), Tensor(range(10)))
"#,
        "[2.0, 4.0, 6.0] True False\n[2.0, 2.0, 2.0]\nTrue\nMemoryTypes.device True True DataTypes.float\n\
         Tensor([1, 2], dtype=i32, shape=(2,)) (2,) [1, 2]\n\
         Tensor([[1.0, 2.0], [3.0, 4.0]], dtype=f32, shape=(2, 2)) [[1.0, 2.0], [3.0, 4.0]] \
         Tensor([0.0, 1.0, 2.0, .., 7.0, 8.0, 9.0], dtype=f32, shape=(10,))\n",
    );
}

#[test]
fn data_is_a_live_view_that_outlives_its_tensor() {
    check(
        r#"
import kp
m = kp.Manager()
t = m.tensor([1, 2, 3])
td = t.data()
del t
print(td, td.base.is_init(), list(td), 2.0 in td, len(td))
td[0] = 9
td[1:] = [7, 8]
print(td, td[-1], td[::2], td[1:] == [7.0, 8.0], td != [9.0, 7.0, 8.0], td.base)
m.destroy()
print(td.base.is_init(), m.is_init())
td[0]
"#,
        "[1.0, 2.0, 3.0] True [1.0, 2.0, 3.0] True 3\n\
         [9.0, 7.0, 8.0] 8.0 [9.0, 8.0] True False Tensor([9.0, 7.0, 8.0], dtype=f32, shape=(3,))\nFalse False\n\
         RuntimeError: cannot read tensor f32[3]: it was destroyed (make a new one, or destroy it later)\n",
    );
}

#[test]
fn mistakes_are_pointed() {
    for (script, message) in [
        (
            "Tensor([])",
            "ValueError: cannot make a zero-sized tensor (its shape is (0,)) (a tensor has one element or more: Tensor([0.0]))",
        ),
        ("Tensor([[1, 2], [3]])", "ValueError: the rows of a tensor must have the same length"),
        ("Tensor(['a'])", "TypeError: a tensor takes numbers, not str"),
        (
            "Tensor([1, 2]).set_data([1])",
            "ValueError: cannot set the data of tensor f32[2]: it has 2 elements, 1 were given",
        ),
        ("Tensor([1, 2])[2]", "IndexError: tensor index out of range"),
        (
            "Tensor([1], dtype='float')",
            "TypeError: `float` is no type of tensor elements (got str) (one of bool, i8 .. i64, u8 .. u64, f16, bf16, f32, f64, complex64, complex128, or NumPy's names such as \"float32\")",
        ),
        (
            "Manager().eval_tensor_sync_local_def([[1]])",
            "TypeError: a sequence takes tensors, not list (make one first: Tensor(values))",
        ),
        (
            "Manager().algorithm([Tensor([1])], b'abcde')",
            "ValueError: not a SPIR-V module: 5 bytes are not whole 32-bit words (give the words of a compiled kernel: my_kernel.to_spirv())",
        ),
        (
            "Manager().algorithm([Tensor([1])], b'abcdefgh')",
            "ValueError: not a SPIR-V module: it begins with 0x64636261, a module with 0x07230203 (give the words of a compiled kernel: my_kernel.to_spirv())",
        ),
        (
            "Manager(7)",
            "RuntimeError: there is no device 7: the list was narrowed to `cpu` (leave out --device and KPS_DEVICE to have all of them)",
        ),
        (
            "s = Manager().create_sequence()\ns.begin()\ns.begin()",
            "RuntimeError: the sequence is recording already (end the recording first: sequence.end())",
        ),
        (
            "m = Manager()\nm.destroy()\nm.tensor([1])",
            "RuntimeError: cannot make a tensor with the manager: it was destroyed (make a new one, or destroy it later)",
        ),
        (
            "import kp\nTensor([1], kp.MemoryTypes.storage).data()",
            "RuntimeError: cannot read tensor f32[1]: its memory type is `storage`, which the host cannot read (copy it to a tensor that the host reads: OpCopy([stored, readable]))",
        ),
    ] {
        check(script, &format!("{message}\n"));
    }
}

#[test]
fn the_logger_is_quiet_until_asked() {
    check(
        r#"
import kp
import logging
lines = []
class Stream:
    def write(self, text):
        lines.append(text)
handler = logging.StreamHandler(Stream())
handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
logger = logging.getLogger("kp")
print(logger.getEffectiveLevel() == logging.WARNING, logger)
logger.addHandler(handler)
kp.Manager()
logger.setLevel(logging.INFO)
kp.Manager()
for line in lines:
    print(line, end="")
kp.log_level(4)
print(logger.level == logging.ERROR, logging.getLogger("kp") == logger)
lines.clear()
logger.warning("unheard")
logger.error("heard")
print(lines)
"#,
        "True <Logger kp (WARNING)>\nINFO:kp:Using physical device index 0 found Built-in CPU\n\
         True True\n['INFO:kp:Destroying device\\n', 'ERROR:kp:heard\\n']\n",
    );
}

#[test]
fn pictures_are_written() {
    let path = std::env::temp_dir().join(format!("kps-picture-{}.png", std::process::id()));
    let script =
        "import kp\nkp.write_png(PATH, Tensor([[0, 128], [255, 300]]))\nkp.write_png(PATH, [1, 2])\n";
    check(
        &script.replace("PATH", &format!("{:?}", path.display().to_string())),
        "ValueError: [2] is no shape of a picture ((height, width) is grey, (height, width, 3) has colours, \
         (height, width, 4) transparency)\n",
    );
    let written = std::fs::read(&path).expect("the first picture was written");
    std::fs::remove_file(&path).expect("it is there");
    assert_eq!(&written[..8], b"\x89PNG\r\n\x1a\n");
    // Width and height, 8 bits, grey.
    assert_eq!(&written[16..26], [0, 0, 0, 2, 0, 0, 0, 2, 8, 0]);
}
