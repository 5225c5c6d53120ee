import type { Assets } from './assets.ts';

/** Relative to `/docs`. */
const hrefOf = ({ path }: { readonly path: string }): string => path.slice(1);

/** The reference; without scripts it says where the same stands for programs. */
export const referencePage = ({ bundle, start, theme, style }: Assets): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Annals: the REST interface</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${hrefOf(theme)}">
<link rel="stylesheet" href="${hrefOf(style)}">
<script src="${hrefOf(bundle)}" defer></script>
<script src="${hrefOf(start)}" defer></script>
</head>
<body>
<main id="reference"></main>
<noscript><p>This page needs scripts. The same for programs: <a href="openapi.json">openapi.json</a>.</p></noscript>
</body>
</html>
`;

/** Where the authorization server sends the window that the reference has opened for signing in; relative to `/docs/`. */
export const redirectPage = ({ redirect }: Assets): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Signing in</title>
<body>
<script src="../${hrefOf(redirect)}"></script>
</body>
</html>
`;
