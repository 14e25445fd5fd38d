//! Kernels in scripts, on the built-in device.

mod common;

use common::check;

#[test]
fn pyshader_kernels_run_by_hand_and_by_call() {
    check(
        r#"
mgr = Manager()
tensor_in_a = Tensor([2, 2, 2])
tensor_in_b = Tensor([1, 2, 3])
tensor_out = Tensor([0, 0, 0])
mgr.eval_tensor_create_def([tensor_in_a, tensor_in_b, tensor_out])

@python2shader
def compute_shader_multiply(index=("input", "GlobalInvocationId", ivec3),
                            data1=("buffer", 0, Array(f32)),
                            data2=("buffer", 1, Array(f32)),
                            data3=("buffer", 2, Array(f32))):
    i = index.x
    data3[i] = data1[i] * data2[i]

mgr.eval_algo_data_def([tensor_in_a, tensor_in_b, tensor_out], compute_shader_multiply.to_spirv())
mgr.eval_await_def()
mgr.eval_tensor_sync_local_def([tensor_out])
assert tensor_out.data() == [2.0, 4.0, 6.0]
print(tensor_out.data(), repr(compute_shader_multiply).split(" at ")[0], len(compute_shader_multiply.to_spirv()) % 4)
compute_shader_multiply(tensor_out, tensor_in_b, tensor_out)
print(tensor_out.data())
algo = mgr.algorithm([tensor_out, tensor_in_b, tensor_out], compute_shader_multiply.to_spirv(), (3, 1, 1))
import kp
mgr.sequence().record(kp.OpAlgoDispatch(algo)).record(kp.OpTensorSyncLocal([tensor_out])).eval()
print(tensor_out.data())
"#,
        "[2.0, 4.0, 6.0] <ShaderModule shader from compute_shader_multiply 0\n[2.0, 8.0, 18.0]\n[2.0, 16.0, 54.0]\n",
    );
}

#[test]
fn kernels_take_scalars_and_tensors() {
    check(
        r#"
@kernel
def saxpy(a: f32, x: Array[f32], y: Array[f32]):
    i = global_id.x
    y[i] = a * x[i] + y[i]

x = Tensor(range(5))
y = Tensor([1] * 5)
saxpy(2.0, x, y)
print(y.data())
saxpy[3](10, x=x, y=y)
print(y.data())
saxpy.launch(1, x, y, groups=(1, 1, 1))
print(y.data())

@kernel
def add_one(a):
    a[global_id.x] += 1

counts = Tensor([1, 2, 3], dtype="int32")
floats = Tensor([0.5])
for _ in range(100):
    add_one(counts)
add_one(floats)
print(counts.data(), floats.data())
"#,
        "[1.0, 3.0, 5.0, 7.0, 9.0]\n[1.0, 13.0, 25.0, 7.0, 9.0]\n[1.0, 14.0, 27.0, 10.0, 13.0]\n[101, 102, 103] [1.5]\n",
    );
}

#[test]
fn captured_names_are_constants_of_the_moment() {
    check(
        r#"
scale = 2

def twice(v):
    return v * scale

def make(offset):
    @kernel
    def apply(a: Array[f32]):
        i = global_id.x
        a[i] = twice(a[i]) + offset + floor(0.5)
    return apply

a = Tensor([1, 2])
apply = make(0.5)
apply(a)
print(a.data())
scale = 10
apply(a)
print(a.data())
"#,
        "[2.5, 4.5]\n[25.5, 45.5]\n",
    );
}

#[test]
fn mistakes_name_the_parameter() {
    let kernel = "@kernel\ndef saxpy(a: f32, x: Array[f32], y: Array[f32]):\n    i = global_id.x\n    y[i] = a * x[i] + y[i]\nx = Tensor([1, 2])\n";
    for (call, message) in [
        (
            "saxpy(1.0, x)",
            "TypeError: kernel `saxpy` takes 3 arguments (a, x, y), 2 were given (write saxpy(a, x, y); arrays that it writes are arguments too)",
        ),
        (
            "saxpy(1.0, x, x, x)",
            "TypeError: kernel `saxpy` takes 3 arguments (a, x, y), 4 were given (write saxpy(a, x, y); arrays that it writes are arguments too)",
        ),
        ("saxpy(1.0, x, z=x)", "TypeError: kernel `saxpy` has no parameter `z` (it has a, x, y)"),
        (
            "saxpy(1.0, x, x=x)",
            "TypeError: kernel `saxpy` got its argument `x` twice (give it by its place or by its name, not by both)",
        ),
        (
            "saxpy(a=1.0, x=x)",
            "TypeError: kernel `saxpy` misses its argument `y` (pass it by its place or its name: saxpy(.., y=..))",
        ),
        (
            "saxpy(x, x, x)",
            "TypeError: parameter `a` of kernel `saxpy` takes a number of type f32, not Tensor (pass one element, t[0], or change the order of the arguments)",
        ),
        (
            "saxpy(1.0, [1], x)",
            "TypeError: parameter `x` of kernel `saxpy` takes a tensor, not list (make a tensor of it first: Tensor([..]))",
        ),
        (
            "saxpy(1.0, x, Tensor([1], dtype='i32'))",
            "TypeError: parameter `y` needs elements of f32, but tensor i32[1] has i32 (make the tensor with that type: Tensor(values, dtype=\"float32\"))",
        ),
        (
            "saxpy(16777217, x, x)",
            "OverflowError: parameter `a` of kernel `saxpy` cannot be 16777217: it would lose its value as f32",
        ),
        (
            "saxpy[2, 2, 2, 2](1.0, x, x)",
            "TypeError: the domain of kernel `saxpy` is one to three counts of invocations (such as saxpy[n](..) or saxpy[height, width](..))",
        ),
        (
            "saxpy[3].launch(1.0, x, x)",
            "AttributeError: 'KernelWithDomain' object has no attribute 'launch' (write saxpy[3](..), or count workgroups instead: saxpy.launch(.., groups=..))",
        ),
        (
            "saxpy[3][4](1.0, x, x)",
            "TypeError: the domain of kernel `saxpy` is given once, and `saxpy[3]` has it (a kernel has one domain: write saxpy[3, 4](..) for one of several axes)",
        ),
        (
            "saxpy[3, 4][5, 6](1.0, x, x)",
            "TypeError: the domain of kernel `saxpy` is given once, and `saxpy[3, 4]` has it (a kernel has one domain, of one to three axes)",
        ),
        (
            "saxpy(1.0, x, None)",
            "TypeError: parameter `y` of kernel `saxpy` takes a tensor, not NoneType (kernels have no None: give a value, or write a kernel without the parameter)",
        ),
        (
            "saxpy(1.0, x, Tensor)",
            "TypeError: parameter `y` of kernel `saxpy` takes a tensor, not type (make an object of the class: Tensor(..))",
        ),
    ] {
        check(&format!("{kernel}{call}\n"), &format!("{message}\n"));
    }
    check(
        "@kernel\ndef k(a):\n    a[global_id.x] = 1\nk.to_spirv()\n",
        "TypeError: kernel `k` has no one SPIR-V: its parameter `a` has no type (annotate it, such as `a: Array[f32]` or `a: f32`)\n",
    );
    check(
        "@kernel\ndef k(a: Array[f32], n: const[i32]):\n    a[global_id.x] = n\nk.to_spirv()\n",
        "TypeError: kernel `k` has no one SPIR-V: its constant `n` has no value (write one as its default, such as `n: const[i32] = 4`)\n",
    );
    check(
        "kernel(lambda a: a)\n",
        "TypeError: @kernel takes a function written with `def`, not function (write @kernel on a line above the function's `def`)\n",
    );
}

#[test]
fn suggestions_are_made_for_the_first_names_of_a_script() {
    let kernels = (0..300).map(|at| {
        format!("VALUE_{at} = 1\n@kernel\ndef kernel_{at}(a: Array[f32]):\n    a[0] = VALEU_{at}\n")
    });
    let source = kps_syntax::Source::new("many.kps", kernels.collect::<String>());
    let found = kps::inspect::check(&source);
    assert_eq!(found.0.len(), 300);
    let suggests = |at: usize| found.0[at].help == Some(format!("did you mean `VALUE_{at}`?"));
    assert!(suggests(0) && suggests(kps_syntax::suggest::MOST - 1));
    assert!(!suggests(kps_syntax::suggest::MOST));
}
