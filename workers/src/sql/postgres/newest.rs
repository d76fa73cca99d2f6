//! The statements for jobs that no index leads to: by what their payloads name, and by their errors.

// Nothing leads from a text to the jobs that contain it, so the newest jobs are read, and the beginning of
// each.
/// The newest jobs whose payloads contain every text of at least one term. `$1` is a JSON array of terms, and
/// a term is an array of texts.
pub(crate) const SEARCH: &str = "
    SELECT id, job_type,
        CASE WHEN status = 'Killed' AND (SELECT kind FROM handbill_job_events WHERE job_id = newest.id
            ORDER BY id DESC LIMIT 1) = 'cancelled' THEN 'Cancelled' ELSE status END AS status,
        attempts::bigint AS attempts, max_attempts::bigint AS max_attempts,
        (extract(epoch FROM run_at) * 1000)::bigint AS due_ms, (extract(epoch FROM lock_at) * 1000)::bigint AS begun_ms,
        (extract(epoch FROM done_at) * 1000)::bigint AS ended_ms, lock_by, last_result::text AS last_result,
        substr(job, 1, $2::integer) AS payload
    FROM (SELECT * FROM apalis.jobs ORDER BY id DESC LIMIT $3) AS newest
    WHERE EXISTS (SELECT FROM jsonb_array_elements($1::jsonb) AS term
        WHERE NOT EXISTS (SELECT FROM jsonb_array_elements_text(term) AS part
            WHERE position(convert_to(part, 'UTF8') IN substr(job, 1, $4::integer)) = 0))
    ORDER BY id DESC LIMIT $5";

/// Retries those of the jobs that are dead.
pub(crate) const RETRY_THESE: &str = "
    WITH dead AS MATERIALIZED (
        SELECT id FROM apalis.jobs WHERE id = ANY($1) AND job_type = $2 AND status = 'Killed' AND id NOT IN (
            SELECT job_id FROM handbill_job_events AS called WHERE kind = 'cancelled' AND NOT EXISTS
            (SELECT 1 FROM handbill_job_events AS later WHERE later.job_id = called.job_id AND later.id > called.id)
        ) ORDER BY id FOR UPDATE
    )
    UPDATE apalis.jobs SET status = 'Pending', attempts = 0, run_at = now(), lock_by = NULL, lock_at = NULL,
        done_at = NULL
    FROM dead WHERE jobs.id = dead.id AND jobs.status = 'Killed'
    RETURNING jobs.id";
