//! The parameters of the writer.

use std::path::PathBuf;

use serde_json::Value;
use transship_plugin_api::params::describe;
use transship_plugin_api::{ColumnFormats, DatePattern, Parameter, Params, Result};

use crate::bytes::ByteForm;
use crate::compression::Compression;
use crate::dialect::Escape;
use crate::encoding::Encoding;
use crate::writer::ROOM_FOR_NAMES;

use super::{compression, csv_settings, encoding, idle, one_byte, unescape};

/// What the writer knows, for `transship plugins`.
pub(crate) const PARAMETERS: &[Parameter] = &[
    Parameter::required("path", "string", "the folder to write to; it is made if it is missing"),
    Parameter::required("fileName", "string", "what the names of the files begin with"),
    Parameter::required(
        "writeMode",
        r#""truncate", "append" or "nonConflict""#,
        "truncate replaces the files of earlier runs, append adds files, nonConflict refuses if there is any file with \
         that beginning",
    ),
    Parameter::optional("suffix", "string", "", "what the names end with: .csv"),
    Parameter::optional("fileFormat", r#""text", "csv" or "sql""#, "text", "how records are written"),
    Parameter::optional("fieldDelimiter", "string", ",", "what stands between two fields"),
    Parameter::optional("lineDelimiter", "string", "\\n", "what ends a record"),
    Parameter::optional("encoding", "string", "UTF-8", "how the text is encoded"),
    Parameter::optional("compress", r#""gzip", "gz", "bzip2", "bz2" or "none""#, "none", "how files are packed"),
    Parameter::optional("nullFormat", "string", "null", "the text written for NULL"),
    Parameter::optional("dateFormat", "string", "yyyy-MM-dd, yyyy-MM-dd HH:mm:ss", "how dates and times are written"),
    Parameter::optional("format", "string", "", "an older name of dateFormat"),
    Parameter::optional(
        "header",
        "list of strings or boolean",
        "none",
        "the first line of each file; true: the names of the columns",
    ),
    Parameter::optional(
        "byteEncoding",
        r#""base64", "hex" or "postgres""#,
        "as UTF-8 text",
        "how bytes are written that may be no text; postgres: hexadecimal with \\x before it",
    ),
    Parameter::optional(
        "csvWriterConfig",
        "object or string",
        "",
        "the details of csv; a string: the JSON text of the object",
    ),
    Parameter::optional("csvWriterConfig.textQualifier", "string", "\"", "what encloses a field that needs it"),
    Parameter::optional("csvWriterConfig.useTextQualifier", "boolean", "true", "whether fields may be enclosed at all"),
    Parameter::optional("csvWriterConfig.forceQualifier", "boolean", "false", "encloses every field"),
    Parameter::optional(
        "csvWriterConfig.escapeMode",
        "1 or 2",
        "1",
        "1: a qualifier inside is doubled, 2: backslash escapes",
    ),
    Parameter::optional("csvWriterConfig.delimiter", "string", "fieldDelimiter", "goes before fieldDelimiter"),
    Parameter::optional("csvWriterConfig.recordDelimiter", "string", "lineDelimiter", "goes before lineDelimiter"),
    Parameter::optional("csvWriterConfig.comment", "string", "#", "a record may not begin with it outside quotes"),
    Parameter::optional("table", "string", "", "sql: the table to insert into; required there"),
    Parameter::optional("quoteChar", "string", "", "sql: what encloses the names of table and columns"),
    Parameter::optional("commitSize", "integer", "2000", "sql: rows between two lines commit;"),
];

/// What the writer was told.
#[derive(Debug, Clone)]
pub(crate) struct WriterConfig {
    pub directory: PathBuf,
    pub file_name: String,
    pub suffix: String,
    pub mode: WriteMode,
    pub format: Format,
    pub header: Header,
    pub encoding: Encoding,
    pub compression: Compression,
    pub text: TextRules,
}

/// What happens to files that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteMode {
    /// Those of earlier runs are replaced when the job commits.
    Truncate,
    /// They stay.
    Append,
    /// There must be none whose name begins as those to be written.
    NonConflict,
}

/// The first line of each file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Header {
    None,
    /// The names of the columns as they come.
    Names,
    Given(Vec<String>),
}

/// How a record is written.
#[derive(Debug, Clone)]
pub(crate) enum Format {
    Delimited(Delimited),
    Sql(Sql),
}

/// Fields with something between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delimited {
    pub delimiter: Vec<u8>,
    pub terminator: Vec<u8>,
    pub null: Vec<u8>,
    pub quoting: Quoting,
}

/// What is done for a value that contains what ends fields and records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// Nothing can be done: its record is dirty.
    None,
    /// It is enclosed.
    Qualifier { qualifier: u8, escape: Escape, always: bool, comment: u8 },
    /// What matters in it is written with a backslash before it.
    Backslash { comment: u8 },
}

/// Statements that insert one row each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sql {
    pub table: String,
    pub quote: String,
    pub commit_size: u64,
    pub terminator: Vec<u8>,
}

/// How values become text, whatever the format.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextRules {
    pub formats: ColumnFormats,
    pub bytes: ByteForm,
}

#[derive(Clone, Copy)]
enum FormatName {
    Text,
    Csv,
    Sql,
}

impl WriterConfig {
    /// Understands the `parameter` object.
    pub(crate) fn new(parameter: &Value) -> Result<WriterConfig> {
        let params = Params::new(parameter, "parameter")?;
        let directory = PathBuf::from(params.required_text("path")?);
        let file_name = params.required_text("fileName")?;
        let suffix = params.text("suffix")?.unwrap_or_default();
        for (key, value) in [("fileName", &file_name), ("suffix", &suffix)] {
            if value.contains('/') || value.contains('\0') {
                return Err(params.error(
                    key,
                    format_args!("is \"{value}\", but must be part of a file's name; folders belong into path"),
                ));
            }
        }
        let length = file_name.len() + suffix.len();
        if length > ROOM_FOR_NAMES {
            return Err(params.error(
                "fileName",
                format_args!(
                    "and suffix have {length} bytes; with the id between them no more than {ROOM_FOR_NAMES} fit into the \
                     name of a file"
                ),
            ));
        }
        let modes =
            [("truncate", WriteMode::Truncate), ("append", WriteMode::Append), ("nonConflict", WriteMode::NonConflict)];
        let mode = params.choice("writeMode", &modes)?;
        let mode = mode.ok_or_else(|| params.error("writeMode", "is required: truncate, append or nonConflict"))?;
        let formats = [("text", FormatName::Text), ("csv", FormatName::Csv), ("sql", FormatName::Sql)];
        let format_name = params.choice("fileFormat", &formats)?.unwrap_or(FormatName::Text);
        idle::warn(&params, "csvWriterConfig", idle::of_writer)?;
        let header = header(&params)?;
        let format = format(&params, format_name)?;
        let encoding = encoding(&params)?;
        check_encoding(&params, &format, encoding)?;
        Ok(WriterConfig {
            directory,
            file_name,
            suffix,
            mode,
            format,
            header,
            encoding,
            compression: compression(
                &params,
                &[
                    ("gzip", Compression::Gzip),
                    ("gz", Compression::Gzip),
                    ("bzip2", Compression::Bzip2),
                    ("bz2", Compression::Bzip2),
                    ("none", Compression::None),
                ],
            )?,
            text: text_rules(&params)?,
        })
    }
}

/// What stands between values must be in the encoding: otherwise every record would be dirty.
fn check_encoding(params: &Params<'_>, format: &Format, encoding: Encoding) -> Result<()> {
    let texts = match format {
        Format::Delimited(format) => vec![
            ("fieldDelimiter", &format.delimiter),
            ("lineDelimiter", &format.terminator),
            ("nullFormat", &format.null),
        ],
        Format::Sql(format) => vec![("lineDelimiter", &format.terminator)],
    };
    for (key, text) in texts {
        encoding.encode(&String::from_utf8_lossy(text), &mut Vec::new()).map_err(|character| {
            params.error(key, format_args!("contains {character:?}, which {} does not have", encoding.name()))
        })?;
    }
    Ok(())
}

fn header(params: &Params<'_>) -> Result<Header> {
    match params.value("header") {
        Some(Value::Bool(true)) => return Ok(Header::Names),
        Some(Value::Bool(false)) => return Ok(Header::None),
        Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("true") => return Ok(Header::Names),
        Some(Value::String(text)) if text.trim().is_empty() || text.trim().eq_ignore_ascii_case("false") => {
            return Ok(Header::None);
        }
        // A list of one may stand without its brackets.
        Some(Value::Array(_) | Value::String(_)) | None => {}
        Some(other) => {
            return Err(
                params.error("header", format_args!("must be a list of strings or true, not {}", describe(other)))
            );
        }
    }
    let names = params.texts("header")?;
    Ok(if names.is_empty() { Header::None } else { Header::Given(names) })
}

fn text_rules(params: &Params<'_>) -> Result<TextRules> {
    let mut formats = ColumnFormats::read(params)?;
    for key in ["dateFormat", "format"] {
        if let Some(pattern) = params.text(key)?.filter(|pattern| !pattern.trim().is_empty()) {
            let pattern = DatePattern::parse(&pattern).map_err(|error| error.context(params.path(key)))?;
            formats = formats.with_date_format(pattern);
            break;
        }
    }
    let bytes = ByteForm::read(params, formats.encoding())?;
    Ok(TextRules { formats, bytes })
}

fn format(params: &Params<'_>, name: FormatName) -> Result<Format> {
    let text = |key: &str, default: &str| -> Result<Vec<u8>> {
        Ok(unescape(&params.text(key)?.unwrap_or_else(|| default.into())).into_bytes())
    };
    let mut format = Delimited {
        delimiter: text("fieldDelimiter", ",")?,
        terminator: text("lineDelimiter", "\n")?,
        null: params.text("nullFormat")?.unwrap_or_else(|| "null".into()).into_bytes(),
        quoting: Quoting::None,
    };
    for (key, value) in [("fieldDelimiter", &format.delimiter), ("lineDelimiter", &format.terminator)] {
        if value.is_empty() {
            return Err(params.error(
                key,
                "must not be empty: nobody could read the file; write a character that is in no value, such as \\u0001",
            ));
        }
    }
    match name {
        FormatName::Text => {}
        FormatName::Csv => csv(params, &mut format)?,
        FormatName::Sql => {
            let table = match params.text("table")? {
                Some(table) if !table.trim().is_empty() => table,
                _ => return Err(params.error("table", "is required for fileFormat sql")),
            };
            let quote = params.text("quoteChar")?.unwrap_or_default();
            let commit_size = params.whole("commitSize")?.unwrap_or(2000).max(1);
            return Ok(Format::Sql(Sql { table, quote, commit_size, terminator: format.terminator }));
        }
    }
    if format.delimiter == format.terminator {
        return Err(params.error("fieldDelimiter", "and lineDelimiter must differ"));
    }
    Ok(Format::Delimited(format))
}

fn csv(params: &Params<'_>, format: &mut Delimited) -> Result<()> {
    let settings = csv_settings(params, "csvWriterConfig")?.unwrap_or_else(|| Value::Object(Default::default()));
    let settings = Params::new(&settings, params.path("csvWriterConfig"))?;
    let qualifier = one_byte(&settings, "textQualifier")?.unwrap_or(b'"');
    let comment = one_byte(&settings, "comment")?.unwrap_or(b'#');
    let escape = match settings.whole("escapeMode")? {
        None | Some(1) => Escape::Doubled,
        Some(2) => Escape::Backslash,
        Some(other) => {
            return Err(
                settings.error("escapeMode", format_args!("is {other}, but must be 1 (doubled) or 2 (backslash)"))
            );
        }
    };
    for (key, place) in [("delimiter", &mut format.delimiter), ("recordDelimiter", &mut format.terminator)] {
        if let Some(text) = settings.text(key)?.filter(|text| !text.is_empty()) {
            *place = unescape(&text).into_bytes();
        }
    }
    let always = settings.truth("forceQualifier")?.unwrap_or(false);
    format.quoting = match (settings.truth("useTextQualifier")?.unwrap_or(true), escape) {
        (true, escape) => Quoting::Qualifier { qualifier, escape, always, comment },
        (false, Escape::Backslash) => Quoting::Backslash { comment },
        (false, Escape::Doubled) => Quoting::None,
    };
    if let Quoting::Backslash { .. } = format.quoting
        && [format.delimiter[0], format.terminator[0], comment].iter().any(|byte| byte.is_ascii_alphanumeric())
    {
        return Err(params.error(
            "fieldDelimiter",
            "and lineDelimiter must not begin with a letter or digit where backslashes escape them",
        ));
    }
    if matches!(format.quoting, Quoting::Qualifier { .. })
        && (format.delimiter.contains(&qualifier) || format.terminator.contains(&qualifier))
    {
        return Err(params.error("fieldDelimiter", "and lineDelimiter must not contain the textQualifier"));
    }
    Ok(())
}
