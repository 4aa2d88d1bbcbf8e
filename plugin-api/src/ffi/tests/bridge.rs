//! Log records and panics of a plugin reach the host. Both are matters of the whole process, so this test runs in its own.

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::thread;

use serde_json::Value;

use super::fixtures::{Memory, some_host};
use crate::Plugin;
use crate::ffi::abi::{TsError, TsHost, TsPlugin};
use crate::ffi::export;
use crate::ffi::import::{LoadedPlugin, Trust};
use crate::host::HostRef;
use crate::reader::{ReadOptions, Reader, ReaderTask, Split, SplitRequest};
use crate::{Error, Kind, Result};

const THIS_TEST: &str = "ffi::tests::bridge::log_records_and_panics_reach_the_host";
const ALONE: &str = "TRANSSHIP_TEST_ALONE";

unsafe extern "C" fn init(version: u32, host: *const TsHost, plugin: *mut *const TsPlugin, error: *mut TsError) -> i32 {
    fn loud(parameter: &Value, _: HostRef) -> Result<Box<dyn Reader>> {
        log::info!("constant");
        log::warn!("the parameter is {parameter}");
        log::debug!("nobody wants to know");
        match parameter.as_str() {
            Some("panic") => panic!("too loud: {parameter}"),
            Some("drop") => return Ok(Box::new(Reluctant)),
            _ => {}
        }
        Err(Error::config("a reader that only makes noise"))
    }
    static PLUGIN: OnceLock<export::ExportedPlugin> = OnceLock::new();
    let make = || Plugin::new("loud", "0").reader(&["loud"], "", &[], loud);
    // SAFETY: handed on from the caller.
    unsafe { export::init(&PLUGIN, make, version, host, plugin, error) }
}

/// A reader that panics when it is dropped.
struct Reluctant;

impl Reader for Reluctant {
    fn splits(&mut self, _: &SplitRequest) -> Result<Vec<Split>> {
        Ok(Vec::new())
    }

    fn open(&mut self, _: &Split, _: &ReadOptions, _: HostRef) -> Result<Box<dyn ReaderTask>> {
        Err(Error::unsupported("it has no splits"))
    }
}

impl Drop for Reluctant {
    fn drop(&mut self) {
        panic!("too loud to go");
    }
}

#[test]
fn log_records_and_panics_reach_the_host() {
    if env::var_os(ALONE).is_none() {
        let alone =
            Command::new(env::current_exe().unwrap()).args(["--exact", THIS_TEST]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&alone.stdout);
        assert!(alone.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    log::set_max_level(log::LevelFilter::Info);
    let host = Memory::new();
    // SAFETY: the init function above keeps to the header.
    let load = |host| unsafe { LoadedPlugin::from_init(Path::new("loud"), init, host, Trust::Trusted) }.unwrap();
    let loaded = load(host.clone());
    assert!(loaded.reader("loud", &"quiet".into(), some_host()).is_err());
    let target = module_path!();
    let constant = format!("INFO {target}: constant");
    assert_eq!(host.heard(), [constant.clone(), format!("WARN {target}: the parameter is \"quiet\"")]);

    let error = loaded.reader("loud", &"panic".into(), some_host()).err().unwrap();
    assert_eq!(error.kind(), Kind::Internal);
    assert!(error.message().starts_with(&format!("panic at {}:", file!())), "{error}");
    assert!(error.message().ends_with(": too loud: \"panic\""), "{error}");
    let heard = host.heard();
    assert_eq!(
        heard,
        [constant.clone(), format!("WARN {target}: the parameter is \"panic\"")],
        "the error tells of it"
    );

    // A panic in a drop, or in a thread of the plugin's own, has no call that could return it, but is heard.
    drop(loaded.reader("loud", &"drop".into(), some_host()).unwrap());
    let heard = host.heard();
    assert!(heard[2].starts_with("ERROR panic: panic at ") && heard[2].ends_with(": too loud to go"), "{heard:?}");
    thread::scope(|scope| scope.spawn(|| panic!("on my own")).join()).unwrap_err();
    let heard = host.heard();
    assert!(heard[0].starts_with("ERROR panic: panic at ") && heard[0].ends_with(": on my own"), "{heard:?}");

    // The plugin's log goes where it went first, however often the library is opened.
    let second = Memory::new();
    assert!(load(second.clone()).reader("loud", &Value::Null, some_host()).is_err());
    assert_eq!((second.heard(), host.heard()[0].clone()), (Vec::new(), constant));
}
