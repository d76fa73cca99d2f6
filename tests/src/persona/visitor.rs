//! The visitor: a reader without any right, who knows the edge and never calls the API.

use reqwest::{Client, Method};

use crate::{Call, Process, Reply, World};

/// One who reads pages at the edge, and follows no redirect unseen.
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

    /// Opens a path, or an address that the API has given; either way at this visitor's edge.
    pub fn open(&self, place: &str) -> Call {
        self.call(Method::GET, place).waiting_for_check()
    }

    /// Opens a path of the site that a publish has answered with.
    pub fn open_site(&self, published: &Reply, path: &str) -> Call {
        self.open(&format!("/site/{}/{path}", published.string("host")))
    }

    /// Opens a path under a name, as a browser does that found the edge by DNS.
    pub fn open_by_name(&self, name: &str, path: &str) -> Call {
        self.open(path).header("Host", name)
    }

    pub fn call(&self, method: Method, place: &str) -> Call {
        let path = match place.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
            None => place,
        };
        Call::new(&self.client, method, format!("{}{path}", self.serve_url))
    }
}
