//! The code of modules, kept for all devices of a thread: the same words, options and kind of lanes are
//! compiled once, however many devices load them. It lives as long as one of those devices, or the thread.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::Lanes;
use super::emit::Compiler;
use super::pipeline::{self, Pipeline};
use super::tiers::Chosen;
use crate::{Dispatch, PipelineOptions, Result};

#[derive(Clone)]
pub struct Library(Rc<RefCell<Contents>>);

struct Contents {
    /// Dropped after nobody can run code any more: devices hold the library as long as they hold pipelines.
    compiler: Compiler,
    loaded: FxHashMap<(Vec<u32>, PipelineOptions, Lanes), Rc<Pipeline>>,
}

thread_local! {
    static LIBRARY: Library = Library(Rc::new(RefCell::new(Contents {
        compiler: Compiler::new(),
        loaded: FxHashMap::default(),
    })));
}

impl Library {
    pub fn of_thread() -> Library {
        LIBRARY.with(Library::clone)
    }

    pub fn load(&self, words: &[u32], options: &PipelineOptions, lanes: Lanes) -> Result<Rc<Pipeline>> {
        let contents = &mut *self.0.borrow_mut();
        let key = (words.to_vec(), options.clone(), lanes);
        if let Some(pipeline) = contents.loaded.get(&key) {
            return Ok(pipeline.clone());
        }
        let pipeline = Rc::new(pipeline::load(words, options, lanes)?);
        contents.loaded.insert(key, pipeline.clone());
        Ok(pipeline)
    }

    /// The code that a dispatch of a pipeline runs.
    pub fn code(&self, pipeline: &Pipeline, dispatch: &Dispatch) -> Result<Chosen> {
        let compiler = &mut self.0.borrow_mut().compiler;
        pipeline.tiers.choose(compiler, dispatch.groups, pipeline.cost, &dispatch.push_constants)
    }
}
