//! Arrays and schemas that break the Arrow C data interface are errors that name the column, never crashes.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Int32Array, Int64Array, LargeStringArray, ListArray,
    RecordBatch, StringArray, StringViewArray, StructArray, types::Int32Type,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::Kind;
use crate::ffi::arrow::{ForeignArray, Trust, export, import_schema};
use crate::ffi::structure::{RawArray, RawSchema};

fn raw(array: &mut FFI_ArrowArray) -> &mut RawArray {
    // SAFETY: both mirror the same C struct.
    unsafe { &mut *ptr::from_mut(array).cast() }
}

impl RawArray {
    fn column(&mut self, index: usize) -> &mut RawArray {
        // SAFETY: the tests ask for columns that are there.
        unsafe { &mut **self.children.add(index) }
    }

    fn buffer(&mut self, index: usize) -> &mut *const c_void {
        // SAFETY: the tests ask for buffers that are there.
        unsafe { &mut *self.buffers.add(index) }
    }
}

/// What comes of columns after something was done to the array that they were exported as.
#[track_caller]
fn check(records: RecordBatch, spoil: impl FnOnce(&mut RawArray), message: &str) {
    let schema = records.schema();
    let mut array = export(records).unwrap();
    spoil(raw(&mut array));
    let error = ForeignArray::new(schema, array, Trust::Untrusted).and_then(ForeignArray::import).unwrap_err();
    assert_eq!(error.kind(), Kind::Internal);
    assert!(error.message().starts_with("a malformed batch: "), "{error}");
    assert!(error.message().contains(message), "{error}");
}

fn one(name: &str, column: ArrayRef) -> RecordBatch {
    let schema = Schema::new(vec![Field::new(name, column.data_type().clone(), true)]);
    RecordBatch::try_new(Arc::new(schema), vec![column]).unwrap()
}

fn numbers() -> RecordBatch {
    one("n", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])))
}

fn texts() -> RecordBatch {
    one("t", Arc::new(StringArray::from(vec!["one", "two", "three"])))
}

#[test]
fn numbers_that_cannot_be_are_refused() {
    check(numbers(), |array| array.length = -1, "an impossible length (-1)");
    check(numbers(), |array| array.offset = -1, "or offset (-1)");
    check(numbers(), |array| (array.length, array.offset) = (i64::MAX, i64::MAX), "an impossible length");
    check(numbers(), |array| array.column(0).length = i64::MIN, "column \"n\": an impossible length");
    check(numbers(), |array| array.column(0).length = i64::MAX, "column \"n\": an impossible length");
    check(numbers(), |array| array.column(0).null_count = 4, "column \"n\": an impossible null_count, 4 of 3");
    check(numbers(), |array| array.column(0).null_count = -2, "column \"n\": an impossible null_count, -2 of 3");
}

#[test]
fn too_short_a_column_is_refused() {
    check(numbers(), |array| array.column(0).length = 2, "length");
    check(numbers(), |array| array.length = 4, "length");
    check(numbers(), |array| array.offset = 1, "length");
}

#[test]
fn another_number_of_columns_is_refused() {
    check(numbers(), |array| array.n_children = 0, "it has 0 columns where its schema has 1");
    check(numbers(), |array| array.n_children = -1, "it has -1 columns");
    check(texts(), |array| array.column(0).n_children = 1, "column \"t\": 1 children where its type has 0");
}

#[test]
fn null_pointers_are_refused() {
    check(numbers(), |array| array.children = ptr::null_mut(), "no list of children");
    let mut nothing = [ptr::null_mut()];
    check(numbers(), |array| array.children = nothing.as_mut_ptr(), "column \"n\": its array is null");
    check(numbers(), |array| array.column(0).buffers = ptr::null_mut(), "column \"n\": no list of buffers");
    check(
        numbers(),
        |array| *array.column(0).buffer(0) = ptr::null(),
        "null_count is 1, but the validity buffer is null",
    );
    check(numbers(), |array| *array.column(0).buffer(1) = ptr::null(), "position 1 is null");
    check(texts(), |array| *array.column(0).buffer(1) = ptr::null(), "the offsets of Utf8 are null");
    check(texts(), |array| *array.column(0).buffer(2) = ptr::null(), "the values of Utf8 are null, but 11 bytes long");
}

#[test]
fn another_number_of_buffers_is_refused() {
    check(numbers(), |array| array.n_buffers = 0, "0 buffers where Struct(\"n\": Int64) has 1");
    check(numbers(), |array| array.column(0).n_buffers = 3, "column \"n\": 3 buffers where Int64 has 2");
    check(texts(), |array| array.column(0).n_buffers = 2, "column \"t\": 2 buffers where Utf8 has 3");
    check(texts(), |array| array.column(0).n_buffers = -1, "-1 buffers");
    let views = one("v", Arc::new(StringViewArray::from(vec!["a text that does not fit into a view"])));
    check(views.clone(), |array| array.column(0).n_buffers = 1, "column \"v\": 1 buffers where Utf8View has 3");
    let negative = [-1i64];
    check(views, |array| *array.column(0).buffer(3) = negative.as_ptr().cast(), "view data buffer 0 has -1 bytes");
}

#[test]
fn offsets_that_run_backwards_or_below_zero_are_refused() {
    for offsets in [[0, 3, 6, -1], [5, 5, 5, 4], [-1, 3, 6, 11]] {
        let spoil = |array: &mut RawArray| *array.column(0).buffer(1) = offsets.as_ptr().cast();
        check(texts(), spoil, "column \"t\": the offsets of Utf8 run from");
    }
    // In the middle only a look at every value finds it.
    let offsets = [0, 8, 3, 11];
    check(texts(), |array| *array.column(0).buffer(1) = offsets.as_ptr().cast(), "");
    let long = one("l", Arc::new(LargeStringArray::from(vec!["one"])));
    let offsets = [0, i64::MIN];
    check(long, |array| *array.column(0).buffer(1) = offsets.as_ptr().cast(), "the offsets of LargeUtf8 run from 0 to");
}

#[test]
fn offsets_between_the_bytes_of_a_number_are_refused() {
    let bytes = [0u64; 4];
    let odd = bytes.as_ptr().cast::<u8>().wrapping_add(1);
    check(texts(), |array| *array.column(0).buffer(1) = odd.cast(), "not aligned");
}

#[test]
fn text_that_is_no_utf8_is_refused() {
    check(texts(), |array| *array.column(0).buffer(2) = b"onetwo\xff\xferee".as_ptr().cast(), "UTF8");
}

#[test]
fn a_wrong_null_count_is_refused() {
    check(numbers(), |array| array.column(0).null_count = 2, "null_count");
}

#[test]
fn a_record_that_is_null_is_refused() {
    let bits = [0u8; 8];
    let spoil = |array: &mut RawArray| {
        array.null_count = -1;
        *array.buffer(0) = bits.as_ptr().cast();
    };
    check(numbers(), spoil, "a record cannot be null");
}

#[test]
fn a_null_in_a_column_that_has_none_is_refused() {
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
    let array = export(numbers()).unwrap();
    let error = ForeignArray::new(schema, array, Trust::Trusted).and_then(ForeignArray::import).unwrap_err();
    assert_eq!(error.kind(), Kind::Internal, "{error}");
}

#[test]
fn nested_columns_are_looked_into() {
    let items = Arc::new(Field::new("item", DataType::Int32, true));
    let values: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
    let lists = ListArray::new(items.clone(), OffsetBuffer::from_lengths([1, 3]), values.clone(), None);
    check(one("list", Arc::new(lists.clone())), |array| array.column(0).column(0).length = 3, "");
    check(
        one("list", Arc::new(lists)),
        |array| array.column(0).children = ptr::null_mut(),
        "column \"list\": no list of children",
    );
    let fixed = FixedSizeListArray::new(items, 2, values, None);
    check(one("fixed", Arc::new(fixed)), |array| array.column(0).column(0).length = 3, "");
    let inner = StructArray::from(texts());
    check(
        one("outer", Arc::new(inner)),
        |array| array.column(0).column(0).length = -5,
        "column \"outer\": column \"t\": an impossible length (-5)",
    );
    let words: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
    check(
        one("word", Arc::new(words.clone())),
        |array| array.column(0).dictionary = ptr::null_mut(),
        "without a dictionary",
    );
    let keys = [0i32, 7, 1];
    check(one("word", Arc::new(words)), |array| *array.column(0).buffer(1) = keys.as_ptr().cast(), "");
}

#[test]
fn an_array_that_contains_itself_is_refused() {
    let mut data_type = DataType::Int32;
    for _ in 0..100 {
        data_type = DataType::Struct(vec![Field::new("deeper", data_type, true)].into());
    }
    let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("deep", data_type, true)]));
    let mut array = export(one("deep", Arc::new(StructArray::from(numbers())))).unwrap();
    let mut itself = [ptr::null_mut()];
    let column: *mut RawArray = raw(&mut array).column(0);
    itself[0] = column;
    // SAFETY: the column is alive, and its own release does not look at the list of children.
    unsafe { (*column).children = itself.as_mut_ptr() };
    let error = ForeignArray::new(schema, array, Trust::Trusted).and_then(ForeignArray::import).unwrap_err();
    assert!(error.message().contains("more than 64 levels of children"), "{error}");
}

#[test]
fn an_array_that_was_released_is_refused() {
    let array = FFI_ArrowArray::empty();
    let error = ForeignArray::new(numbers().schema(), array, Trust::Trusted).unwrap_err();
    assert_eq!(error.message(), "a malformed batch: its array was released already, or never made");
}

#[test]
fn what_the_interface_allows_is_taken() {
    let take = |records: RecordBatch, change: &dyn Fn(&mut RawArray)| {
        let schema = records.schema();
        let mut array = export(records).unwrap();
        change(raw(&mut array));
        ForeignArray::new(schema, array, Trust::Untrusted).and_then(ForeignArray::import).unwrap()
    };
    assert_eq!(take(numbers(), &|array| array.column(0).null_count = -1), numbers(), "nulls that nobody counted");
    assert_eq!(take(numbers(), &|array| array.length = 2), numbers().slice(0, 2), "a column longer than the batch");
    let shifted = take(numbers(), &|array| (array.length, array.offset) = (2, 1));
    assert_eq!(shifted, numbers().slice(1, 2), "an offset of the whole");
    let twice = take(numbers(), &|array| {
        (array.length, array.offset) = (1, 1);
        (array.column(0).length, array.column(0).offset, array.column(0).null_count) = (2, 1, -1);
    });
    assert_eq!(twice, numbers().slice(2, 1), "offsets that add up");
    let none = one("t", Arc::new(StringArray::from(vec![None::<&str>; 3])));
    assert_eq!(take(none.clone(), &|array| *array.column(0).buffer(2) = ptr::null()), none, "no values, no buffer");
    let empty = take(texts().slice(0, 0), &|array| *array.column(0).buffer(1) = ptr::null());
    assert_eq!(empty.num_rows(), 0);
    let bits = BooleanArray::new(
        [true, false, true, true, false, true, true, false, true].into_iter().collect(),
        Some(NullBuffer::from(vec![true, true, false, true, true, true, false, true, true])),
    );
    let bits = one("b", Arc::new(bits)).slice(3, 6);
    assert_eq!(take(bits.clone(), &|_| ()), bits, "bits that begin in mid-byte");
}

#[test]
fn sixteen_byte_numbers_need_only_be_aligned_to_eight() {
    use arrow_array::Decimal128Array;
    let amounts = one("d", Arc::new(Decimal128Array::from(vec![1i128, -2]).with_precision_and_scale(20, 2).unwrap()));
    let words: [u64; 6] = [0, 0, 0, 0, 0, 0];
    // One of the two places is not aligned to sixteen.
    for skip in [0, 1] {
        let mut words = words;
        words[skip] = 1;
        (words[skip + 2], words[skip + 3]) = ((-2i64) as u64, u64::MAX);
        let mut array = export(amounts.clone()).unwrap();
        *raw(&mut array).column(0).buffer(1) = words[skip..].as_ptr().cast();
        let imported =
            ForeignArray::new(amounts.schema(), array, Trust::Trusted).and_then(ForeignArray::import).unwrap();
        assert_eq!(imported, amounts);
    }
}

#[test]
fn malformed_schemas_are_refused() {
    let refused = |spoil: &dyn Fn(&mut RawSchema)| {
        let mut schema = FFI_ArrowSchema::try_from(&*texts().schema()).unwrap();
        let keep = {
            // SAFETY: both mirror the same C struct.
            let raw: &mut RawSchema = unsafe { &mut *ptr::from_mut(&mut schema).cast() };
            let keep = (raw.format, raw.name);
            spoil(raw);
            keep
        };
        // What its release frees has to be there when it is released, so it is put back in a copy that nobody imports.
        let spoilt = std::mem::ManuallyDrop::new(schema);
        // SAFETY: the copy is moved into the import, which must not release it: its release is taken out first, and the
        // original is released below.
        let error = unsafe {
            let mut copy: FFI_ArrowSchema = ptr::read(&*spoilt);
            let nothing: unsafe extern "C" fn(*mut FFI_ArrowSchema) = forget_schema;
            copy.set_release(Some(nothing));
            import_schema(copy).unwrap_err()
        };
        let mut schema = std::mem::ManuallyDrop::into_inner(spoilt);
        // SAFETY: as above.
        let raw: &mut RawSchema = unsafe { &mut *ptr::from_mut(&mut schema).cast() };
        (raw.format, raw.name) = keep;
        assert!(error.message().starts_with("a malformed schema: "), "{error}");
        error.message().to_string()
    };
    assert!(refused(&|schema| schema.format = ptr::null()).contains("a format is null"));
    assert!(refused(&|schema| schema.format = c"u".as_ptr()).contains("struct"));
    assert!(refused(&|schema| schema.format = c"unheard of".as_ptr()).len() > 20);
    assert!(refused(&|schema| schema.format = c"\xff".as_ptr()).contains("panic"));
    assert!(refused(&|schema| schema.n_children = -1).contains("an impossible number of children, -1"));
    assert!(refused(&|schema| schema.n_children = i64::MAX).contains("an impossible number of children"));
    assert!(refused(&|schema| schema.children = ptr::null_mut()).contains("no list of children"));
    let mut nothing = [ptr::null_mut()];
    let nothing = nothing.as_mut_ptr();
    assert!(refused(&move |schema| schema.children = nothing).contains("child 0 is null"));
    let empty = import_schema(FFI_ArrowSchema::empty()).unwrap_err();
    assert!(empty.message().contains("released already, or never made"));
}

unsafe extern "C" fn forget_schema(_: *mut FFI_ArrowSchema) {}
