//! test
transship_plugin_api::export_plugin!(transship_plugin_api::Plugin::new("stream", "0"));
