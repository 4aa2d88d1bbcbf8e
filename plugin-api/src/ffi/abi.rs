//! The `#[repr(C)]` mirror of `transship.h`.
#![allow(missing_docs)]
#[repr(C)]
pub struct TsHost { pub size: usize }
#[repr(C)]
pub struct TsPlugin { pub size: usize }
#[repr(C)]
pub struct TsError { pub kind: i32 }
