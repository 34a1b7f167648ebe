//! Makes and shows projects.

use bourse_store::{KeyTerms, Project, ProjectScope};
use bourse_wire::{Error, Text};
use serde_json::{Value, json};

use crate::cli::{Common, ProjectCommand};
use crate::commands::{grant, key, token};
use crate::context::{CommandError, Context};
use crate::output::{print, table};

pub(super) async fn run(common: &Common, command: ProjectCommand) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    match command {
        ProjectCommand::Create { name } => {
            let created = create(&context, &name, key::unlimited("default")).await?;
            let scope = ProjectScope::of_operator(created.project.id);
            let grants = context.store.grants(scope).await?;
            let value = json!({
                "projectId": created.project.id,
                "name": created.project.name,
                "accessKey": created.access_key,
                "secretToken": created.secret_token,
                "grants": grants.iter().map(grant::record).collect::<Value>(),
            });
            print(common.json, &value, || {
                format!(
                    "Made project {} ({}).\n\nAccess key (public, for the X-Access-Key header):\n  {}\n\n\
                    Secret token (for the Authorization: Bearer header; keep it secret, it is not shown again):\n  {}\n\n{}",
                    created.project.id,
                    created.project.name,
                    created.access_key,
                    created.secret_token,
                    grant::advice(created.project.id, &grants)
                )
            })
        }
        ProjectCommand::List => {
            let projects = context.store.projects().await?;
            print(common.json, &projects.iter().map(record).collect(), || {
                let rows = projects.iter().map(|project| {
                    [project.id.to_string(), project.name.clone(), project.created_at.to_string()]
                });
                table(["ID", "NAME", "CREATED"], rows.collect())
            })
        }
        ProjectCommand::Show { project } => {
            let scope = ProjectScope::of_operator(project);
            let project = context.store.project(project).await?;
            let keys = context.store.access_keys(scope).await?;
            let tokens = context.store.secret_tokens(scope).await?;
            let mut value = record(&project);
            value["accessKeys"] = keys.iter().map(key::record).collect();
            value["secretTokens"] = tokens.iter().map(token::record).collect();
            print(common.json, &value, || {
                format!(
                    "Project {} ({}), made {}\n\nAccess keys\n{}\n\nSecret tokens\n{}",
                    project.id,
                    project.name,
                    project.created_at,
                    key::list(&keys),
                    token::list(&tokens, context.clock.now())
                )
            })
        }
    }
}

/// A project just made, with credentials that are shown this once.
pub(crate) struct CreatedProject {
    pub(crate) project: Project,
    pub(crate) access_key: String,
    pub(crate) secret_token: String,
}

/// Makes a project with a key and a token.
pub(crate) async fn create(
    context: &Context,
    name: &str,
    terms: KeyTerms,
) -> Result<CreatedProject, CommandError> {
    if name.trim().is_empty() {
        return Err(Error::invalid("name", "must not be empty").into());
    }
    let name: Text<256> = name.parse().map_err(|error| Error::invalid("name", error))?;
    let project = context.store.create_project(name, context.actor()).await?;
    let scope = ProjectScope::of_operator(project.id);
    let (access_key, _) = key::create(context, scope, terms).await?;
    let (secret_token, _) = token::create(context, scope, "default", None).await?;
    Ok(CreatedProject { project, access_key, secret_token })
}

fn record(project: &Project) -> Value {
    json!({ "projectId": project.id, "name": project.name, "createdAt": project.created_at })
}
