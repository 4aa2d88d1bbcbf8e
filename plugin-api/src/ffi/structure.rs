//! The structure of arrays and schemas from the other side, checked before arrow-rs believes it: arrow-rs reads through
//! null pointers' neighbours, asserts, or aborts where a producer breaks the Arrow C data interface.
//! Not here: the checks that arrow-rs itself makes on an imported array (`ArrayData::validate`).

use std::ffi::{c_char, c_void};
use std::{ptr, slice};

use arrow_data::ffi::FFI_ArrowArray;
use arrow_data::layout;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field};

use crate::error::{Error, Result};

/// Deeper nesting than this is taken for a broken pointer.
const MAX_DEPTH: usize = 64;
/// More children than this are taken for a broken number.
const MAX_CHILDREN: i64 = 1 << 20;

/// `ArrowArray`, with its members in reach (arrow-rs keeps them private).
#[repr(C)]
pub(super) struct RawArray {
    pub(super) length: i64,
    pub(super) null_count: i64,
    pub(super) offset: i64,
    pub(super) n_buffers: i64,
    pub(super) n_children: i64,
    pub(super) buffers: *mut *const c_void,
    pub(super) children: *mut *mut RawArray,
    pub(super) dictionary: *mut RawArray,
    pub(super) release: Option<unsafe extern "C" fn(*mut RawArray)>,
    pub(super) private_data: *mut c_void,
}

/// `ArrowSchema`, with its members in reach.
#[repr(C)]
pub(super) struct RawSchema {
    pub(super) format: *const c_char,
    pub(super) name: *const c_char,
    pub(super) metadata: *const c_char,
    pub(super) flags: i64,
    pub(super) n_children: i64,
    pub(super) children: *mut *mut RawSchema,
    pub(super) dictionary: *mut RawSchema,
    pub(super) release: Option<unsafe extern "C" fn(*mut RawSchema)>,
    pub(super) private_data: *mut c_void,
}

fn raw(array: &FFI_ArrowArray) -> &RawArray {
    // SAFETY: both mirror the same C struct, member by member (`tests/layout.rs`).
    unsafe { &*ptr::from_ref(array).cast() }
}

/// What can be told of a batch without following a pointer: that it is there, and that its numbers are possible.
pub(super) fn check_shape(array: &FFI_ArrowArray, n_columns: usize) -> Result<()> {
    let array = raw(array);
    if array.release.is_none() {
        return Err(Error::internal("a malformed batch: its array was released already, or never made"));
    }
    check_lengths(array).map_err(|error| error.context("a malformed batch"))?;
    if array.n_children != n_columns as i64 {
        let found = array.n_children;
        return Err(Error::internal(format!(
            "a malformed batch: it has {found} columns where its schema has {n_columns}"
        )));
    }
    Ok(())
}

/// All that arrow-rs relies on when it imports an array of this type.
pub(super) fn check_array(array: &FFI_ArrowArray, data_type: &DataType) -> Result<()> {
    check(raw(array), data_type, 0)
}

fn check(array: &RawArray, data_type: &DataType, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(broken(format!("more than {MAX_DEPTH} levels of children")));
    }
    if array.release.is_none() {
        return Err(broken("a part of it was released already, or never made"));
    }
    check_lengths(array)?;
    let buffers = check_buffers(array, data_type)?;
    check_offsets(array, data_type, buffers)?;
    check_children(array, data_type, depth)
}

fn check_lengths(array: &RawArray) -> Result<()> {
    let RawArray { length, offset, null_count, .. } = *array;
    // Enough room is left for the widest type and for an offset more than there are rows.
    let possible = length >= 0 && offset >= 0 && length.checked_add(offset).is_some_and(|end| end < i64::MAX >> 8);
    if !possible {
        return Err(broken(format!("an impossible length ({length}) or offset ({offset})")));
    }
    if null_count < -1 || null_count > length {
        return Err(broken(format!("an impossible null_count, {null_count} of {length}")));
    }
    Ok(())
}

fn check_buffers<'a>(array: &'a RawArray, data_type: &DataType) -> Result<&'a [*const c_void]> {
    let layout = layout(data_type);
    let validity = usize::from(layout.can_contain_null_mask);
    // Views have the lengths of their data buffers in one more.
    let expected = validity + layout.buffers.len() + usize::from(layout.variadic);
    let found = array.n_buffers;
    let right =
        if layout.variadic { found >= expected as i64 && found < MAX_CHILDREN } else { found == expected as i64 };
    if !right {
        return Err(broken(format!("{found} buffers where {data_type} has {expected}")));
    }
    let buffers: &[*const c_void] = match found {
        0 => &[],
        _ if array.buffers.is_null() || !array.buffers.is_aligned() => {
            return Err(broken("no list of buffers, or one that is not aligned"));
        }
        // SAFETY: a list of that many pointers is what the producer promises, and it is neither null nor misaligned.
        _ => unsafe { slice::from_raw_parts(array.buffers, found as usize) },
    };
    let no_bitmap = validity == 1 && buffers[0].is_null();
    if array.null_count > 0 && no_bitmap {
        return Err(broken(format!("null_count is {}, but the validity buffer is null", array.null_count)));
    }
    if layout.variadic {
        check_view_buffers(buffers, validity)?;
    }
    Ok(buffers)
}

/// The last buffer of a view array holds the lengths of those between it and the views.
fn check_view_buffers(buffers: &[*const c_void], validity: usize) -> Result<()> {
    let data = &buffers[validity + 1..buffers.len() - 1];
    let lengths: *const i64 = buffers[buffers.len() - 1].cast();
    if data.is_empty() {
        return Ok(());
    }
    if lengths.is_null() || !lengths.is_aligned() {
        return Err(broken("the buffer of view lengths is null or not aligned"));
    }
    for (index, buffer) in data.iter().enumerate() {
        // SAFETY: the producer promises as many lengths as there are data buffers, and the list is neither null nor misaligned.
        let length = unsafe { lengths.add(index).read() };
        if length < 0 || length > 0 && buffer.is_null() {
            return Err(broken(format!("view data buffer {index} has {length} bytes, or is null")));
        }
    }
    Ok(())
}

/// The offsets of strings and lists: arrow-rs takes the size of the values from the last one without a look at it.
fn check_offsets(array: &RawArray, data_type: &DataType, buffers: &[*const c_void]) -> Result<()> {
    match data_type {
        DataType::Utf8 | DataType::Binary | DataType::List(_) | DataType::Map(_, _) => {
            check_offsets_of::<i32>(array, data_type, buffers)
        }
        DataType::LargeUtf8 | DataType::LargeBinary | DataType::LargeList(_) => {
            check_offsets_of::<i64>(array, data_type, buffers)
        }
        _ => Ok(()),
    }
}

fn check_offsets_of<T: Copy + Into<i64>>(
    array: &RawArray,
    data_type: &DataType,
    buffers: &[*const c_void],
) -> Result<()> {
    if array.length + array.offset == 0 {
        return Ok(());
    }
    let offsets: *const T = buffers[1].cast();
    if offsets.is_null() || !offsets.is_aligned() {
        return Err(broken(format!("the offsets of {data_type} are null or not aligned to their width")));
    }
    let at = |index: i64| -> i64 {
        // SAFETY: the producer promises length + offset + 1 offsets, and the index is at most length + offset.
        unsafe { offsets.add(index as usize).read() }.into()
    };
    let (first, last) = (at(array.offset), at(array.offset + array.length));
    if first < 0 || last < first {
        return Err(broken(format!("the offsets of {data_type} run from {first} to {last}")));
    }
    if last > 0 && buffers.get(2).is_some_and(|values| values.is_null()) {
        return Err(broken(format!("the values of {data_type} are null, but {last} bytes long")));
    }
    Ok(())
}

fn check_children(array: &RawArray, data_type: &DataType, depth: usize) -> Result<()> {
    match data_type {
        DataType::Struct(fields) => {
            let children = children(array, fields.len())?;
            fields.iter().zip(children).try_for_each(|(field, child)| check_field(*child, field, depth))
        }
        DataType::Union(fields, _) => {
            let children = children(array, fields.len())?;
            fields.iter().zip(children).try_for_each(|((_, field), child)| check_field(*child, field, depth))
        }
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => check_field(children(array, 1)?[0], field, depth),
        DataType::RunEndEncoded(run_ends, values) => {
            let children = children(array, 2)?;
            check_field(children[0], run_ends, depth)?;
            check_field(children[1], values, depth)
        }
        DataType::Dictionary(_, values) => {
            // SAFETY: the producer promises null or a valid array that lives as long as its parent.
            match unsafe { array.dictionary.as_ref() } {
                Some(dictionary) => check(dictionary, values, depth + 1),
                None => Err(broken("a dictionary-encoded column without a dictionary")),
            }
        }
        _ => children(array, 0).map(drop),
    }
}

fn check_field(child: *mut RawArray, field: &Field, depth: usize) -> Result<()> {
    // SAFETY: the producer promises a valid array that lives as long as its parent; null is found out here.
    let checked = match unsafe { child.as_ref() } {
        Some(child) => check(child, field.data_type(), depth + 1),
        None => Err(broken("its array is null")),
    };
    checked.map_err(|error| error.context(format_args!("column \"{}\"", field.name())))
}

fn children(array: &RawArray, expected: usize) -> Result<&[*mut RawArray]> {
    if array.n_children != expected as i64 {
        return Err(broken(format!("{} children where its type has {expected}", array.n_children)));
    }
    if expected == 0 {
        return Ok(&[]);
    }
    if array.children.is_null() || !array.children.is_aligned() {
        return Err(broken("no list of children, or one that is not aligned"));
    }
    // SAFETY: a list of that many pointers is what the producer promises, and it is neither null nor misaligned.
    Ok(unsafe { slice::from_raw_parts(array.children, expected) })
}

/// All that arrow-rs relies on when it imports a schema, but for the texts' encoding, on which it panics.
pub(super) fn check_schema(schema: &FFI_ArrowSchema) -> Result<()> {
    // SAFETY: both mirror the same C struct, member by member (`tests/layout.rs`).
    check_raw_schema(unsafe { &*ptr::from_ref(schema).cast() }, 0)
}

fn check_raw_schema(schema: &RawSchema, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(broken(format!("more than {MAX_DEPTH} levels of children")));
    }
    if schema.release.is_none() {
        return Err(broken("a part of it was released already, or never made"));
    }
    if schema.format.is_null() {
        return Err(broken("a format is null"));
    }
    let n_children = schema.n_children;
    if !(0..MAX_CHILDREN).contains(&n_children) {
        return Err(broken(format!("an impossible number of children, {n_children}")));
    }
    if n_children > 0 && (schema.children.is_null() || !schema.children.is_aligned()) {
        return Err(broken("no list of children, or one that is not aligned"));
    }
    for index in 0..n_children as usize {
        // SAFETY: a list of that many pointers to valid schemas is what the producer promises; null is found out here.
        match unsafe { schema.children.add(index).read().as_ref() } {
            Some(child) => check_raw_schema(child, depth + 1)?,
            None => return Err(broken(format!("child {index} is null"))),
        }
    }
    // SAFETY: null, or a valid schema that lives as long as its parent, as the producer promises.
    match unsafe { schema.dictionary.as_ref() } {
        Some(dictionary) => check_raw_schema(dictionary, depth + 1),
        None => Ok(()),
    }
}

fn broken(what: impl Into<String>) -> Error {
    Error::internal(what)
}
