//! Lists over HTTP. Without `limit`, a list is sent whole: it is read from the database in pages while it is
//! sent, so that neither memory nor a silent maximum limits its length. With `limit`, the response is one
//! page, and the `Link` header leads to the next one.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::str::FromStr;

use bytes::Bytes;
use domain::{Cursor, DecisionId, JobId, List, Page, PageStart, Paged, Refusal};
use futures::stream;
use poem::http::Uri;
use poem::{Body, IntoResponse, Request, Response};
use poem_openapi::ApiResponse;
use poem_openapi::payload::{Json, Payload};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::{ToJSON, Type};
use serde_json::Value;
use service::{Failure, Service};
use url::form_urlencoded;

use crate::http::query_parameter::{QueryParameter, parameter, query_parameters};
use crate::http::refusal::RefusedCall;
use crate::wire::ListedRow;

/// How many rows of a whole list are read at once.
const ROWS_AT_ONCE: u32 = 500;
const LIMIT: &str = "limit";
const AFTER: &str = "after";
/// The earlier name of `after` in some operators' lists.
const BEFORE: &str = "before";

/// The query parameter `limit`.
pub struct Limit {
    pub rows_max: Option<u32>,
    /// The request's URL, from which the next page's URL is made.
    address: Uri,
}

/// The query parameter `after` of a list of `T`.
pub struct After<T> {
    cursor: Option<Cursor>,
    rows: PhantomData<fn() -> T>,
}

/// The query parameter `after` of a list whose cursor is an id, or `before`, its earlier name.
pub struct AfterId<T>(pub Option<T>);

/// The part of a list that a request asks for.
pub struct Paging {
    start: PageStart,
    /// `None` means all rows from the start on.
    rows_max: Option<u32>,
    address: Uri,
}

/// A list, or a document that contains one, with the schema of `T`.
#[derive(ApiResponse)]
pub enum Listed<T: Type> {
    #[oai(status = 200)]
    Listed(
        Streamed<T>,
        /// Sent with `limit`, when there are more rows: the address of the next page, as `<address>;
        /// rel="next"`.
        #[oai(header = "Link")]
        Option<String>,
    ),
}

/// A JSON body that may be sent while it is being made.
pub struct Streamed<T>(Body, PhantomData<fn() -> T>);

/// The text around the rows of a list.
pub struct Around {
    head: String,
    tail: &'static str,
}

impl Paging {
    pub fn of<T>(limit: Limit, after: After<T>) -> Self {
        let start = after.cursor.map_or(PageStart::First, PageStart::After);
        Self { start, rows_max: limit.rows_max, address: limit.address }
    }

    pub fn first_page(&self) -> Page {
        Page::new(self.start.clone(), self.rows_max.unwrap_or(ROWS_AT_ONCE))
    }

    /// One page, for a list that is known to be short.
    pub fn only_page(&self) -> Page {
        Page::new(self.start.clone(), self.rows_max.unwrap_or(u32::MAX))
    }

    /// Responds with an array. `read` reads its pages for a caller.
    pub async fn list<C, T, R, F>(
        self,
        service: &Service,
        caller: C,
        read: R,
    ) -> Result<Listed<Vec<T>>, Failure>
    where
        C: Clone + Send + 'static,
        T: ToJSON,
        R: Fn(Service, C, Page) -> F + Send + 'static,
        F: Future<Output = service::ServiceResult<Paged<T>>> + Send + 'static,
    {
        let reader = service.clone();
        let read = move |page| read(reader.clone(), caller.clone(), page);
        self.list_by(&service.addresses().base_url, read).await
    }

    async fn list_by<T, R, F>(self, base_url: &str, read: R) -> Result<Listed<Vec<T>>, Failure>
    where
        T: ToJSON,
        R: Fn(Page) -> F + Send + 'static,
        F: Future<Output = service::ServiceResult<Paged<T>>> + Send + 'static,
    {
        let first = read(self.first_page()).await?;
        Ok(self.document(base_url, Around::array(), first, read))
    }

    /// Responds with a document around a list whose first page has been read.
    pub fn document<D, T, R, F>(self, base_url: &str, around: Around, first: Paged<T>, read: R) -> Listed<D>
    where
        D: Type,
        T: ToJSON,
        R: Fn(Page) -> F + Send + 'static,
        F: Future<Output = service::ServiceResult<Paged<T>>> + Send + 'static,
    {
        let Around { head, tail } = around;
        let text = head + &first.rows.iter().map(ToJSON::to_json_string).collect::<Vec<_>>().join(",");
        let (body, link) = match (first.next, self.rows_max) {
            (Some(next), None) => (streamed(text, next, read, tail), None),
            (next, _) => (Body::from(text + tail), next.map(|next| self.link(base_url, &next))),
        };
        Listed::Listed(Streamed(body, PhantomData), link)
    }

    /// Responds with a document that is complete.
    pub fn whole<D: ToJSON>(&self, base_url: &str, document: &D, next: Option<&Cursor>) -> Listed<D> {
        let link = next.map(|next| self.link(base_url, next));
        Listed::Listed(Streamed(Body::from(document.to_json_string()), PhantomData), link)
    }

    fn link(&self, base_url: &str, next: &Cursor) -> String {
        link(&self.address, base_url, &next.to_string())
    }
}

/// The value of `Link` (RFC 8288): the request's URL with another `after`.
fn link(address: &Uri, base_url: &str, next: &str) -> String {
    let query = address.query().unwrap_or_default().as_bytes();
    let kept = form_urlencoded::parse(query).filter(|(name, _)| name != AFTER && name != BEFORE);
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(kept).append_pair(AFTER, next);
    format!("<{base_url}{}?{}>; rel=\"next\"", address.path(), query.finish())
}

impl<D: Type + ToJSON> Listed<D> {
    /// A page of a list whose cursors are not a [`Cursor`]. `next` is the cursor of the next page.
    pub fn page(document: &D, next: Option<&str>, limit: &Limit, service: &Service) -> Self {
        let link = limit.link(next, service);
        Self::Listed(Streamed(Body::from(document.to_json_string()), PhantomData), link)
    }
}

/// Sends the rest of a list after its first page. A failure aborts the body, so that no client takes a
/// partial list for a complete one.
fn streamed<T, R, F>(first: String, next: Cursor, read: R, tail: &'static str) -> Body
where
    T: ToJSON,
    R: Fn(Page) -> F + Send + 'static,
    F: Future<Output = service::ServiceResult<Paged<T>>> + Send + 'static,
{
    let rest = stream::try_unfold(Some(next), move |position| {
        let page = position.map(|cursor| read(Page::after(cursor, ROWS_AT_ONCE)));
        async move {
            let Some(page) = page else { return Ok(None) };
            let page = page.await.map_err(|failure| abort(RefusedCall::from(failure)))?;
            let rows = page.rows.iter().map(|row| format!(",{}", row.to_json_string()));
            let mut text: String = rows.collect();
            if page.next.is_none() {
                text.push_str(tail);
            }
            Ok::<_, io::Error>(Some((Bytes::from(text), page.next)))
        }
    });
    let first = stream::once(async { Ok(Bytes::from(first)) });
    Body::from_bytes_stream(futures::StreamExt::chain(first, rest))
}

fn abort(refused: RefusedCall) -> io::Error {
    tracing::error!(error = %refused, "a list response was cut off");
    io::Error::other(refused)
}

impl Around {
    fn array() -> Self {
        Self { head: "[".to_owned(), tail: "]" }
    }

    /// A list as the last field of an object with these other fields.
    pub fn field(name: &str, object: &impl ToJSON) -> Self {
        let mut fields = match object.to_json() {
            Some(Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        fields.remove(name);
        let mut head = Value::Object(fields).to_string();
        head.pop();
        let comma = if head.ends_with('{') { "" } else { "," };
        Self { head: format!("{head}{comma}{}:[", Value::from(name)), tail: "]}" }
    }
}

/// A cursor of one of these lists, as a caller sends it.
pub fn cursor(field: &'static str, text: &str, lists: &[List]) -> Result<Cursor, Refusal> {
    let cursor = text.parse().ok().filter(|cursor: &Cursor| lists.contains(&cursor.list));
    cursor.ok_or_else(|| Refusal::invalid(field, "is not a cursor of this list"))
}

/// A number of rows that a caller asks for.
pub fn rows_max(field: &'static str, requested: u32) -> Result<u32, Refusal> {
    if (1..=Page::ROWS_MAX).contains(&requested) { Ok(requested) } else { Err(malformed_limit(field)) }
}

fn malformed_limit(field: &'static str) -> Refusal {
    Refusal::invalid(field, format!("must be a whole number from 1 to {}", Page::ROWS_MAX))
}

impl Limit {
    /// The value of `Link`, if there is a next page.
    pub fn link(&self, next: Option<&str>, service: &Service) -> Option<String> {
        next.map(|next| link(&self.address, &service.addresses().base_url, next))
    }

    fn read(text: Option<&str>) -> Result<Option<u32>, Refusal> {
        let number = text.map(|text| text.parse().map_err(|_| malformed_limit(LIMIT))).transpose()?;
        number.map(|number| rows_max(LIMIT, number)).transpose()
    }
}

impl QueryParameter for Limit {
    fn of(request: &Request) -> Result<Self, Refusal> {
        let rows_max = Self::read(parameter(request, LIMIT)?.as_deref())?;
        Ok(Self { rows_max, address: request.original_uri().clone() })
    }

    fn schema() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema {
            minimum: Some(1.0),
            maximum: Some(f64::from(Page::ROWS_MAX)),
            example: Some(100.into()),
            ..MetaSchema::new("integer")
        }))
    }
}

impl<T: ListedRow> QueryParameter for After<T> {
    fn of(request: &Request) -> Result<Self, Refusal> {
        let text = parameter(request, AFTER)?;
        let cursor = text.map(|text| cursor(AFTER, &text, T::LISTS)).transpose()?;
        Ok(Self { cursor, rows: PhantomData })
    }

    fn schema() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema {
            pattern: Some(Cursor::pattern(T::LISTS)),
            ..MetaSchema::new("string")
        }))
    }
}

impl<T: FromStr + Send> QueryParameter for AfterId<T> {
    fn of(request: &Request) -> Result<Self, Refusal> {
        let read = |name: &'static str| {
            let unknown = |_| Refusal::invalid(name, "is not the `next` of a list");
            parameter(request, name)?.map(|text| text.parse()).transpose().map_err(unknown)
        };
        Ok(Self(read(AFTER)?.or(read(BEFORE)?)))
    }

    fn schema() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema {
            pattern: Some("^[0-7][0-9A-HJKMNP-TV-Z]{25}$".to_owned()),
            ..MetaSchema::new("string")
        }))
    }
}

query_parameters! {
    Limit;
    After<T> where T: ListedRow;
    AfterId<DecisionId>;
    AfterId<JobId>;
}

impl<T: Type> Payload for Streamed<T> {
    const CONTENT_TYPE: &'static str = <Json<T> as Payload>::CONTENT_TYPE;

    fn check_content_type(content_type: &str) -> bool {
        Json::<T>::check_content_type(content_type)
    }

    fn schema_ref() -> MetaSchemaRef {
        T::schema_ref()
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: Type> IntoResponse for Streamed<T> {
    fn into_response(self) -> Response {
        Response::builder().content_type(Self::CONTENT_TYPE).body(self.0)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use serde_json::json;

    use super::*;

    fn paging(address: &'static str, rows_max: Option<u32>) -> Paging {
        Paging { start: PageStart::First, rows_max, address: Uri::from_static(address) }
    }

    /// The numbers from 1,200 down to 1. Reading fails at `broken_at`.
    async fn read(page: Page, broken_at: i64) -> service::ServiceResult<Paged<i64>> {
        let start = page.start.cursor().map_or(1_201, |cursor| cursor.rank);
        let rows: Vec<i64> = (1..start).rev().take(usize::try_from(page.rows_to_read()).unwrap()).collect();
        if rows.contains(&broken_at) {
            return Err(Refusal::overloaded("the database does not respond").into());
        }
        Ok(page.of(rows, |number| Cursor::numbered(List::Versions, *number)))
    }

    async fn listed(limit: Option<u32>, broken_at: i64) -> (Result<Value, String>, Option<String>) {
        let paging = paging("/v1/things?x=%C3%BC&after=v5&limit=2", limit);
        let list = paging.list_by("https://a.example", move |page| read(page, broken_at)).await.unwrap();
        let Listed::Listed(Streamed(body, _), link) = list;
        let text = body.into_string().await.map_err(|error| error.to_string());
        (text.map(|text| serde_json::from_str(&text).unwrap()), link)
    }

    #[tokio::test]
    async fn list_is_complete_unless_a_page_is_requested() {
        let (whole, link) = listed(None, 0).await;
        assert_eq!((whole, link), (Ok((1..=1_200).rev().collect()), None));
        let (page, link) = listed(Some(2), 0).await;
        assert_eq!(page, Ok(json!([1_200, 1_199])));
        let link = link.unwrap();
        assert_eq!(link, "<https://a.example/v1/things?x=%C3%BC&limit=2&after=v1199>; rel=\"next\"");
        let (page, link) = listed(Some(1_000_000), 0).await;
        assert_eq!((page.unwrap().as_array().unwrap().len(), link), (1_200, None));
    }

    #[tokio::test]
    async fn list_that_fails_midway_aborts_the_response() {
        let (text, _) = listed(None, 10).await;
        assert!(text.is_err(), "{text:?}");
        let paging = paging("/v1/things", None);
        assert!(
            paging.list_by("https://a.example", |page| read(page, 1_190)).now_or_never().unwrap().is_err()
        );
    }

    #[test]
    fn a_limit_is_from_1_to_1000() {
        for good in ["1", "1000"] {
            assert!(Limit::read(Some(good)).is_ok());
        }
        for bad in ["0", "1001", "-1", "abc", "", "1.5", "4294967297"] {
            let refusal = Limit::read(Some(bad)).unwrap_err();
            assert!(refusal.message().starts_with("limit: "), "{refusal}");
        }
        assert_eq!(Limit::read(None).unwrap(), None);
    }

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        assert!(cursor("after", "v17", &[List::Versions]).is_ok());
        for bad in ["l17", "17", ""] {
            let refusal = cursor("after", bad, &[List::Versions]).unwrap_err();
            assert!(refusal.message().starts_with("after: "), "{refusal}");
        }
    }

    #[test]
    fn list_is_serialized_as_the_last_field() {
        let around = Around::field("versions", &json!({ "slug": "a", "versions": [1], "zone": 1 }));
        assert_eq!(around.head + around.tail, r#"{"slug":"a","zone":1,"versions":[]}"#);
        let alone = Around::field("versions", &json!({}));
        assert_eq!(alone.head + alone.tail, r#"{"versions":[]}"#);
    }
}
