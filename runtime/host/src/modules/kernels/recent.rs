//! A map of bounded size: a new entry evicts the least recently used one.

use std::hash::Hash;

use rustc_hash::FxHashMap;

pub struct Recent<K, V> {
    /// Each with the number of its last use.
    entries: FxHashMap<K, (V, u64)>,
    capacity: usize,
    n_uses: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> Recent<K, V> {
    pub fn with_capacity(capacity: usize) -> Recent<K, V> {
        Recent { entries: FxHashMap::default(), capacity, n_uses: 0 }
    }

    pub fn get(&mut self, key: &K) -> Option<V> {
        let (value, last_use) = self.entries.get_mut(key)?;
        self.n_uses += 1;
        *last_use = self.n_uses;
        Some(value.clone())
    }

    pub fn insert(&mut self, key: K, value: V) {
        if self.entries.len() >= self.capacity && !self.entries.contains_key(&key) {
            let oldest = self.entries.iter().min_by_key(|(_, (_, last_use))| *last_use);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.entries.remove(&oldest);
            }
        }
        self.n_uses += 1;
        self.entries.insert(key, (value, self.n_uses));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_used_is_evicted_first() {
        let mut recent = Recent::with_capacity(3);
        (1..=3).for_each(|key| recent.insert(key, 10 * key));
        assert_eq!(recent.get(&1), Some(10));
        recent.insert(4, 40);
        assert_eq!([1, 2, 3, 4].map(|key| recent.get(&key)), [Some(10), None, Some(30), Some(40)]);
        // Replacing an entry evicts nothing.
        recent.insert(3, 33);
        recent.insert(5, 50);
        assert_eq!([1, 3, 4, 5].map(|key| recent.get(&key)), [None, Some(33), Some(40), Some(50)]);
    }
}
