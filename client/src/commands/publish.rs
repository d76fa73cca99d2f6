//! `handbill publish`: lists the files before they are sent, publishes them, and watches them if asked to.

use super::content::show_content;
use super::folder::Target;
use super::publisher::Publisher;
use super::watch::watch;
use crate::command::Publish;
use crate::context::Context;
use crate::failure::Failure;
use crate::upload::is_standard_input;

pub async fn publish(context: &Context, args: Publish) -> Result<(), Failure> {
    let target = Target::of(&args)?;
    if args.watch && is_standard_input(&target.path) {
        return Err(Failure::usage("standard input cannot be watched", "name a file or a folder"));
    }
    // A missing token is reported before any file is read.
    let server = context.server()?;
    target.check(context, &server).await?;
    let (is_watched, is_rehearsal) = (args.watch, args.dry_run);
    let mut publisher = Publisher::new(context, target, server, args);
    let seen = if is_watched { Some(publisher.snapshot().await?) } else { None };
    let content = publisher.read().await?;
    show_content(context, &content);
    if is_rehearsal {
        return publisher.rehearse(content).await;
    }
    publisher.publish_first(content.clone()).await?;
    match seen {
        Some(seen) => watch(&mut publisher, content, seen).await,
        None => Ok(()),
    }
}
