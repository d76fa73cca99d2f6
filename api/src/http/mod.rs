//! HTTP for every route: body limits, uploads, authentication, client addresses, cookies, refusals, lists. It
//! names no route and no page; callers pass in what differs between routes.

pub mod api_result;
pub mod archive_format;
pub mod body;
pub mod call_header;
pub mod caller;
pub mod catch_all;
pub mod client_ip;
pub mod client_wait;
pub mod condition_header;
pub mod cookies;
pub mod dev_mode;
pub mod file_content;
pub mod json_body;
pub mod oauth_parameters;
pub mod only_object;
pub mod operator;
pub mod origin;
pub mod paging;
pub mod path_part;
pub mod paths;
pub mod permits;
pub mod publish_extent;
pub mod publish_type;
pub mod publishing;
pub mod query_parameter;
pub mod refusal;
pub mod representation;
pub mod same_site;
pub mod service_of;
pub mod session_cookie;
pub mod terms;
pub mod trace;
pub mod upload;
pub mod upload_budget;
pub mod version_parameter;
