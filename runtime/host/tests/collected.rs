//! Work that a device collects starts while the script does something else.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kps::device::{
    BufferId, Commands, Device, DeviceInfo, DeviceMemory, HostMemory, ImageInfo, Interface, MemoryUsage,
    Opened, PipelineId, PipelineOptions, QueueId, Result, Ticket, Waited, select,
};
use kps::{Host, Program};

/// The built-in device, which says that it collects. It notes what starts its work.
struct Collecting {
    inner: Rc<dyn Device>,
    info: DeviceInfo,
    notes: Rc<RefCell<Vec<&'static str>>>,
}

impl Collecting {
    /// Notes an event, once in a row.
    fn note(&self, event: &'static str) {
        let mut notes = self.notes.borrow_mut();
        if notes.last() != Some(&event) {
            notes.push(event);
        }
    }
}

impl Device for Collecting {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory(&self) -> DeviceMemory {
        self.inner.memory()
    }

    fn alloc(&self, size: u64, usage: MemoryUsage) -> Result<BufferId> {
        self.inner.alloc(size, usage)
    }

    fn alloc_image(&self, image: &ImageInfo) -> Result<BufferId> {
        self.inner.alloc_image(image)
    }

    fn free(&self, buffer: BufferId) {
        self.inner.free(buffer);
    }

    fn write(&self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        self.inner.write(buffer, offset, bytes)
    }

    fn read(&self, buffer: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.inner.read(buffer, offset, bytes)
    }

    fn host_memory(&self, _buffer: BufferId) -> Option<HostMemory> {
        None
    }

    fn load(&self, words: &[u32], options: &PipelineOptions) -> Result<PipelineId> {
        self.inner.load(words, options)
    }

    fn unload(&self, pipeline: PipelineId) {
        self.inner.unload(pipeline);
    }

    fn interface(&self, pipeline: PipelineId) -> Result<Arc<Interface>> {
        self.inner.interface(pipeline)
    }

    fn submit(&self, queue: QueueId, commands: &Commands, after: &[Ticket]) -> Result<Ticket> {
        self.note("submit");
        self.inner.submit(queue, commands, after)
    }

    fn start_older(&self, age: Duration) -> bool {
        self.note(if age.is_zero() { "start all" } else { "start old" });
        false
    }

    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited> {
        self.inner.wait(ticket, timeout)
    }

    fn timestamps(&self, ticket: Ticket) -> Result<Vec<u64>> {
        self.inner.timestamps(ticket)
    }

    fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.inner.interrupt_flag()
    }
}

/// Runs a script after a first launch; `expect` is what the device notes from then on.
fn check(script: &str, expect: &[&str]) {
    let notes = Rc::default();
    let noted = Rc::clone(&notes);
    let open = move |selector: &select::Selector, options: &select::OpenOptions| {
        let opened = select::open(selector, options)?;
        let mut info = opened.device.info().clone();
        info.capabilities.collects_submissions = true;
        let device = Collecting { inner: opened.device, info, notes: Rc::clone(&noted) };
        Ok(Opened { device: Rc::new(device), warnings: opened.warnings })
    };
    let start = "import time, kp\n@kernel\ndef double(x: Array[f32]):\n    x[global_id.x] *= 2.0\n\n\
                 x = kp.Manager().tensor([1, 2, 3])\n";
    let mut host = Host::builder().device("cpu").device_opener(open).input(&b"line\n"[..]).build();
    let mut run = |script: &str| {
        let program = Program::parse("test.kps", script).expect("the script is well formed");
        let result = host.run(&program);
        assert!(result.is_ok(), "{script}: {result:?}");
    };
    run(start);
    notes.borrow_mut().clear();
    run(script);
    assert_eq!(*notes.borrow(), expect, "{script}");
}

#[test]
fn a_script_that_computes_has_the_device_work() {
    check("double(x)\nfor i in range(100):\n    pass\n", &["submit", "start old"]);
    check("double(x)\nsum(abs(i) for i in range(100))\n", &["submit", "start old"]);
}

#[test]
fn a_script_that_waits_has_the_device_work() {
    check("double(x)\ntime.sleep(0.001)\n", &["submit", "start all"]);
    check("double(x)\ninput()\n", &["submit", "start all"]);
}

#[test]
fn the_end_of_a_run_has_the_device_work() {
    check("double(x)\n", &["submit", "start all"]);
    check("kp.Manager().sequence()\ndouble(x)\ndouble(x)\n", &["submit", "start all"]);
}

#[test]
fn nothing_is_asked_for_after_all_has_started() {
    check("double(x)\nfor i in range(100000):\n    pass\n", &["submit", "start old"]);
    check("for i in range(100):\n    pass\ntime.sleep(0.001)\n", &[]);
}
