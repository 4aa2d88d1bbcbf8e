//! The parameters that readers, writers and lookups share: who we are to the server, whom to trust, and how long to wait.

use std::path::Path;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Certificate, Client, Identity, Method, Proxy, Url};
use serde_json::Value;
use transship_plugin_api::{Error, Parameter, Params, Result};

use super::Retry;
use crate::secret::{is_secret, shown};

/// What `transship plugins` shows of them.
pub(crate) const PARAMETERS: [Parameter; 14] = [
    Parameter::optional("headers", "object", "", "headers of every request"),
    Parameter::optional("query", "object", "", "parameters behind the ? of every URL; a list gives one several times"),
    Parameter::optional("username", "string", "", "who we are, for basic authentication"),
    Parameter::optional("password", "string", "", "the password for it"),
    Parameter::optional("token", "string", "", "a bearer token, in place of them"),
    Parameter::optional("timeout", "string", "60 s", "how long a server may send nothing"),
    Parameter::optional("connectTimeout", "string", "10 s", "how long connecting may take"),
    Parameter::optional("retries", "integer", "5", "how often a request is sent again that was refused for the moment"),
    Parameter::optional("pause", "string", "200 ms", "before the first time; each pause is twice as long as the last"),
    Parameter::optional("longestPause", "string", "60 s", "no pause is longer, also where the server asks for more"),
    Parameter::optional("proxy", "string", "none", "the URL of a proxy; the environment's is not used"),
    Parameter::optional(
        "caFile",
        "string",
        "the system's",
        "root certificates in PEM form to trust beside the system's",
    ),
    Parameter::optional("certificateFile", "string", "", "our certificate and its key in PEM form, in one file"),
    Parameter::optional("checkCertificate", "boolean", "true", "false: whoever sits in the middle can read along"),
];

/// What all requests of a reader, a writer or a lookup have in common.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) headers: HeaderMap,
    /// What goes behind the `?`.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) timeout: Duration,
    pub(crate) retry: Retry,
    connect_timeout: Duration,
    proxy: Option<Url>,
    root_file: Option<String>,
    certificate_file: Option<String>,
    checks_certificate: bool,
}

impl Settings {
    pub(crate) fn parse(params: &Params<'_>) -> Result<Settings> {
        let timeout = |key, default| match params.length(key)? {
            Some(Duration::ZERO) => Err(params.error(key, "must be longer than nothing")),
            length => Ok(length.unwrap_or(Duration::from_secs(default))),
        };
        let file = |key| Ok::<_, Error>(params.text(key)?.filter(|path| !path.trim().is_empty()));
        let proxy = match file("proxy")? {
            Some(proxy) => {
                Some(Url::parse(&proxy).map_err(|error| params.error("proxy", format_args!("is no URL: {error}")))?)
            }
            None => None,
        };
        Ok(Settings {
            headers: headers(params)?,
            query: query(params)?,
            timeout: timeout("timeout", 60)?,
            retry: Retry::parse(params)?,
            connect_timeout: timeout("connectTimeout", 10)?,
            proxy,
            root_file: file("caFile")?,
            certificate_file: file("certificateFile")?,
            checks_certificate: params.truth("checkCertificate")?.unwrap_or(true),
        })
    }

    /// Makes a client that keeps so many connections to a server for later. `method`: of a request that changes something no
    /// redirect may make another.
    ///
    /// # Errors
    /// `Config` if a file cannot be read or holds no certificate.
    pub(crate) fn client(&self, method: &Method, connections: usize) -> Result<Client> {
        // Several plugins may be in one program, but each has its own copy of this choice.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder()
            .user_agent(concat!("transship/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.connect_timeout)
            .pool_max_idle_per_host(connections)
            .tcp_nodelay(true)
            .redirect(self.redirects(method))
            .referer(false)
            .danger_accept_invalid_certs(!self.checks_certificate);
        client = match &self.proxy {
            Some(proxy) => client.proxy(Proxy::all(proxy.clone()).map_err(|error| wrong(&error))?),
            None => client.no_proxy(),
        };
        if let Some(path) = &self.root_file {
            let roots = Certificate::from_pem_bundle(&read("caFile", path)?).unwrap_or_default();
            if roots.is_empty() {
                let problem = format!("parameter.caFile is \"{path}\", which holds no certificate in PEM form");
                return Err(Error::config(problem));
            }
            client = client.tls_certs_merge(roots);
        }
        if let Some(path) = &self.certificate_file {
            let identity = Identity::from_pem(&read("certificateFile", path)?);
            let identity = identity.map_err(|_| {
                Error::config(format!(
                    "parameter.certificateFile is \"{path}\", which does not hold a certificate and its key in PEM form"
                ))
            })?;
            client = client.identity(identity);
        }
        client.build().map_err(|error| wrong(&error))
    }

    /// Follows a server to other places of its own. Elsewhere nobody has our secrets, and what changes something is not made a
    /// question.
    fn redirects(&self, method: &Method) -> Policy {
        const MOST: usize = 10;
        let is_question = matches!(*method, Method::GET | Method::HEAD);
        let has_secrets = self.headers.keys().any(|name| is_secret(name.as_str()));
        Policy::custom(move |attempt: Attempt<'_>| {
            let Some(from) = attempt.previous().last() else { return attempt.follow() };
            let to = attempt.url();
            if attempt.previous().len() > MOST {
                return attempt.error(format!("redirects more than {MOST} times"));
            }
            if !is_question && !matches!(attempt.status().as_u16(), 307 | 308) {
                return attempt.stop();
            }
            if from.scheme() == "https" && to.scheme() != "https" {
                let to = shown(to);
                return attempt.error(format!("redirects to {to}, which is not encrypted"));
            }
            if from.origin() != to.origin() && has_secrets {
                let to = shown(to);
                return attempt.error(format!(
                    "redirects to another server, {to}, which must not get the secrets in our headers: ask it directly"
                ));
            }
            attempt.follow()
        })
    }

    /// Adds what a URL that the server gave lacks of the query that all requests have.
    pub(crate) fn with_missing_query(&self, mut url: Url) -> Url {
        let there: Vec<String> = url.query_pairs().map(|(name, _)| name.into_owned()).collect();
        let missing: Vec<&(String, String)> = self.query.iter().filter(|(name, _)| !there.contains(name)).collect();
        if !missing.is_empty() {
            url.query_pairs_mut().extend_pairs(missing);
        }
        url
    }

    /// Adds the query that all requests have.
    pub(crate) fn with_query(&self, mut url: Url) -> Url {
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        url
    }
}

fn wrong(error: &reqwest::Error) -> Error {
    let cause = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    Error::config(format!("no client can be made of these parameters: {cause}"))
}

fn read(key: &str, path: &str) -> Result<Vec<u8>> {
    std::fs::read(Path::new(path)).map_err(|error| Error::config(format!("parameter.{key} is \"{path}\": {error}")))
}

fn headers(params: &Params<'_>) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs(params, "headers")? {
        let path = format!("{}.{name}", params.path("headers"));
        let key =
            HeaderName::try_from(&name).map_err(|_| Error::config(format!("{path}: that is no name of a header")))?;
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| Error::config(format!("{path} has a character that no header may have")))?;
        value.set_sensitive(is_secret(&name));
        headers.append(key, value);
    }
    let authorization = match (params.text("token")?, params.text("username")?, params.text("password")?) {
        (Some(_), Some(_), _) => return Err(params.error("token", "and username both say who we are")),
        (Some(token), None, _) => format!("Bearer {token}"),
        (None, Some(user), password) => {
            use base64::Engine;
            let text = format!("{user}:{}", password.unwrap_or_default());
            format!("Basic {}", base64::prelude::BASE64_STANDARD.encode(text))
        }
        (None, None, Some(_)) => return Err(params.error("password", "needs a username")),
        (None, None, None) => return Ok(headers),
    };
    let mut value = HeaderValue::try_from(authorization)
        .map_err(|_| params.error("token", "has a character that no header may have"))?;
    value.set_sensitive(true);
    headers.insert(AUTHORIZATION, value);
    Ok(headers)
}

fn query(params: &Params<'_>) -> Result<Vec<(String, String)>> {
    pairs(params, "query")
}

/// The names and values of an object; a list has its name with each item.
fn pairs(params: &Params<'_>, key: &str) -> Result<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    let Some(object) = params.object(key)? else { return Ok(pairs) };
    let Some(Value::Object(names)) = params.value(key) else { return Ok(pairs) };
    for name in names.keys() {
        pairs.extend(object.texts(name)?.into_iter().map(|value| (name.clone(), value)));
    }
    Ok(pairs)
}
