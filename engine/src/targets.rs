//! The targets of all jobs of a run, and how many writer tasks each takes at once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use transship_plugin_api::WriterInfo;

use crate::gate::Gate;

/// A gate for each target that limits its writer tasks.
#[derive(Default)]
pub struct Targets {
    gates: Mutex<HashMap<String, Gate>>,
}

impl Targets {
    /// The gate of this writer's target; `None`: it takes any number of tasks. Writers that name the same target share one.
    pub fn gate(&self, info: &WriterInfo) -> Option<Gate> {
        if info.max_open_tasks == 0 {
            return None;
        }
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        Some(gates.entry(info.target.clone()).or_insert_with(|| Gate::new(info.max_open_tasks as usize)).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::Cancel;
    use transship_plugin_api::CommitClass;

    #[test]
    fn writers_of_one_target_share_its_slots_and_others_do_not() {
        let info = |target: &str, max_open_tasks| WriterInfo {
            commit: CommitClass::Task,
            max_open_tasks,
            target: target.into(),
            idempotent: false,
        };
        let targets = Targets::default();
        let first = targets.gate(&info("sqlite:a.db", 1)).unwrap();
        let mut pass = first.pass(&Cancel::new());
        pass.take().unwrap();
        assert_eq!(targets.gate(&info("sqlite:a.db", 1)).unwrap().free(), 0);
        assert_eq!(targets.gate(&info("sqlite:b.db", 1)).unwrap().free(), 1);
        assert!(targets.gate(&info("folder", 0)).is_none());
    }
}
