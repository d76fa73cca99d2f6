//! The table of all routes, one line for each method of a path: pattern, handler, body limit, permit class,
//! and who may call it. The lines of one pattern must stand together.

use poem::RouteMethod;

use super::RouteLine;
use crate::http::terms::{Area, Audience, BodyLimit, PermitClass, Terms};
use crate::pages::dashboard::{
    self, artifact_page, artifacts, audit, bulk, changes, credit, deleted, duplicate, export, naming,
    private_link, rename, team, tokens, usage, version_deletion, visibility,
};
use crate::pages::{published, welcome};
use crate::{admin, documents, mcp, netlify, oauth, pages};

macro_rules! terms {
    ($area:ident, $body:ident, $permit:ident, $audience:ident) => {
        Terms {
            area: Area::$area,
            body: BodyLimit::$body,
            permit: PermitClass::$permit,
            audience: Audience::$audience,
        }
    };
}

/// Lines with handlers: `area: method pattern, handler, body limit, permit, who may call;`.
macro_rules! handled {
    (
        $area:ident:
        $($method:ident $pattern:expr, $handler:expr, $body:ident, $permit:ident, $audience:ident;)+
    ) => {
        &[$(RouteLine {
            method: stringify!($method),
            pattern: $pattern,
            page: Some(|methods: RouteMethod| methods.$method($handler)),
            terms: terms!($area, $body, $permit, $audience),
        },)+]
    };
}

/// Lines of pages.
macro_rules! pages {
    ($($line:tt)+) => { handled! { Page: $($line)+ } };
}

/// Lines whose handlers are found elsewhere: by poem-openapi for REST, by the MCP library for MCP.
macro_rules! calls {
    ($area:ident: $($method:ident $pattern:expr, $body:ident, $permit:ident, $audience:ident;)+) => {
        &[$(RouteLine {
            method: stringify!($method),
            pattern: $pattern,
            page: None,
            terms: terms!($area, $body, $permit, $audience),
        },)+]
    };
}

/// Operations of `rest`, found by poem-openapi.
pub const REST: &[RouteLine] = calls! { Api:
    get    "/v1/status",                               Small,  Free,    Anyone;
    post   "/auth/register",                           Small,  SignIn,  Anyone;
    post   "/auth/login",                              Small,  SignIn,  Anyone;
    post   "/auth/logout",                             Small,  Request, Anyone;
    get    "/auth/me",                                 Small,  Request, Person;
    get    "/auth/dev",                                Small,  Request, Anyone;
    post   "/v1/signup",                               Small,  Request, Anyone;
    get    "/v1/account",                              Small,  Request, Account;
    patch  "/v1/account",                              Small,  Request, Account;
    post   "/v1/account/claim-link",                   Small,  Request, Account;
    get    "/v1/usage",                                Small,  Request, Account;
    get    "/v1/account/audit",                        Small,  Request, Account;
    get    "/v1/account/ledger",                       Small,  Request, Account;
    get    "/v1/account/export",                       Small,  Request, Account;
    get    "/v1/tokens",                               Small,  Request, Account;
    post   "/v1/tokens",                               Small,  Request, Account;
    delete "/v1/tokens/:id",                           Small,  Request, Account;
    post   "/v1/tokens/revoke",                        Small,  Request, Anyone;
    post   "/v1/account/invites",                      Small,  Request, Account;
    get    "/v1/account/invites",                      Small,  Request, Account;
    delete "/v1/account/invites/:code",                Small,  Request, Account;
    post   "/v1/account/join",                         Small,  Request, Anyone;
    get    "/v1/account/members",                      Small,  Request, Account;
    delete "/v1/account/members/:user_id",             Small,  Request, Account;
    post   "/v1/publish",                              Publish, Request, Account;
    get    "/v1/artifacts",                            Small,  Request, Account;
    get    "/v1/artifacts/:slug",                      Small,  Request, Account;
    patch  "/v1/artifacts/:slug",                      Small,  Request, Account;
    post   "/v1/artifacts/:slug/appeal",               Small,  Request, Account;
    delete "/v1/artifacts/:slug",                      Small,  Request, Account;
    post   "/v1/artifacts/:slug/versions",             Publish, Request, Account;
    delete "/v1/artifacts/:slug/versions/:seq",        Small,  Request, Account;
    post   "/v1/artifacts/:slug/activate",             Small,  Request, Account;
    post   "/v1/artifacts/:slug/restore",              Small,  Request, Account;
    post   "/v1/artifacts/:slug/private-link",         Small,  Request, Account;
    get    "/v1/artifacts/:slug/archive",              Small,  Request, Account;
    get    "/v1/artifacts/:slug/diff",                 Small,  Request, Account;
    get    "/v1/artifacts/:slug/files",                Small,  Request, Account;
    get    "/v1/artifacts/:slug/files/:path",          Small,  Request, Account;
    post   "/v1/uploads/:ticket",                      Upload, Request, Anyone;
    put    "/v1/uploads/:ticket",                      Upload, Request, Anyone;
    post   "/v1/credits",                              Small,  Request, Account;
    post   "/v1/credits/checkout",                     Small,  Request, Person;
    post   "/webhooks/card-processor",                 Event,  Request, Anyone;
    post   "/v1/reports",                              Small,  Request, Anyone;
    post   "/v1/moderation/:slug",                     Small,  Request, Person;
    post   "/internal/run-metering",                   Small,  Request, Operator;
    post   "/internal/run-cleanup",                    Small,  Request, Operator;
    post   "/internal/views",                          Small,  Request, Operator;
    post   "/internal/credit",                         Small,  Request, Operator;
    get    "/internal/moderation",                     Small,  Request, Operator;
    get    "/internal/moderation/:host",               Small,  Request, Operator;
    post   "/internal/moderation/:host",               Small,  Request, Operator;
    get    "/internal/audit",                          Small,  Request, Operator;
    get    "/internal/blocked-contents",               Small,  Request, Operator;
    delete "/internal/blocked-contents/:sha256",       Small,  Request, Operator;
    post   "/internal/accounts/:handle/suspend",       Small,  Request, Operator;
    post   "/internal/accounts/:handle/lift",          Small,  Request, Operator;
    get    "/internal/queues",                         Small,  Request, Operator;
    get    "/internal/queues/:queue/jobs",             Small,  Request, Operator;
    get    "/internal/queues/:queue/jobs/:id",         Small,  Request, Operator;
    post   "/internal/queues/:queue/jobs/:id/retry",   Small,  Request, Operator;
    post   "/internal/queues/:queue/jobs/:id/cancel",  Small,  Request, Operator;
    post   "/internal/queues/:queue/jobs/:id/discard", Small,  Request, Operator;
    post   "/internal/queues/:queue/pause",            Small,  Request, Operator;
    post   "/internal/queues/:queue/resume",           Small,  Request, Operator;
    post   "/internal/queues/:queue/requeue-dead",     Small,  Request, Operator;
    post   "/internal/queues/:queue/discard-dead",     Small,  Request, Operator;
    get    "/internal/schedules",                      Small,  Request, Operator;
    post   "/internal/schedules/:schedule/run",        Small,  Request, Operator;
};

/// Documents, built by `documents`.
pub const DOCUMENTS: &[RouteLine] = calls! { Api:
    get    "/openapi.json",                            Small,  Request, Anyone;
    get    "/openapi-3.1.json",                        Small,  Request, Anyone;
    get    "/skill",                                   Small,  Request, Anyone;
    get    "/skill/reference.md",                      Small,  Request, Anyone;
    get    "/skill/reference/:page",                   Small,  Request, Anyone;
    get    "/llms.txt",                                Small,  Request, Anyone;
    get    "/robots.txt",                              Small,  Request, Anyone;
    get    "/favicon.ico",                             Small,  Request, Anyone;
    get    documents::SECURITY_TXT,                    Small,  Request, Anyone;
    get    documents::SECURITY_TXT_AT_ROOT,            Small,  Request, Anyone;
    get    documents::SERVER_JSON,                     Small,  Request, Anyone;
    get    documents::AGENT_SKILLS,                    Small,  Request, Anyone;
    get    documents::API_CATALOG,                     Small,  Request, Anyone;
};

/// The documentation for people, built by `documents`. People get errors there as pages.
pub const MANUAL: &[RouteLine] = calls! { Page:
    get "/docs",                                    Small, Request, Anyone;
    get "/docs/errors",                             Small, Request, Anyone;
    get "/docs/search",                             Small, Request, Anyone;
    get "/docs/search.json",                        Small, Request, Anyone;
    get "/docs/reference",                          Small, Request, Anyone;
    get "/docs/reference/:group",                   Small, Request, Anyone;
    get "/docs/:guide",                             Small, Request, Anyone;
};

/// The MCP endpoint.
pub const MCP: &[RouteLine] = calls! { Mcp:
    post   mcp::PATH, Message, Request, Token;
};

/// The OAuth endpoints for programs. Their documents describe them.
pub const OAUTH: &[RouteLine] = handled! { Api:
    get  oauth::metadata::RESOURCE,     oauth::metadata::resource, Small, Request, Anyone;
    get  oauth::metadata::RESOURCE_MCP, oauth::metadata::resource, Small, Request, Anyone;
    get  oauth::metadata::RESOURCE_V1,  oauth::metadata::resource, Small, Request, Anyone;
    get  oauth::metadata::SERVER,       oauth::metadata::server,   Small, Request, Anyone;
    post "/oauth/register",             oauth::register::register, Small, Request, Anyone;
    post "/oauth/token",                oauth::tokens::issue,      Small, Request, Anyone;
    post "/oauth/revoke",               oauth::tokens::revoke,     Small, Request, Anyone;
    post "/oauth/device_authorization", oauth::devices::begin,     Small, Request, Anyone;
};

/// What `netlify deploy` calls.
pub const NETLIFY: &[RouteLine] = handled! { Netlify:
    get  "/netlify/api/v1/sites",                      netlify::sites::list,        Small,  Request, Token;
    get  "/netlify/api/v1/sites/:site",                netlify::sites::show,        Small,  Request, Token;
    post "/netlify/api/v1/sites/:site/deploys",        netlify::deploys::begin,     Small,  Request, Token;
    get  "/netlify/api/v1/sites/:site/deploys/:id",    netlify::deploys::show,      Small,  Request, Token;
    put  "/netlify/api/v1/sites/:site/deploys/:id",    netlify::deploys::set_files, Small,  Request, Token;
    put  "/netlify/api/v1/deploys/:id/files/*path",    netlify::receive,            Upload, Request, Token;
    post "/netlify/api/v1/deploys/:id/cancel",         netlify::deploys::cancel,    Small,  Request, Token;
    get  "/netlify/api/v1/accounts",                   netlify::sites::accounts,    Small,  Request, Token;
    get  "/netlify/api/v1/accounts/:account/env",      netlify::sites::environment, Small,  Request, Token;
};

/// Public pages and pages of user accounts.
pub const PAGES: &[RouteLine] = pages! {
    get  "/",                        pages::home::show,                        Small, Request, Anyone;
    post "/",                        pages::home::publish,                     Form,  Request, Anyone;
    get  "/published/:code/:slug",   pages::published::show,                   Small, Request, Anyone;
    get  "/assets/:name",            pages::assets::show,                      Small, Request, Anyone;
    get  "/claim/:code",             pages::claim::show,                       Small, Request, Anyone;
    post "/claim/:code",             pages::claim::claim,                      Small, SignIn,  PersonOrBody;
    get  "/invite/:code",            pages::invite::show,                      Small, Request, Anyone;
    post "/invite/:code",            pages::invite::join,                      Small, Request, Person;
    get  "/oauth/authorize",         pages::oauth::show_authorization,         Small, Request, Anyone;
    post "/oauth/authorize",         pages::oauth::decide_authorization,       Small, Request, Anyone;
    get  pages::oauth::DEVICE_PATH,  pages::oauth::show_device,                Small, Request, Anyone;
    post pages::oauth::DEVICE_PATH,  pages::oauth::decide_device,              Small, Request, Anyone;
    get  "/report",                  pages::report::show,                      Small, Request, Anyone;
    post "/report",                  pages::report::report,                    Small, Request, Anyone;
    get  pages::report::THANKS,      pages::report::thank,                     Small, Request, Anyone;
    get  pages::styleguide::PATH,    pages::styleguide::show,                  Small, Request, Anyone;
    get  "/signin",                  pages::signin::show,                      Small, Request, Anyone;
    post "/signin",                  pages::signin::sign_in,                   Small, SignIn,  Anyone;
    post "/signout",                 pages::signin::sign_out,                  Small, Request, Anyone;
    get  pages::you::PATH,           pages::you::show,                         Small, Request, Person;
    get  "/you/password",            pages::you::to_the_form,                  Small, Request, Person;
    post "/you/password",            pages::you::change_password,              Small, SignIn,  Person;
    get  "/you/sessions/:id/end",    pages::you::to_the_form,                  Small, Request, Person;
    post "/you/sessions/:id/end",    pages::you::end_session,                  Small, Request, Person;
    get  "/you/sign-out-everywhere", pages::you::to_the_form,                  Small, Request, Person;
    post "/you/sign-out-everywhere", pages::you::sign_out_everywhere,          Small, Request, Person;
};

/// Pages of the account dashboard.
pub const DASHBOARD: &[RouteLine] = pages! {
    get  "/dashboard",                                   dashboard::index,             Small, Request, Person;
    get  "/dashboard/",                                  dashboard::index,             Small, Request, Person;
    get  "/dashboard/:handle",                           artifacts::show,              Small, Request, Person;
    get  "/dashboard/:handle/welcome",                   welcome::show,                Small, Request, Person;
    get  "/dashboard/:handle/pages/:slug",               artifact_page::show,          Small, Request, Person;
    get  "/dashboard/:handle/pages/:slug/published",     published::show_to_member,    Small, Request, Person;
    get  "/dashboard/:handle/pages/:slug/activate",      dashboard::to_the_form,       Small, Request, Person;
    post "/dashboard/:handle/pages/:slug/activate",      artifact_page::activate,      Small, Request, Person;
    get  "/dashboard/:handle/pages/:slug/appeal",        dashboard::to_the_form,       Small, Request, Person;
    post "/dashboard/:handle/pages/:slug/appeal",        artifact_page::send_appeal,   Small, Request, Person;
    get  "/dashboard/:handle/pages/:slug/visibility",    dashboard::to_the_form,       Small, Request, Person;
    post "/dashboard/:handle/pages/:slug/visibility",    visibility::set,              Small, Request, Person;
    get  "/dashboard/:handle/pages/:slug/private-link",  private_link::ask,            Small, Request, Person;
    post "/dashboard/:handle/pages/:slug/private-link",  private_link::rotate,         Small, Request, Person;
    get  "/dashboard/:handle/pages/:slug/changes",       changes::show,                Small, Request, Person;
    get  "/dashboard/:handle/pages/:slug/delete",        artifact_page::ask_to_delete, Small, Request, Person;
    post "/dashboard/:handle/pages/:slug/delete",        artifact_page::delete,        Small, Request, Person;
    get  "/dashboard/:handle/pages/:slug/delete/:seq",   version_deletion::ask,        Small, Request, Person;
    post "/dashboard/:handle/pages/:slug/delete/:seq",   version_deletion::delete,     Small, Request, Person;
    get  "/dashboard/:handle/pages/:slug/duplicate",     duplicate::show,              Small, Request, Person;
    post "/dashboard/:handle/pages/:slug/duplicate",     duplicate::duplicate,         Small, Request, Person;
    get  "/dashboard/:handle/pages/:slug/rename",        rename::show,                 Small, Request, Person;
    post "/dashboard/:handle/pages/:slug/rename",        rename::rename,               Small, Request, Person;
    get  "/dashboard/:handle/bulk",                      bulk::ask,                    Small, Request, Person;
    post "/dashboard/:handle/bulk",                      bulk::start,                  Small, Request, Person;
    get  "/dashboard/:handle/team/name",                 dashboard::to_the_form,       Small, Request, Person;
    post "/dashboard/:handle/team/name",                 naming::set,                  Small, Request, Person;
    get  "/dashboard/:handle/deleted",                   deleted::show,                Small, Request, Person;
    get  "/dashboard/:handle/deleted/:id/restore",       dashboard::to_the_form,       Small, Request, Person;
    post "/dashboard/:handle/deleted/:id/restore",       deleted::restore,             Small, Request, Person;
    get  "/dashboard/:handle/deleted/:id/purge",         deleted::ask_to_purge,        Small, Request, Person;
    post "/dashboard/:handle/deleted/:id/purge",         deleted::purge,               Small, Request, Person;
    get  "/dashboard/:handle/usage",                     usage::show,                  Small, Request, Person;
    get  "/dashboard/:handle/credit",                    credit::show,                 Small, Request, Person;
    get  "/dashboard/:handle/credit/top-up",             dashboard::to_the_form,       Small, Request, Person;
    post "/dashboard/:handle/credit/top-up",             credit::top_up,               Small, Request, Person;
    get  "/dashboard/:handle/credit/checkout",           dashboard::to_the_form,       Small, Request, Person;
    post "/dashboard/:handle/credit/checkout",           credit::check_out,            Small, Request, Person;
    get  "/dashboard/:handle/team",                      team::show,                   Small, Request, Person;
    get  "/dashboard/:handle/team/agent-join",           dashboard::to_the_form,       Small, Request, Person;
    post "/dashboard/:handle/team/agent-join",           team::set_agent_join,         Small, Request, Person;
    get  "/dashboard/:handle/team/invites",              dashboard::to_the_form,       Small, Request, Person;
    post "/dashboard/:handle/team/invites",              team::make_invite,            Small, Request, Person;
    get  "/dashboard/:handle/team/invites/:code/revoke", team::ask_to_revoke,          Small, Request, Person;
    post "/dashboard/:handle/team/invites/:code/revoke", team::revoke,                 Small, Request, Person;
    get  "/dashboard/:handle/team/members/:id/remove",   team::ask_to_remove,          Small, Request, Person;
    post "/dashboard/:handle/team/members/:id/remove",   team::remove,                 Small, Request, Person;
    get  "/dashboard/:handle/export",                    export::download,             Small, Request, Person;
    get  "/dashboard/:handle/audit",                     audit::show,                  Small, Request, Person;
    get  "/dashboard/:handle/tokens",                    tokens::show,                 Small, Request, Person;
    get  "/dashboard/:handle/tokens/mint",               dashboard::to_the_form,       Small, Request, Person;
    post "/dashboard/:handle/tokens/mint",               tokens::mint,                 Small, Request, Person;
    get  "/dashboard/:handle/tokens/:id/revoke",         tokens::ask_to_revoke,        Small, Request, Person;
    post "/dashboard/:handle/tokens/:id/revoke",         tokens::revoke,               Small, Request, Person;
    get  "/dashboard/:handle/tokens/:id/rotate",         tokens::ask_to_rotate,        Small, Request, Person;
    post "/dashboard/:handle/tokens/:id/rotate",         tokens::rotate,               Small, Request, Person;
};

/// Pages of the operator's staff.
pub const ADMIN: &[RouteLine] = pages! {
    get  admin::SIGN_IN,                               admin::signin::show,        Small, Request, StaffSignIn;
    post admin::SIGN_IN,                               admin::signin::sign_in,     Small, SignIn,  StaffSignIn;
    get  "/admin",                                     admin::index,               Small, Request, Staff;
    get  "/admin/",                                    admin::index,               Small, Request, Staff;
    post "/admin/signout",                             admin::signin::sign_out,    Small, Request, Staff;
    get  admin::QUEUE,                                 admin::queue::show,         Small, Request, Staff;
    post admin::QUEUE,                                 admin::bulk::decide,        Small, Request, Staff;
    get  "/admin/moderation/:host",                    admin::case::show,          Small, Request, Staff;
    post "/admin/moderation/:host",                    admin::decision::decide,    Small, Request, Staff;
    post "/admin/moderation/:host/account",            admin::suspension::decide,  Small, Request, Staff;
    get  "/admin/moderation/:host/source/:seq/*path",  admin::preview::source,     Small, Request, Staff;
    get  admin::contents::PATH,                        admin::contents::show,      Small, Request, Staff;
    post admin::contents::PATH,                        admin::contents::unblock,   Small, Request, Staff;
    get  "/admin/audit",                               admin::audit::show,         Small, Request, Staff;
    get  admin::queues::BOARD,                         admin::queues::board::show, Small, Request, Staff;
    post admin::queues::BOARD,                         admin::queues::board::run,  Small, Request, Staff;
    get  "/admin/queues/:queue",                       admin::queues::jobs::show,  Small, Request, Staff;
    post "/admin/queues/:queue",                       admin::queues::jobs::steer, Small, Request, Staff;
    get  "/admin/queues/:queue/:id",                   admin::queues::job::show,   Small, Request, Staff;
    post "/admin/queues/:queue/:id",                   admin::queues::job::steer,  Small, Request, Staff;
    get  "/admin/moderation/:host/preview/:seq/*path", admin::preview::show,       Small, Request, StaffOrTicket;
};
