//! The modules that this process keeps, with their code: the same words, options and kind of lanes are read
//! and compiled once, whichever device, manager or thread loads them.
//!
//! What was not run for longest is let go where all together would take more than [`ROOM`]. Whoever runs
//! code holds it, so what is let go is freed when the last run of it has ended; a device that wants it
//! later has the words, and gets it made anew.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Lanes;
use super::pipeline::{self, Pipeline};
use crate::{Interface, PipelineOptions, Result};

/// Bytes of modules with their code that are kept. A module of two hundred lines takes a fifth of a million.
pub const ROOM: usize = 64 << 20;
/// Bytes that each word of a module takes in the forms in which it is kept, roughly; code is counted.
const BYTES_PER_WORD: usize = 64;

static LIBRARY: Mutex<Library> = Mutex::new(Library { pipelines: FxHashMap::with_hasher(FxBuildHasher) });
/// Counts runs, so that it can be told which was last.
static N_RUNS: AtomicU64 = AtomicU64::new(0);
static N_READ: AtomicUsize = AtomicUsize::new(0);
static N_COMPILED: AtomicUsize = AtomicUsize::new(0);

/// What this process keeps of the modules that its devices loaded, and what it did for them so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheStats {
    pub n_modules: usize,
    /// Roughly, code included.
    pub n_bytes: usize,
    /// Modules that were read.
    pub n_read: usize,
    /// Times that code was made, of which a module may have several kinds.
    pub n_compiled: usize,
}

pub fn cache_stats() -> CacheStats {
    let library = library();
    CacheStats {
        n_modules: library.pipelines.len(),
        n_bytes: library.n_bytes(),
        n_read: N_READ.load(Ordering::Relaxed),
        n_compiled: N_COMPILED.load(Ordering::Relaxed),
    }
}

/// What a module is kept by.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    pub words: Arc<[u32]>,
    pub options: PipelineOptions,
    pub lanes: Lanes,
}

/// A module that a device loaded.
pub struct Loaded {
    key: Key,
    pub interface: Arc<Interface>,
    pipeline: RefCell<Weak<Pipeline>>,
    /// How often the device loaded it and did not give it back.
    pub n_loads: usize,
}

impl Loaded {
    pub fn load(key: Key) -> Result<Loaded> {
        let pipeline = pipeline(&key)?;
        Ok(Loaded {
            key,
            interface: pipeline.interface.clone(),
            pipeline: RefCell::new(Arc::downgrade(&pipeline)),
            n_loads: 1,
        })
    }

    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Made anew where it was let go.
    pub fn pipeline(&self) -> Result<Arc<Pipeline>> {
        if let Some(pipeline) = self.pipeline.borrow().upgrade() {
            return Ok(pipeline);
        }
        let pipeline = pipeline(&self.key)?;
        self.pipeline.replace(Arc::downgrade(&pipeline));
        Ok(pipeline)
    }
}

/// How much a module takes, and when it was run last.
#[derive(Default)]
pub struct Usage {
    n_bytes: AtomicUsize,
    last_run: AtomicU64,
}

impl Usage {
    pub fn of_words(n_words: usize) -> Usage {
        Usage { n_bytes: AtomicUsize::new(n_words * BYTES_PER_WORD), ..Usage::default() }
    }

    pub fn runs(&self) {
        self.last_run.store(N_RUNS.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Code was made.
    pub fn compiled(&self, n_bytes: usize) {
        self.n_bytes.fetch_add(n_bytes, Ordering::Relaxed);
        N_COMPILED.fetch_add(1, Ordering::Relaxed);
    }

    fn n_bytes(&self) -> usize {
        self.n_bytes.load(Ordering::Relaxed)
    }

    fn last_run(&self) -> u64 {
        self.last_run.load(Ordering::Relaxed)
    }
}

struct Library {
    pipelines: FxHashMap<Key, Arc<Pipeline>>,
}

fn library() -> MutexGuard<'static, Library> {
    // It is never left half changed.
    LIBRARY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pipeline(key: &Key) -> Result<Arc<Pipeline>> {
    if let Some(pipeline) = library().pipelines.get(key) {
        return Ok(pipeline.clone());
    }
    // Others are not kept waiting meanwhile.
    let pipeline = Arc::new(pipeline::load(&key.words, &key.options, key.lanes)?);
    N_READ.fetch_add(1, Ordering::Relaxed);
    pipeline.usage.runs();
    let (pipeline, let_go) = library().keep(key, pipeline);
    // It may be much to free, so the library is open again.
    drop(let_go);
    Ok(pipeline)
}

impl Library {
    /// The pipeline that is kept by a key from now on: this one, or that of whoever was faster. And those that are
    /// let go for it.
    fn keep(&mut self, key: &Key, pipeline: Arc<Pipeline>) -> (Arc<Pipeline>, Vec<Arc<Pipeline>>) {
        let pipeline = self.pipelines.entry(key.clone()).or_insert(pipeline).clone();
        let mut let_go = Vec::new();
        let mut n_bytes = self.n_bytes();
        while n_bytes > ROOM && self.pipelines.len() > 1 {
            let oldest = self.pipelines.iter().min_by_key(|(_, pipeline)| pipeline.usage.last_run());
            let oldest = oldest.map(|(key, _)| key.clone()).expect("there are several");
            let oldest = self.pipelines.remove(&oldest).expect("it was found there");
            n_bytes -= oldest.usage.n_bytes();
            let_go.push(oldest);
        }
        (pipeline, let_go)
    }

    fn n_bytes(&self) -> usize {
        self.pipelines.values().map(|pipeline| pipeline.usage.n_bytes()).sum()
    }
}
