//! The C boundary: the only unsafe code in the workspace.

pub mod abi;
pub mod arrow;
pub mod export;
