//! A headless Chromium, driven over WebDriver, for what only a browser can verify, such as whether a font was
//! loaded.
//!
//! Each has a profile and a driver port of its own. It must never outlive its test or use the developer's
//! profile.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use reqwest::{Method, Url};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::port::Port;
use crate::{PATIENCE, eventually};

const START_DEADLINE: Duration = Duration::from_secs(30);
const END_DEADLINE: Duration = Duration::from_secs(5);
/// The limit for loading a page, and for a script of a test.
const PAGE_TIMEOUT_MS: u32 = 30_000;
const ARGUMENTS: [&str; 9] = [
    "--headless=new",
    // Nothing on other machines is requested, not even their addresses.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE *.localhost",
    // Pages come from this machine, whatever proxy the environment names.
    "--no-proxy-server",
    "--disable-background-networking",
    // The shared memory of containers is too small for it.
    "--disable-dev-shm-usage",
    "--disable-breakpad",
    // Pages of a test share a process: without these it takes a quarter more processor time.
    "--disable-features=ProactivelySwapBrowsingInstance,RenderDocument,SpareRendererForSitePerProcess",
    "--disable-back-forward-cache",
    "--renderer-process-limit=1",
];

/// The screen of the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    Desktop,
    Phone,
    /// The narrowest screen in use.
    SmallPhone,
}

impl Screen {
    pub const fn size(self) -> (u32, u32) {
        match self {
            Screen::Desktop => (1280, 800),
            Screen::Phone => (360, 740),
            Screen::SmallPhone => (320, 568),
        }
    }
}

/// The reader's colour scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

/// Whether pages may run scripts. Scripts of the test run in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scripts {
    Run,
    Refused,
}

/// A browser with one window. Dropping it ends the browser.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    refuses_scripts: AtomicBool,
    driver: Driver,
}

impl Browser {
    /// A new browser: a light desktop, with scripts.
    pub async fn start() -> Self {
        let mut driver = Driver::start().await;
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(driver.capabilities())
            .connect(&driver.port.url())
            .await
            .unwrap_or_else(|error| panic!("no browser: {error}\n{}", driver.log()));
        let id = client.capabilities().and_then(|capabilities| capabilities.get("goog:processID")?.as_u64());
        driver.browser_id = Some(id.expect("the driver returns the browser's process id"));
        let browser = Self { client, refuses_scripts: AtomicBool::new(false), driver };
        browser.show_on(Screen::Desktop).await;
        browser.prefer(Scheme::Light).await;
        browser
    }

    pub async fn show_on(&self, screen: Screen) {
        let (width, height) = screen.size();
        self.show_in(width, height).await;
    }

    /// Sets a screen of any size. One that is not as wide as a desktop is that of a phone.
    pub async fn show_in(&self, width: u32, height: u32) {
        let is_mobile = width < Screen::Desktop.size().0;
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_mobile });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    pub async fn prefer(&self, scheme: Scheme) {
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        // A colour that is still in transition cannot be checked.
        let features = json!({ "features": [
            { "name": "prefers-color-scheme", "value": value },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ] });
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    pub async fn with_scripts(&self, scripts: Scripts) {
        let is_refused = scripts == Scripts::Refused;
        self.refuses_scripts.store(is_refused, Ordering::Relaxed);
        self.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": is_refused })).await;
    }

    /// Runs a script in every page that is opened from now on, before the page's own scripts.
    pub async fn run_in_every_page(&self, script: &str) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await;
    }

    pub(crate) fn scripts(&self) -> Scripts {
        if self.refuses_scripts.load(Ordering::Relaxed) { Scripts::Refused } else { Scripts::Run }
    }

    /// Opens an address as if it were typed, and waits until the page has loaded.
    pub async fn open(&self, address: &str) {
        let opened = self.client.goto(address).await;
        opened.unwrap_or_else(|error| panic!("{address} did not open: {error}\n{}", self.driver.log()));
    }

    /// Clicks on the element for a CSS selector. Does not wait for a new page.
    pub async fn click(&self, selector: &str) {
        let found = self.client.find(Locator::Css(selector)).await;
        let found = found.unwrap_or_else(|error| panic!("{selector} was not found: {error}"));
        found.click().await.unwrap_or_else(|error| panic!("{selector} was not clicked: {error}"));
    }

    /// Clicks on a link or a button, and waits for the page that it leads to.
    pub async fn follow(&self, selector: &str) {
        self.evaluate("void (window.isLeft = true)").await;
        self.click(selector).await;
        eventually(PATIENCE, &format!("{selector} leads to a page"), async || {
            let script = "return window.isLeft === undefined && document.readyState === 'complete'";
            let is_there = self.client.execute(script, vec![]).await;
            matches!(is_there, Ok(Value::Bool(true))).then_some(())
        })
        .await;
    }

    /// Replaces the text in a field.
    pub async fn fill(&self, selector: &str, text: &str) {
        let found = self.client.find(Locator::Css(selector)).await;
        let field = found.unwrap_or_else(|error| panic!("{selector} was not found: {error}"));
        field.clear().await.unwrap_or_else(|error| panic!("{selector} was not cleared: {error}"));
        field.send_keys(text).await.unwrap_or_else(|error| panic!("{selector} takes no text: {error}"));
    }

    /// Chooses files in a field for them.
    pub async fn choose(&self, selector: &str, files: &[&Path]) {
        let found = self.client.find(Locator::Css(selector)).await;
        let field = found.unwrap_or_else(|error| panic!("{selector} was not found: {error}"));
        let paths: Vec<_> = files.iter().map(|file| file.to_str().expect("a path in UTF-8")).collect();
        field.send_keys(&paths.join("\n")).await.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Drops files or folders of this machine on an element, as a person does with a mouse.
    pub async fn drop_on(&self, selector: &str, files: &[&Path]) {
        let place = format!(
            "(() => {{ const element = document.querySelector('{selector}'); element.scrollIntoView();
             const {{ x, y, width, height }} = element.getBoundingClientRect();
             return [x + width / 2, y + height / 2]; }})()"
        );
        let place = self.evaluate(&place).await;
        for event in ["dragEnter", "dragOver", "drop"] {
            let data = json!({ "items": [], "files": files, "dragOperationsMask": 1 });
            let parameters = json!({ "type": event, "x": place[0], "y": place[1], "data": data });
            self.devtools("Input.dispatchDragEvent", parameters).await;
        }
    }

    /// The visible text of the element for a CSS selector.
    pub async fn text(&self, selector: &str) -> String {
        let found = self.client.find(Locator::Css(selector)).await;
        let found = found.unwrap_or_else(|error| panic!("{selector} was not found: {error}"));
        found.text().await.expect("the text")
    }

    /// The path of the current page.
    pub async fn path(&self) -> String {
        self.client.current_url().await.expect("an address").path().to_owned()
    }

    /// The value of a JavaScript expression in the page. A promise is awaited.
    pub async fn evaluate(&self, expression: &str) -> Value {
        let value = self.client.execute(&format!("return {expression}"), vec![]).await;
        value.unwrap_or_else(|error| panic!("{expression} has no value: {error}"))
    }

    pub async fn title(&self) -> String {
        self.client.title().await.expect("a title")
    }

    /// The HTTP status of the current page.
    pub async fn status(&self) -> u64 {
        let status = self.evaluate("performance.getEntriesByType('navigation')[0].responseStatus").await;
        status.as_u64().expect("a status")
    }

    /// A screenshot of the window, as PNG.
    pub async fn screenshot(&self) -> Vec<u8> {
        self.client.screenshot().await.expect("a screenshot")
    }

    /// The WebDriver client, for everything else.
    pub fn client(&self) -> &Client {
        &self.client
    }

    async fn devtools(&self, name: &'static str, parameters: Value) {
        let done = self.client.issue_cmd(DevTools { name, parameters }).await;
        done.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// A command of Chromium's DevTools protocol, which the driver passes on.
#[derive(Debug)]
struct DevTools {
    name: &'static str,
    parameters: Value,
}

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(
        &self,
        base_url: &Url,
        session: Option<&str>,
    ) -> Result<Url, <Url as std::str::FromStr>::Err> {
        base_url.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        let body = json!({ "cmd": self.name, "params": self.parameters });
        (Method::POST, Some(body.to_string()))
    }
}

/// The process that starts, controls and ends the browser.
#[derive(Debug)]
struct Driver {
    child: Child,
    browser_id: Option<u64>,
    port: Port,
    folder: TempDir,
}

impl Driver {
    async fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("handbill-browser-").tempdir();
        let folder = folder.expect("a folder for a browser");
        let port = Port::take();
        let child = spawn(port.number, folder.path());
        let mut driver = Self { child, browser_id: None, port, folder };
        let (client, probe) = (crate::call::client(), format!("{}/status", driver.port.url()));
        eventually(START_DEADLINE, "chromedriver answers", async || {
            if let Some(status) = driver.child.try_wait().expect("its state") {
                panic!("chromedriver ended with {status} instead of starting:\n{}", driver.log());
            }
            client.get(&probe).send().await.ok().filter(|answer| answer.status().is_success())
        })
        .await;
        driver
    }

    fn capabilities(&self) -> Capabilities {
        let mut args: Vec<_> = ARGUMENTS.map(str::to_owned).into();
        args.push(format!("--user-data-dir={}", self.folder.path().join("profile").display()));
        // The sandbox does not work for root. Only pages of the tests are opened.
        if std::fs::metadata("/proc/self").expect("a process of Linux").uid() == 0 {
            args.push("--no-sandbox".to_owned());
        }
        let wanted = json!({
            "goog:chromeOptions": { "args": args },
            "timeouts": { "pageLoad": PAGE_TIMEOUT_MS, "script": PAGE_TIMEOUT_MS },
        });
        serde_json::from_value(wanted).expect("a JSON object")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(log_path(self.folder.path())).unwrap_or_default()
    }

    /// Sends SIGTERM, so that the driver ends its browser first. After SIGKILL the browser would stay.
    fn send_sigterm(&self) -> std::io::Result<()> {
        let mut stream = TcpStream::connect(self.port.address())?;
        stream.set_read_timeout(Some(END_DEADLINE))?;
        stream.write_all(b"GET /shutdown HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        stream.read_to_end(&mut Vec::new())?;
        Ok(())
    }

    fn ends_soon(&mut self) -> bool {
        let start = Instant::now();
        while start.elapsed() < END_DEADLINE {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    fn kill(&mut self) {
        if let Some(id) = self.browser_id {
            // Either process may have ended by itself.
            let _ = Command::new("sh").arg("-c").arg(format!("kill -KILL {id}")).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if self.send_sigterm().is_err() || !self.ends_soon() {
            self.kill();
        }
    }
}

fn spawn(port: u16, folder: &Path) -> Child {
    let log = File::create(log_path(folder)).expect("a log file");
    Command::new("chromedriver")
        .arg(format!("--port={port}"))
        // The browser also writes outside of its profile, so that these directories are its own as well.
        .env("HOME", folder)
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a second handle on the log"))
        .stderr(log)
        .spawn()
        .expect("chromedriver starts; scripts/test installs it")
}

fn log_path(folder: &Path) -> std::path::PathBuf {
    folder.join("chromedriver.log")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPTED: &str = "data:text/html,<title>still</title><script>document.title='moved'</script>";

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn browser_applies_its_settings_and_is_closed_when_dropped() {
        let browser = Browser::start().await;
        browser.open(SCRIPTED).await;
        assert_eq!(browser.title().await, "moved");
        assert_eq!(browser.evaluate("[innerWidth, innerHeight]").await, json!([1280, 800]));
        browser.with_scripts(Scripts::Refused).await;
        browser.show_on(Screen::Phone).await;
        browser.prefer(Scheme::Dark).await;
        browser.open(SCRIPTED).await;
        assert_eq!(browser.title().await, "still");
        assert_eq!(browser.evaluate("screen.width").await, json!(360));
        let is_dark = "matchMedia('(prefers-color-scheme: dark)').matches";
        assert_eq!(browser.evaluate(is_dark).await, json!(true));
        let (id, folder) = (browser.driver.browser_id.unwrap(), browser.driver.folder.path().to_owned());
        let state = || std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        assert!(state().contains("chrom"));
        drop(browser);
        assert!(state().is_empty() || state().contains(") Z "), "{}", state());
        assert!(!folder.exists());
    }
}
