//! Several executors that share one memory, one executor per key: MXNet's bucketing.

use crate::executor::Executor;
use crate::options::BindOptions;
use crate::pool::MemoryPool;
use indexmap::IndexMap;
use mxrs_graph::Graph;
use mxrs_ndarray::ArrayContext;
use mxrs_types::{Result, ResultExt, Shape};
use std::fmt::Debug;
use std::hash::Hash;

/// The graph and the input shapes that are bound for one key.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// The graph; its parameters have the same names and shapes in all buckets.
    pub graph: Graph,
    /// Shapes of the inputs.
    pub inputs: Vec<(String, Shape)>,
}

/// Makes the graph of a key.
type Generate<K> = dyn Fn(&K) -> Result<Bucket> + Send + Sync;

/// Executors by key, such as a sequence length. Each executor is bound at the first request for its key. All executors
/// share one [`MemoryPool`]: parameters and gradients are the same arrays in all of them. Temporaries, inputs and outputs
/// share memory that is as large as the largest executor needs.
pub struct BucketingExecutor<K> {
    context: ArrayContext,
    options: BindOptions,
    generate: Box<Generate<K>>,
    bound: IndexMap<K, Executor>,
    pool: MemoryPool,
}

impl<K: Clone + Debug + Eq + Hash> BucketingExecutor<K> {
    /// Binds the bucket of `largest`, which determines the size of the memory. `generate` makes the graph of a key; it is
    /// called once for each key.
    ///
    /// # Errors
    /// Returns the errors of `generate` and of [`Executor::simple_bind`].
    pub fn new(
        context: &ArrayContext,
        options: &BindOptions,
        largest: K,
        generate: impl Fn(&K) -> Result<Bucket> + Send + Sync + 'static,
    ) -> Result<Self> {
        let pool = options.pool.clone().unwrap_or_else(|| MemoryPool::new_on(context, options.device));
        let options = BindOptions { pool: Some(pool.clone()), ..options.clone() };
        let generate = Box::new(generate);
        let mut buckets = Self { context: context.clone(), options, generate, bound: IndexMap::new(), pool };
        buckets.get(&largest)?;
        Ok(buckets)
    }

    /// The executor of a key, which is bound now if it has not been bound yet. Feed it, run it and read its outputs before
    /// another bucket is used.
    ///
    /// # Errors
    /// Returns the errors of [`Self::new`], or an error if a parameter has another shape than in the buckets bound before.
    pub fn get(&mut self, key: &K) -> Result<&Executor> {
        if !self.bound.contains_key(key) {
            let executor = self.bind(key).context(|| format!("binding bucket {key:?}"))?;
            self.bound.insert(key.clone(), executor);
        }
        Ok(&self.bound[key])
    }

    fn bind(&self, key: &K) -> Result<Executor> {
        let Bucket { graph, inputs } = (self.generate)(key)?;
        let inputs: Vec<(&str, Shape)> = inputs.iter().map(|(name, shape)| (name.as_str(), shape.clone())).collect();
        Executor::simple_bind(&graph, &self.context, &inputs, &self.options)
    }

    /// Keys bound so far, in the order of binding.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.bound.keys()
    }

    /// The memory of all buckets.
    pub fn pool(&self) -> &MemoryPool {
        &self.pool
    }
}
