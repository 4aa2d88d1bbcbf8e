//! Says hello: capabilities, encryption, and who we are.

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context, Response};
use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakePacket};
use transship_plugin_api::{Error, Result};

use super::server::Server;
use super::tls::Mode;
use super::wire::Wire;
use super::words::Refused;

/// What the server said of itself.
#[derive(Debug, Clone)]
pub(super) struct Hello {
    pub(super) thread: u32,
    pub(super) version: String,
    pub(super) is_mariadb: bool,
    /// Whether descriptions of columns name the types that only MariaDB has.
    pub(super) extended: bool,
}

/// MariaDB's own capabilities that are used: the names of types that MySQL has not.
const MARIADB_EXTENDED_METADATA: u32 = 8;
/// `utf8mb4_general_ci`, which every server knows.
const UTF8MB4: u8 = 45;
/// The longest packet that is taken.
const LONGEST_PACKET: u32 = 1 << 30;

/// What went wrong: the server refused, or the connection broke.
pub(super) enum Failure {
    Refused(Refused),
    Broken(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Broken(error)
    }
}

/// Makes a connection out of a socket.
pub(super) fn shake_hands(wire: &mut Wire, server: &Server, host: &str) -> Result<Hello, Failure> {
    let greeting = wire.receive()?.to_vec();
    if greeting.first() == Some(&0xff) {
        return Err(Failure::Refused(Refused::parse(&greeting)));
    }
    let unreadable = |_| Failure::Broken(Error::connect("what answers there does not speak MySQL's protocol"));
    let greeting: HandshakePacket<'_> = ParseBuf(&greeting).parse(()).map_err(unreadable)?;
    let theirs = greeting.capabilities();
    let version = greeting.server_version_str().into_owned();
    let is_mariadb = version.contains("MariaDB");

    let mut ours = CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_LONG_FLAG
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_DEPRECATE_EOF;
    if server.may_load {
        ours |= CapabilityFlags::CLIENT_LOCAL_FILES;
    }
    if server.database.is_some() {
        ours |= CapabilityFlags::CLIENT_CONNECT_WITH_DB;
    }
    ours &= theirs | CapabilityFlags::CLIENT_LOCAL_FILES;
    if !ours.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF | CapabilityFlags::CLIENT_PLUGIN_AUTH) {
        let old =
            format!("the server is of version {version}; 5.7.5 of MySQL and 10.2 of MariaDB are the oldest supported");
        return Err(Failure::Broken(Error::unsupported(old)));
    }
    let encrypts = server.tls.mode != Mode::Never && theirs.contains(CapabilityFlags::CLIENT_SSL);
    if server.tls.mode == Mode::Always && !encrypts {
        let problem = "the server has no TLS, and the URL insists on it (sslMode, requireSSL)";
        return Err(Failure::Broken(Error::connect(problem).retryable(false)));
    }
    // A flag of MySQL's that MariaDB has left out, to say that its own follow.
    let theirs_extended = greeting.mariadb_ext_capabilities().bits();
    let has_extended = is_mariadb && !theirs.contains(CapabilityFlags::CLIENT_LONG_PASSWORD);
    let extended = has_extended && theirs_extended & MARIADB_EXTENDED_METADATA != 0;
    if is_mariadb {
        ours &= !CapabilityFlags::CLIENT_LONG_PASSWORD;
    }
    if encrypts {
        ours |= CapabilityFlags::CLIENT_SSL;
        wire.send(&start(ours, extended))?;
        let tls = server.tls.client(host);
        let tls = tls.map_err(|error| Failure::Broken(Error::connect(format!("TLS: {error}")).retryable(false)))?;
        wire.encrypt(tls)?;
    }

    let plugin = greeting.auth_plugin().unwrap_or(AuthPlugin::MysqlNativePassword).into_owned();
    let mut login = Login { server, encrypts, plugin, scramble: nonce(&greeting.nonce()) };
    let (mut procedure, answer) = login.begin()?;
    wire.send(&login.response(ours, extended, &answer))?;
    login.finish(wire, &mut procedure)?;
    Ok(Hello { thread: greeting.connection_id(), version, is_mariadb, extended })
}

/// What a response begins with; all of a request to encrypt.
fn start(capabilities: CapabilityFlags, extended: bool) -> Vec<u8> {
    let mut packet = capabilities.bits().to_le_bytes().to_vec();
    packet.extend(LONGEST_PACKET.to_le_bytes());
    packet.push(UTF8MB4);
    packet.extend([0; 19]);
    packet.extend(if extended { MARIADB_EXTENDED_METADATA } else { 0 }.to_le_bytes());
    packet
}

/// Without the NUL behind it.
fn nonce(bytes: &[u8]) -> Vec<u8> {
    bytes.strip_suffix(&[0]).unwrap_or(bytes).to_vec()
}

/// Tells the server who we are, in the way that it asks for.
struct Login<'a> {
    server: &'a Server,
    encrypts: bool,
    plugin: AuthPlugin<'static>,
    scramble: Vec<u8>,
}

impl Login<'_> {
    /// The procedure that the server asked for, and its first answer.
    fn begin(&self) -> Result<(AuthProc, Vec<u8>), Failure> {
        if matches!(self.plugin, AuthPlugin::MysqlOldPassword) {
            return Err(self.unsupported("its hashes protect nothing"));
        }
        if matches!(self.plugin, AuthPlugin::MysqlClearPassword) && !self.encrypts {
            return Err(self.unsupported("it would send the password in clear: use TLS, sslMode=REQUIRED"));
        }
        let procedure = AuthProc::init(&self.plugin);
        let mut procedure = procedure.map_err(|_| self.unsupported("this client does not know it"))?;
        let answer = self.run(&mut procedure, &self.scramble)?;
        Ok((procedure, answer.data().unwrap_or_default().to_vec()))
    }

    fn run(&self, procedure: &mut AuthProc, challenge: &[u8]) -> Result<Response, Failure> {
        procedure.run(self, challenge).map_err(|error| self.unsupported(&error.to_string()))
    }

    /// Answers until the server is content.
    fn finish(&mut self, wire: &mut Wire, procedure: &mut AuthProc) -> Result<(), Failure> {
        loop {
            let packet = wire.receive()?.to_vec();
            match packet.first() {
                Some(0x00) => return Ok(()),
                Some(0xff) => return Err(Failure::Refused(Refused::parse(&packet))),
                Some(0xfe) if packet.len() > 1 => {
                    let request: std::io::Result<AuthSwitchRequest<'_>> = ParseBuf(&packet).parse(());
                    let request = request.map_err(|_| self.unsupported("the request for it cannot be read"))?;
                    self.plugin = request.auth_plugin().into_owned();
                    self.scramble = nonce(request.plugin_data());
                    let (next, answer) = self.begin()?;
                    *procedure = next;
                    wire.send(&answer)?;
                }
                Some(0x01) => {
                    let answer = self.run(procedure, &packet[1..])?;
                    if let Some(data) = answer.data() {
                        wire.send(data)?;
                    }
                }
                _ => return Err(self.unsupported("the server's answer cannot be read")),
            }
        }
    }

    /// The response to the server's greeting.
    fn response(&self, capabilities: CapabilityFlags, extended: bool, answer: &[u8]) -> Vec<u8> {
        let mut packet = start(capabilities, extended);
        packet.extend(self.server.user.bytes().chain([0]));
        push_with_length(&mut packet, answer);
        if let Some(database) = &self.server.database {
            packet.extend(database.bytes().chain([0]));
        }
        packet.extend(self.plugin.as_bytes().iter().chain(&[0]));
        packet
    }

    fn unsupported(&self, why: &str) -> Failure {
        let plugin = String::from_utf8_lossy(self.plugin.as_bytes()).into_owned();
        let user = &self.server.user;
        let problem = format!("the server asks user {user} to log in by {plugin}: {why}");
        Failure::Broken(Error::connect(problem).retryable(false))
    }
}

impl Context for &Login<'_> {
    fn pass(&self) -> &[u8] {
        self.server.password.reveal().as_bytes()
    }

    fn is_ipc_transport(&self) -> bool {
        false
    }

    fn is_tls_transport(&self) -> bool {
        self.encrypts
    }

    fn scramble(&self) -> &[u8] {
        &self.scramble
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

/// Bytes behind their number.
fn push_with_length(packet: &mut Vec<u8>, bytes: &[u8]) {
    match bytes.len() {
        length @ 0..251 => packet.push(length as u8),
        length @ 251..0x1_0000 => packet.extend([&[0xfc], &(length as u16).to_le_bytes()[..]].concat()),
        length => packet.extend([&[0xfd], &(length as u32).to_le_bytes()[..3]].concat()),
    }
    packet.extend(bytes);
}

#[cfg(test)]
mod tests;
