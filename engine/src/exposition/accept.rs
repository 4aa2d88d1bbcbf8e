//! Which format a client wants, by the `Accept` headers of its request.

use super::Format;

impl Format {
    /// OpenMetrics where that is asked for by its name and nothing says that plain text is liked better; plain text otherwise, also
    /// for whoever accepts neither: it can at least be read.
    pub fn accepted<'a>(headers: impl IntoIterator<Item = &'a str>) -> Format {
        let mut likes_open_metrics = 0.0f32;
        let mut likes_plain = 0.0f32;
        for range in headers.into_iter().flat_map(|header| header.split(',')) {
            let mut parts = range.split(';').map(str::trim);
            let media_type = parts.next().unwrap_or_default();
            let quality = quality(parts);
            if media_type.eq_ignore_ascii_case("application/openmetrics-text") {
                likes_open_metrics = likes_open_metrics.max(quality);
            } else if media_type.eq_ignore_ascii_case("text/plain") {
                likes_plain = likes_plain.max(quality);
            }
        }
        match likes_open_metrics > 0.0 && likes_open_metrics >= likes_plain {
            true => Format::OpenMetrics,
            false => Format::Plain,
        }
    }
}

/// The `q` among the parameters of a media type; what cannot be read is no wish.
fn quality<'a>(mut parameters: impl Iterator<Item = &'a str>) -> f32 {
    let value = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    value.map_or(1.0, |value| value.parse().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prometheus_server_gets_what_it_likes_best() {
        let by_default = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
                          application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;q=0.3,*/*;q=0.2";
        assert_eq!(Format::accepted([by_default]), Format::OpenMetrics);
        let plain_first = "text/plain;version=0.0.4;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1";
        assert_eq!(Format::accepted([plain_first]), Format::Plain);
        assert_eq!(Format::accepted(["text/html", "Application/OpenMetrics-Text"]), Format::OpenMetrics);
    }

    #[test]
    fn who_does_not_ask_for_open_metrics_gets_plain_text() {
        for header in ["*/*", "", "text/html,*/*;q=0.8", "application/openmetrics-text; q=0", ";;,=,q=1"] {
            assert_eq!(Format::accepted([header]), Format::Plain, "{header}");
        }
        assert_eq!(Format::accepted([]), Format::Plain);
    }
}
