//! The check of a publish's files for secrets, before it is queued.

use domain::{Refusal, Repeating, Warning, find_leaks};

use crate::compute::compute;
use crate::deadline::failure_before;
use crate::{Service, ServiceResult, UploadedFile};

impl Service {
    /// Refuses files that contain an active token of any account. Returns the warnings about everything else.
    pub(crate) async fn inspect(
        &self,
        files: &[UploadedFile],
        repeating: Repeating,
    ) -> ServiceResult<Vec<Warning>> {
        let total_bytes = files.iter().map(|file| file.bytes.len() as u64).sum();
        let files = files.to_vec();
        let search = move || find_leaks(files.iter().map(|file| (&file.path, &*file.bytes)));
        let leaks = compute(total_bytes, search).await??;
        if leaks.tokens.is_empty() {
            return Ok(leaks.warnings);
        }
        let hashes = leaks.tokens.iter().map(|token| token.secret_hash.clone());
        let active = self.0.store.tokens().find_active(hashes, self.0.clock.now()).await;
        let active = active.map_err(|error| failure_before(repeating, error))?;
        match leaks.tokens.into_iter().find(|token| active.contains(&token.secret_hash)) {
            Some(leaked) => {
                tracing::info!("publish refused: a file contains an active token");
                let path = leaked.path.to_string();
                Err(Refusal::SecretInPublish { path, line: leaked.line }.into())
            }
            None => Ok(leaks.warnings),
        }
    }
}
