//! The parameters of the reader.

use std::sync::Arc;

use serde_json::Value;
use transship_plugin_api::params::describe;
use transship_plugin_api::{ColumnFormats, DatePattern, Error, Parameter, Params, Result};

use crate::bytes::ByteForm;
use crate::compression::Compression;
use crate::dialect::{Dialect, Escape, Terminator};
use crate::encoding::Encoding;
use crate::types::{ColumnType, Dates, TYPE_NAMES};

use super::{compression, csv_settings, encoding, idle, one_byte, unescape};

/// What the reader knows, for `transship plugins`.
pub(crate) const PARAMETERS: &[Parameter] = &[
    Parameter::required(
        "path",
        "string or list of strings",
        "files, folders (all files below them) and wildcards (* ? [a-z])",
    ),
    Parameter::optional("column", r#"list of objects or ["*"]"#, "all fields as strings", "which fields to read"),
    Parameter::optional("column[].index", "integer", "", "the field, from 0"),
    Parameter::optional("column[].value", "string, number or boolean", "", "a constant instead of a field"),
    Parameter::required(
        "column[].type",
        r#""string", "long", "double", "boolean", "date" or "bytes""#,
        "the type of its values",
    ),
    Parameter::optional("column[].format", "string", "", "how a date is written: yyyy-MM-dd HH:mm:ss"),
    Parameter::optional("column[].name", "string", "the header's, or col0, col1, …", "the column's name"),
    Parameter::optional("fieldDelimiter", "string", ",", "what stands between two fields"),
    Parameter::optional("encoding", "string", "UTF-8", "how the text is encoded"),
    Parameter::optional(
        "compress",
        r#""gzip", "gz", "bzip2", "bz2", "zip", "auto" or "none""#,
        "none",
        "how files are packed; auto: as the file's name ends",
    ),
    Parameter::optional("skipHeader", "boolean", "false", "leaves out the first record of each file"),
    Parameter::optional("nullFormat", "string", "none", "the text that stands for NULL"),
    Parameter::optional(
        "nullWhenQuoted",
        "boolean",
        "true",
        "whether that text is NULL between quotes too, as in DataX",
    ),
    Parameter::optional(
        "byteEncoding",
        r#""base64", "hex" or "postgres""#,
        "as UTF-8 text",
        "how columns of type bytes are written; postgres: hexadecimal with \\x before it",
    ),
    Parameter::optional("bufferSize", "integer", "", "accepted for DataX's sake, without effect"),
    Parameter::optional(
        "splitBytes",
        "integer",
        "by size and channels",
        "the size of the ranges that a large file is cut into; 0: never cut",
    ),
    Parameter::optional(
        "csvReaderConfig",
        "object or string",
        "",
        "the details of the dialect; a string: the JSON text of the object",
    ),
    Parameter::optional("csvReaderConfig.textQualifier", "string", "\"", "what encloses a field with delimiters in it"),
    Parameter::optional("csvReaderConfig.useTextQualifier", "boolean", "true", "whether fields may be enclosed at all"),
    Parameter::optional(
        "csvReaderConfig.trimWhitespace",
        "boolean",
        "true",
        "drops blanks around fields that are not enclosed",
    ),
    Parameter::optional(
        "csvReaderConfig.escapeMode",
        "1 or 2",
        "1",
        "1: a qualifier inside is doubled, 2: backslash escapes",
    ),
    Parameter::optional("csvReaderConfig.delimiter", "string", "fieldDelimiter", "goes before fieldDelimiter"),
    Parameter::optional(
        "csvReaderConfig.recordDelimiter",
        "string",
        "\\n, \\r or \\r\\n",
        "the one character that ends a record",
    ),
    Parameter::optional("csvReaderConfig.comment", "string", "#", "what a comment begins with"),
    Parameter::optional("csvReaderConfig.useComments", "boolean", "false", "whether there are comments"),
    Parameter::optional(
        "csvReaderConfig.skipEmptyRecords",
        "boolean",
        "true; false where records have one field",
        "whether an empty line is no record",
    ),
    Parameter::optional(
        "csvReaderConfig.safetySwitch",
        "boolean",
        "false",
        "refuses fields of more than 100000 characters",
    ),
    Parameter::optional("csvReaderConfig.caseSensitive", "boolean", "", "accepted, without effect"),
    Parameter::optional("csvReaderConfig.captureRawRecord", "boolean", "", "accepted, without effect"),
];

/// How many characters a field may have with the safety switch on.
const SAFE_LENGTH: usize = 100_000;

/// What the reader was told.
#[derive(Debug, Clone)]
pub(crate) struct ReaderConfig {
    pub paths: Vec<String>,
    /// `None`: every field, as text.
    pub columns: Option<Vec<Column>>,
    pub dialect: Dialect,
    /// Whether the job says what empty lines are; else the files may.
    pub says_skip_empty: bool,
    pub encoding: Encoding,
    pub compression: Compression,
    pub skip_header: bool,
    pub null: Option<NullText>,
    /// How large the ranges of a large file are to be; 0: it is never cut.
    pub split_bytes: Option<u64>,
}

/// A column to read.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub name: Option<String>,
    pub from: From,
    pub kind: ColumnType,
}

/// Where a column comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum From {
    /// The field with this number, from 0.
    Field(usize),
    /// The job file; `None` is NULL.
    Constant(Option<String>),
}

/// The text that stands for NULL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NullText {
    pub text: String,
    /// Whether it does so between quotes too.
    pub when_quoted: bool,
}

impl ReaderConfig {
    /// Understands the `parameter` object.
    pub(crate) fn new(parameter: &Value) -> Result<ReaderConfig> {
        let params = Params::new(parameter, "parameter")?;
        let paths: Vec<String> = params.texts("path")?.into_iter().filter(|path| !path.trim().is_empty()).collect();
        if paths.is_empty() {
            return Err(params.error("path", "is required: a file, a folder, a wildcard, or a list of them"));
        }
        params.whole("bufferSize")?;
        let null = match params.text("nullFormat")? {
            Some(text) => Some(NullText { text, when_quoted: params.truth("nullWhenQuoted")?.unwrap_or(true) }),
            None => None,
        };
        idle::warn(&params, "csvReaderConfig", idle::of_reader)?;
        let (dialect, says_skip_empty) = dialect(&params)?;
        Ok(ReaderConfig {
            paths,
            columns: columns(&params, null.as_ref())?,
            dialect,
            says_skip_empty,
            encoding: encoding(&params)?,
            compression: compression(
                &params,
                &[
                    ("gzip", Compression::Gzip),
                    ("gz", Compression::Gzip),
                    ("bzip2", Compression::Bzip2),
                    ("bz2", Compression::Bzip2),
                    ("zip", Compression::Zip),
                    ("auto", Compression::BySuffix),
                    ("none", Compression::None),
                ],
            )?,
            skip_header: params.truth("skipHeader")?.unwrap_or(false),
            null,
            split_bytes: params.whole("splitBytes")?,
        })
    }
}

/// The columns, if they are listed.
fn columns(params: &Params<'_>, null: Option<&NullText>) -> Result<Option<Vec<Column>>> {
    match params.value("column") {
        None => return Ok(None),
        Some(Value::String(text)) if text.trim() == "*" => return Ok(None),
        Some(Value::Array(items)) if items.is_empty() => return Ok(None),
        Some(Value::Array(items)) if items.iter().any(Value::is_string) => {
            return match &items[..] {
                [Value::String(text)] if text.trim() == "*" => Ok(None),
                _ => Err(params.error("column", "must be [\"*\"] or a list of objects with index or value, and type")),
            };
        }
        Some(_) => {}
    }
    let formats = Arc::new(ColumnFormats::read(params)?);
    let bytes = ByteForm::read(params, formats.encoding())?;
    let columns = params.objects("column")?;
    columns.iter().map(|column| one_column(column, null, &formats, bytes)).collect::<Result<_>>().map(Some)
}

fn one_column(
    column: &Params<'_>,
    null: Option<&NullText>,
    formats: &Arc<ColumnFormats>,
    bytes: ByteForm,
) -> Result<Column> {
    let name = column.required_text("type")?;
    let dates = match column.text("format")?.filter(|format| !format.is_empty()) {
        Some(format) if ColumnType::is_date(&name) => {
            Dates::By(DatePattern::parse(&format).map_err(|error| error.context(column.path("format")))?)
        }
        _ => Dates::Usual(formats.clone()),
    };
    let kind = ColumnType::from_name(&name, dates, bytes).ok_or_else(|| {
        column.error("type", format_args!("is \"{name}\", but must be one of {}", TYPE_NAMES.join(", ")))
    })?;
    let from = match (column.whole("index")?, column.text("value")?) {
        (Some(index), None) => From::Field(
            usize::try_from(index)
                .map_err(|_| column.error("index", format_args!("is {index}, which is too large")))?,
        ),
        (None, Some(text)) => From::Constant(Some(text).filter(|text| null.is_none_or(|null| null.text != *text))),
        (Some(_), Some(_)) => return Err(column.error("index", "and value exclude each other; leave one out")),
        (None, None) => return Err(column.error("index", "or value is required")),
    };
    let name = column.text("name")?.filter(|name| !name.trim().is_empty());
    let column_read = Column { name, from, kind };
    // A constant that is no value would make every record dirty: better to say so at once.
    column_read.check_constant().map_err(|cause| {
        let value = column.value("value").map(describe).unwrap_or_default();
        Error::config(format!("{} is {value}, which {cause}", column.path("value")))
    })?;
    Ok(column_read)
}

impl Column {
    fn check_constant(&self) -> Result<(), crate::types::Cause> {
        let From::Constant(Some(text)) = &self.from else { return Ok(()) };
        self.kind.check(text.as_bytes())
    }
}

/// The dialect, from `fieldDelimiter` and `csvReaderConfig`, and whether they say what empty lines are.
fn dialect(params: &Params<'_>) -> Result<(Dialect, bool)> {
    let mut dialect = Dialect::default();
    let mut says_skip_empty = false;
    if let Some(delimiter) = params.text("fieldDelimiter")? {
        dialect.delimiter = unescape(&delimiter).into_bytes();
    }
    if dialect.delimiter.is_empty() {
        return Err(params.error("fieldDelimiter", "must not be empty"));
    }
    let mut qualifier = b'"';
    if let Some(settings) = csv_settings(params, "csvReaderConfig")? {
        let settings = Params::new(&settings, params.path("csvReaderConfig"))?;
        qualifier = one_byte(&settings, "textQualifier")?.unwrap_or(qualifier);
        if settings.truth("useTextQualifier")? == Some(false) {
            dialect.qualifier = None;
        }
        if let Some(trim) = settings.truth("trimWhitespace")? {
            dialect.trim = trim;
        }
        dialect.escape = match settings.whole("escapeMode")? {
            None | Some(1) => Escape::Doubled,
            Some(2) => Escape::Backslash,
            Some(other) => {
                return Err(
                    settings.error("escapeMode", format_args!("is {other}, but must be 1 (doubled) or 2 (backslash)"))
                );
            }
        };
        if let Some(delimiter) = settings.text("delimiter")?.filter(|delimiter| !delimiter.is_empty()) {
            dialect.delimiter = unescape(&delimiter).into_bytes();
        }
        if let Some(byte) = one_byte(&settings, "recordDelimiter")? {
            dialect.terminator = Terminator::Byte(byte);
        }
        let comment = one_byte(&settings, "comment")?.unwrap_or(b'#');
        dialect.comment = settings.truth("useComments")?.unwrap_or(false).then_some(comment);
        if let Some(skip) = settings.truth("skipEmptyRecords")? {
            dialect.skip_empty = skip;
            says_skip_empty = true;
        }
        dialect.longest_field = settings.truth("safetySwitch")?.unwrap_or(false).then_some(SAFE_LENGTH);
    }
    dialect.qualifier = dialect.qualifier.map(|_| qualifier);
    if let Some(byte) =
        dialect.delimiter.iter().find(|byte| dialect.ends_record(**byte) || dialect.qualifier == Some(**byte))
    {
        let what = if dialect.ends_record(*byte) { "ends records" } else { "encloses fields" };
        return Err(params.error("fieldDelimiter", format_args!("contains {:?}, which {what}", char::from(*byte))));
    }
    Ok((dialect, says_skip_empty))
}
