//! A real browser for a test: Chromium, driven by ChromeDriver (the WebDriver protocol of W3C).

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Ask, Folder};

/// How long something on the page may take to appear.
const LONGEST: Duration = Duration::from_secs(60);

/// A browser with one window. It ends with the test.
pub struct Browser {
    driver: Child,
    address: String,
    session: String,
    pub folder: Folder,
    /// Kept open: who writes to a closed pipe ends.
    _said: Lines<BufReader<ChildStdout>>,
    _turn: MutexGuard<'static, ()>,
}

/// One browser at a time: each needs a core.
static TURN: Mutex<()> = Mutex::new(());

impl Browser {
    /// None, and a line that says so, where ChromeDriver is not installed.
    pub fn start() -> Option<Self> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut driver) = driver else {
            eprintln!("skipped: chromedriver is not installed");
            return None;
        };
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            let (_, port) = line.split_once("successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        let folder = Folder::new();
        let mut browser = Self {
            driver,
            address: format!("127.0.0.1:{}", port.expect("ChromeDriver did not start")),
            session: String::new(),
            folder,
            _said: lines,
            _turn: turn,
        };
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1300,1000",
        ];
        let mut arguments = arguments.map(str::to_owned).to_vec();
        let path = |name: &str| browser.folder.0.join(name).to_str().unwrap().to_owned();
        arguments.push(format!("--user-data-dir={}", path("profile")));
        let downloads = json!({"download.default_directory": path("downloads")});
        let options = json!({"args": arguments, "prefs": downloads});
        let logs = json!({"browser": "ALL"});
        let wanted = json!({"goog:chromeOptions": options, "goog:loggingPrefs": logs});
        let session = browser.driver(
            "POST",
            "/session",
            &json!({"capabilities": {"alwaysMatch": wanted}}),
        );
        browser.session = format!("/session/{}", session["sessionId"].as_str().unwrap());
        Some(browser)
    }

    fn driver(&self, method: &str, path: &str, body: &Value) -> Value {
        let reply = Ask::new(method, path).json(body).send(&self.address);
        assert_eq!(reply.status, 200, "{method} {path} {body}: {}", reply.text);
        reply.json["value"].clone()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.driver("POST", &format!("{}{path}", self.session), body)
    }

    pub fn open(&self, server: &str) {
        self.post("/url", &json!({"url": format!("http://{server}/")}));
    }

    /// Runs JavaScript in the page; it returns with `return`.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// What somebody reads in the first element of a CSS selector; empty if there is none.
    pub fn text(&self, selector: &str) -> String {
        let script = format!("return document.querySelector({selector:?})?.innerText ?? ''");
        self.run(&script).as_str().unwrap().to_owned()
    }

    /// Waits until an expression of JavaScript is true.
    pub fn wait(&self, expression: &str) {
        let start = Instant::now();
        while self.run(&format!("return !!({expression})")) != true {
            assert!(
                start.elapsed() < LONGEST,
                "{expression}\n{}",
                self.text("body")
            );
            std::thread::yield_now();
        }
    }

    /// Waits until an element has this text in it.
    pub fn wait_for(&self, selector: &str, text: &str) {
        self.wait(&format!(
            "[...document.querySelectorAll({selector:?})].some((element) => element.innerText.includes({text:?}))"
        ));
    }

    fn element(&self, xpath: &str) -> String {
        let found = self.post("/element", &json!({"using": "xpath", "value": xpath}));
        let id = found.as_object().unwrap().values().next().unwrap();
        format!("/element/{}", id.as_str().unwrap())
    }

    pub fn click(&self, xpath: &str) {
        self.post(&format!("{}/click", self.element(xpath)), &json!({}));
    }

    pub fn press(&self, button: &str) {
        self.click(&format!("//button[.={button:?}]"));
    }

    /// Writes into a field instead of what is there.
    pub fn fill(&self, xpath: &str, text: &str) {
        let element = self.element(xpath);
        self.post(&format!("{element}/clear"), &json!({}));
        self.post(&format!("{element}/value"), &json!({"text": text}));
    }

    /// Sends keys to whatever has the focus.
    pub fn keys(&self, text: &str) {
        let keys: Vec<_> = text
            .chars()
            .flat_map(|key| {
                ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key.to_string()}))
            })
            .collect();
        self.post(
            "/actions",
            &json!({"actions": [{"type": "key", "id": "keys", "actions": keys}]}),
        );
    }

    /// A command of the developer tools.
    pub fn tools(&self, command: &str, parameters: &Value) -> Value {
        self.post(
            "/goog/cdp/execute",
            &json!({"cmd": command, "params": parameters}),
        )
    }

    /// What the browser complained about: broken scripts, and what the policy stopped.
    pub fn complaints(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({"type": "browser"}));
        let entries = entries.as_array().unwrap().iter();
        let entries = entries.filter(|entry| entry["source"] != "network");
        entries
            .map(|entry| entry["message"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ends the browser as well as the session.
        let quit = Ask::new("DELETE", &self.session).try_send(&self.address);
        let _ = (quit, self.driver.kill(), self.driver.wait());
    }
}
