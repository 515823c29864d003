//! The protocol as OpenAPI 3.1. The examples are run by `tests/protocol.rs`.

use utoipa::openapi::schema::AnyOf;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{Modify, OpenApi};

use crate::answer::Answer;
use crate::problem::Problem;
use crate::question::{Opening, Release};
use crate::view::{Ask, Asked, ChildView, DatasetView, Me, Preview, Released};

/// The document.
pub fn document() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "queryables",
        description = "Questions about datasets, under a privacy budget. Errors are \
            `application/problem+json` with a `code` from a fixed list; nothing in them depends on data.",
    ),
    paths(
        healthz, metrics, me, datasets, dataset, preview, release, children_open, record, children, child,
        ask, close, share_preview, share_release, share_open
    ),
    components(schemas(Answer, Problem, Release, Opening)),
    modifiers(&Bearer),
    security(("token" = []))
)]
struct Document;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
        // A number without its interval is a count, too: an answer may be read in more than one way.
        let answer = components.schemas.get_mut("Answer");
        if let Some(RefOr::T(schema)) = answer
            && let Schema::OneOf(one) = schema
        {
            let mut any = AnyOf::new();
            any.items = std::mem::take(&mut one.items);
            any.description = one.description.take();
            *schema = Schema::AnyOf(any);
        }
    }
}

macro_rules! paths {
    ($($(#[$attribute:meta])* $name:ident;)*) => {
        $(
            $(#[$attribute])*
            #[allow(dead_code, reason = "described, and handled elsewhere")]
            fn $name() {}
        )*
    };
}

paths! {
    /// Whether the server runs.
    #[utoipa::path(get, path = "/healthz", security(()),
        responses((status = 200, description = "It does.", content_type = "text/plain", body = String)))]
    healthz;

    /// Counters for Prometheus. Needs the curator's token.
    #[utoipa::path(get, path = "/metrics",
        responses((status = 200, content_type = "text/plain", body = String, description = "Counters."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    metrics;

    /// Who has the token of the request, and what it is for.
    #[utoipa::path(get, path = "/v1/me",
        responses((status = 200, body = Me, description = "Name and role."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    me;

    /// The datasets that the caller may see.
    #[utoipa::path(get, path = "/v1/datasets",
        responses((status = 200, body = Vec<DatasetView>, description = "Schemas and budgets."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    datasets;

    /// One dataset: its schema, its budget, and what is left of the caller's quota.
    #[utoipa::path(get, path = "/v1/datasets/{name}", params(("name" = String, Path)),
        responses((status = 200, body = DatasetView, description = "Schema and budget."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    dataset;

    /// What a launch would cost, how often it fits, and how accurate it would be. Charges nothing. The
    /// body is what `release` or `children` would be sent.
    #[utoipa::path(post, path = "/v1/datasets/{name}/preview", params(("name" = String, Path)),
        request_body = Release,
        responses((status = 200, body = Preview, description = "The cost."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    preview;

    /// Answers once. With an `Idempotency-Key`, a repeated request gets the same answer and is charged
    /// once, also after a crash.
    #[utoipa::path(post, path = "/v1/datasets/{name}/release",
        params(("name" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
        request_body = Release,
        responses((status = 200, body = Released, description = "The answer."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error."),
            (status = "5XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    release;

    /// Opens a child, which is asked questions or launches others. With an `Idempotency-Key`, a repeated
    /// request gets the same child and is charged once. A share has none: its name is its key.
    #[utoipa::path(post, path = "/v1/datasets/{name}/children",
        params(("name" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
        request_body = Opening,
        responses((status = 201, body = ChildView, description = "The child."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error."),
            (status = "5XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    children_open;

    /// The lines of the ledger (`spec/ledger.md`). Needs the curator's token.
    #[utoipa::path(get, path = "/v1/datasets/{name}/record", params(("name" = String, Path)),
        responses((status = 200, content_type = "application/jsonl", body = String, description = "JSON Lines."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    record;

    /// The caller's own children.
    #[utoipa::path(get, path = "/v1/children",
        responses((status = 200, body = Vec<ChildView>, description = "Those that are open."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    children;

    /// One of the caller's own children.
    #[utoipa::path(get, path = "/v1/children/{child}", params(("child" = String, Path)),
        responses((status = 200, body = ChildView, description = "The child."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    child;

    /// Asks a child. A question has a number: the same number and question get the same answer.
    #[utoipa::path(post, path = "/v1/children/{child}/ask", params(("child" = String, Path)),
        request_body = Ask,
        responses((status = 200, body = Asked, description = "The answer."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error."),
            (status = "5XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    ask;

    /// Ends a child. Its charge stands.
    #[utoipa::path(delete, path = "/v1/children/{child}", params(("child" = String, Path)),
        responses((status = 204, description = "It has ended."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    close;

    /// As the preview of a dataset, in a share.
    #[utoipa::path(post, path = "/v1/children/{child}/preview", params(("child" = String, Path)),
        request_body = Release,
        responses((status = 200, body = Preview, description = "The cost."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    share_preview;

    /// As the release of a dataset, in a share.
    #[utoipa::path(post, path = "/v1/children/{child}/release",
        params(("child" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
        request_body = Release,
        responses((status = 200, body = Released, description = "The answer."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error."),
            (status = "5XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    share_release;

    /// As the children of a dataset, in a share.
    #[utoipa::path(post, path = "/v1/children/{child}/children",
        params(("child" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
        request_body = Opening,
        responses((status = 201, body = ChildView, description = "The child."),
            (status = "4XX", body = Problem, content_type = "application/problem+json", description = "An error."),
            (status = "5XX", body = Problem, content_type = "application/problem+json", description = "An error.")))]
    share_open;
}
