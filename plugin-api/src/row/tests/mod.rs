//! Tests of the row layer.

mod build;
mod read;
mod text;

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

fn schema(columns: impl IntoIterator<Item = (&'static str, DataType)>) -> SchemaRef {
    Arc::new(Schema::new(
        columns.into_iter().map(|(name, data_type)| Field::new(name, data_type, true)).collect::<Vec<_>>(),
    ))
}
