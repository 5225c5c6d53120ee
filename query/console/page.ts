import type { Application } from './application.ts';

/** What the application has to know before it asks for anything. */
export type ConsoleFacts = {
  readonly home: string;
  readonly issuer: string;
  readonly scope: string;
  /** What has a history, by the names of streams, and its path. */
  readonly kinds: readonly (readonly [name: string, path: string])[];
};

/** The same for every address of the console; modules are named so that none waits until another has asked for it. */
export const consolePage = (
  { start, styles, assets }: Application,
  { home, issuer, scope, kinds }: ConsoleFacts,
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Console · Annals</title>
<link rel="icon" href="data:,">
${styles.map(({ path }) => `<link rel="stylesheet" href="${path}">`).join('\n')}
${assets
  .filter((asset) => !styles.includes(asset) && asset !== start)
  .map(({ path }) => `<link rel="modulepreload" href="${path}">`)
  .join('\n')}
<script type="module" src="${start.path}"></script>
</head>
<body data-home="${quoted(home)}" data-issuer="${quoted(issuer)}" data-scope="${quoted(scope)}"
  data-kinds="${quoted(JSON.stringify(kinds))}">
<div id="console"></div>
<noscript><p>The console is a program that runs in your browser, and yours runs none. The same by hand: <code>npm run annals -- help</code>.</p></noscript>
</body>
</html>
`;

const quoted = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
