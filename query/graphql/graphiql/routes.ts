import { readFileSync } from 'node:fs';
import { type RequestHandler, Router } from 'express';
import { type Asset, answerAsset, CSS, createAsset, JAVASCRIPT } from '#edge/pages/asset.ts';
import { answerPage } from '#edge/pages/page.ts';
import { exampleKind, shownFields } from '#kernel/registry/example-kind.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { policyOf } from '#shared/policy.ts';
import { listsOf } from '../rules/names.ts';
import { readEditor } from './editor.ts';

export type GraphiqlOptions = {
  readonly domain: Domain;
  readonly publicUrl: string;
  /** The authorization server, for signing in. */
  readonly issuerUrl: string;
};

/** `GET /graphql` for browsers: a query editor, served entirely from here. */
export const graphiqlRoutes = (options: GraphiqlOptions): Router => {
  let loading: Promise<Router> | undefined;
  const load: RequestHandler = async (request, response, next) => {
    loading ??= createRoutes(options);
    (await loading)(request, response, next);
  };
  return (
    Router()
      // This router would answer OPTIONS with GET alone.
      .options('/graphql', (_request, _response, next) => next('router'))
      .get('/graphql', onlyForBrowsers, load)
      .get('/graphql/assets/:digest/:name', load)
  );
};

const createRoutes = async (options: GraphiqlOptions): Promise<Router> => {
  const assets = await readAssets();
  const router = Router({ strict: true })
    .get('/graphql', answerPage(graphiqlPage(assets, options), contentSecurityPolicyOf(options)))
    // Addresses in the page are relative to the path without the slash.
    .get('/graphql/', (_request, response) => response.redirect(308, '../graphql'));
  for (const asset of Object.values(assets)) router.get(asset.path, answerAsset(asset));
  return router;
};

/** A program may accept anything, but does not prefer HTML. */
const onlyForBrowsers: RequestHandler = (request, response, next) => {
  response.vary('Accept');
  const type = request.accepts(['application/json', 'application/graphql-response+json', 'text/html']);
  next(type === 'text/html' ? undefined : 'route');
};

/**
 * Scripts come from this origin only. The editor creates style sheets by script, and its fonts and icons are
 * data URLs.
 */
const contentSecurityPolicyOf = ({ issuerUrl }: GraphiqlOptions): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    'font-src data:',
    "img-src 'self' data:",
    `connect-src 'self' ${new URL(issuerUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Relative to `/graphql`. */
const hrefOf = ({ path }: { readonly path: string }): string => path.slice(1);

/** The list in the initial query. */
const latestOf = (domain: Domain): { readonly list: string; readonly fields: readonly string[] } => {
  const kind = exampleKind(domain);
  return { list: listsOf(kind), fields: ['id', ...shownFields(kind)] };
};

/** The facts for signing in, which is the console’s client: without it, readers bring a token. */
const signInFacts = ({ domain, publicUrl, issuerUrl }: GraphiqlOptions): string => {
  if (!serves(domain, 'console')) return '';
  const home = `${publicUrl}/graphql`;
  const scope = ['openid', 'profile', ...policyOf(domain).scopes].join(' ');
  return ` data-home="${home}" data-issuer="${issuerUrl}" data-scope="${scope}"`;
};

/** GraphiQL; a script loads the workers of its editors. */
const graphiqlPage = (
  { signIn, bundle, start, theme, style, ...workers }: Assets,
  options: GraphiqlOptions,
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Annals: GraphiQL</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${hrefOf(theme)}">
<link rel="stylesheet" href="${hrefOf(style)}">
<script src="${hrefOf(signIn)}" defer${signInFacts(options)}></script>
<script src="${hrefOf(bundle)}" defer></script>
<script src="${hrefOf(start)}" defer data-editor-worker="${hrefOf(workers.editorWorker)}" data-json-worker="${hrefOf(workers.jsonWorker)}"
  data-graphql-worker="${hrefOf(workers.graphqlWorker)}" data-latest='${JSON.stringify(latestOf(options.domain))}'></script>
</head>
<body>
<main id="graphiql"><p class="loading">GraphiQL is being loaded …</p></main>
<noscript><p>This page needs JavaScript. Programs send queries here by POST, as JSON.</p></noscript>
</body>
</html>
`;

/** Everything that the page loads: nothing comes from elsewhere. */
type Assets = Readonly<
  Record<
    'signIn' | 'bundle' | 'start' | 'theme' | 'style' | 'editorWorker' | 'jsonWorker' | 'graphqlWorker',
    Asset
  >
>;

const asset = (name: string, type: string, content: Buffer | URL): Asset => {
  const bytes = content instanceof URL ? readFileSync(content) : content;
  return createAsset('/graphql', name, { type, bytes });
};
const own = (name: string): URL => new URL(name, import.meta.url);

/** Read when the first browser comes. */
const readAssets = async (): Promise<Assets> => {
  const graphiql = await readEditor();
  return {
    signIn: asset('sign-in.js', JAVASCRIPT, own('./sign-in.js')),
    bundle: asset('graphiql.js', JAVASCRIPT, graphiql.js),
    start: asset('start.js', JAVASCRIPT, own('./start.js')),
    theme: asset('graphiql.css', CSS, graphiql.css),
    style: asset('page.css', CSS, own('./page.css')),
    editorWorker: asset('editor-worker.js', JAVASCRIPT, graphiql.editorWorkerService),
    jsonWorker: asset('json-worker.js', JAVASCRIPT, graphiql.jsonWorker),
    graphqlWorker: asset('graphql-worker.js', JAVASCRIPT, graphiql.graphqlWorker),
  };
};
