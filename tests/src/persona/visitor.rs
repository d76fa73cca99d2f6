//! The visitor: a reader without credentials, who knows the edge and never calls the API.

use reqwest::{Client, Method};

use crate::{Call, Process, Reply, World};

/// A reader of pages at the edge, who follows no redirects.
#[derive(Clone, Debug)]
pub struct Visitor {
    client: Client,
    serve_url: String,
}

impl Visitor {
    pub fn new(world: &World) -> Self {
        Self { client: world.client(), serve_url: world.serve_url() }
    }

    /// The same visitor at another edge.
    pub fn at(&self, edge: &Process) -> Self {
        Self { serve_url: edge.url().to_owned(), ..self.clone() }
    }

    pub fn serve_url(&self) -> &str {
        &self.serve_url
    }

    /// Opens a path, or an address from the API, at this visitor's edge.
    pub fn open(&self, address: &str) -> Call {
        self.call(Method::GET, address).waiting_for_check()
    }

    /// Opens a path of the site in the response to a publish.
    pub fn open_site(&self, published: &Reply, path: &str) -> Call {
        self.open(&format!("/site/{}/{path}", published.string("host")))
    }

    /// Opens a path with this name in the Host header, as a browser does that found the edge by DNS.
    pub fn open_by_name(&self, name: &str, path: &str) -> Call {
        self.open(path).header("Host", name)
    }

    pub fn call(&self, method: Method, address: &str) -> Call {
        let path = match address.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
            None => address,
        };
        Call::new(&self.client, method, format!("{}{path}", self.serve_url))
    }
}
