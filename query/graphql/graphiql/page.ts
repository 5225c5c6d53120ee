import { exampleKind, shownFields } from '#kernel/registry/example-kind.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { listsOf } from '../rules/names.ts';
import type { Assets } from './assets.ts';

/** Relative to `/graphql`. */
const hrefOf = ({ path }: { readonly path: string }): string => path.slice(1);

/** The list in the initial query. */
const latestOf = (domain: Domain): { readonly list: string; readonly fields: readonly string[] } => {
  const kind = exampleKind(domain);
  return { list: listsOf(kind), fields: ['id', ...shownFields(kind)] };
};

/** GraphiQL; a script loads the workers of its editors. */
export const graphiqlPage = (
  { bundle, start, theme, style, ...workers }: Assets,
  domain: Domain,
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
<script src="${hrefOf(bundle)}" defer></script>
<script src="${hrefOf(start)}" defer data-editor-worker="${hrefOf(workers.editorWorker)}" data-json-worker="${hrefOf(workers.jsonWorker)}"
  data-graphql-worker="${hrefOf(workers.graphqlWorker)}" data-latest='${JSON.stringify(latestOf(domain))}'></script>
</head>
<body>
<main id="graphiql"><p class="loading">GraphiQL is being loaded …</p></main>
<noscript><p>This page needs JavaScript. Programs send queries here by POST, as JSON.</p></noscript>
</body>
</html>
`;
