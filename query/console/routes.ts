import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type RequestHandler, Router } from 'express';
import type { Domain } from '#kernel/registry/registry.ts';
import { refuseOtherMethods } from '#shared/http/answer-errors.ts';
import { policyOf } from '#shared/policy.ts';
import { type Asset, answerAsset, CSS, createAsset, digestOf, JAVASCRIPT } from '../pages/asset.ts';
import { contentSecurityPolicy } from '../pages/content-security-policy.ts';
import { answerPage } from '../pages/page.ts';
import { domainFacts } from './domain-facts.ts';

export type ConsoleOptions = {
  readonly domain: Domain;
  /** Where people find it. */
  readonly publicUrl: string;
  /** Where it sends them to sign in. */
  readonly issuerUrl: string;
};

/**
 * `GET /console`: the installation, for administrators; and at `/account/webhooks`, the webhooks of whoever has signed in. It is a program
 * in the browser that asks what everybody may ask, by a token of its own; every address below is the same page.
 */
export const consoleRoutes = (options: ConsoleOptions): Router => {
  let served: Router | undefined;
  // Taking the types off takes a moment that a start has no use for.
  const lazily: RequestHandler = (request, response, next) => {
    served ??= serve(options);
    served(request, response, next);
  };
  return (
    Router({ strict: true })
      .get('/console/', (_request, response) => response.redirect(308, '../console'))
      // What it was called before it had the past as well.
      .get('/console/feed', ({ originalUrl }, response) =>
        response.redirect(308, `events${new URL(originalUrl, 'http://relative').search}`),
      )
      .use(['/console', '/account/webhooks'], lazily)
  );
};

const JSON_TYPE = 'application/json';
/** The kernel's own. */
const WEBHOOKS = ['webhook', 'webhooks'] as const;

const serve = (options: ConsoleOptions): Router => {
  const application = readApplication();
  const home = new URL('/console', options.publicUrl).href;
  const scope = ['openid', 'profile', ...policyOf(options.domain).scopes].join(' ');
  const kinds = [...Object.values(options.domain.kinds).map(({ name, path }) => [name, path] as const), WEBHOOKS];
  const domain = createAsset(PAGE, 'domain.json', { type: JSON_TYPE, bytes: Buffer.from(JSON.stringify(domainFacts(options.domain))) });
  const page = consolePage(application, { home, issuer: options.issuerUrl, scope, kinds, domain });
  // The paths of assets are whole, and this is mounted.
  const files = new Map([...application.assets, domain].map((asset) => [asset.path, answerAsset(asset)]));
  const answer = answerPage(page, contentSecurityPolicy([options.publicUrl, options.issuerUrl]));
  return Router()
    .get('/assets/*name', (request, response, next) => {
      const file = files.get(request.baseUrl + request.path);
      if (file === undefined) next('router');
      else file(request, response, next);
    })
    .get('/{*section}', answer)
    .all('/{*section}', refuseOtherMethods('GET', 'HEAD'));
};

/** What the application has to know before it asks for anything. */
type ConsoleFacts = {
  readonly home: string;
  readonly issuer: string;
  readonly scope: string;
  /** What has a history, by the names of streams, and its path. */
  readonly kinds: readonly (readonly [name: string, path: string])[];
  /** Where the declaration is. */
  readonly domain: Asset;
};

/**
 * The same for every address of the console; modules are named so that none waits until another has asked for it. Until they run, it says
 * in a sentence what to do.
 */
const consolePage = (
  { start, styles, assets }: Application,
  { home, issuer, scope, kinds, domain }: ConsoleFacts,
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
<link rel="preload" as="fetch" href="${domain.path}" crossorigin>
<script type="module" src="${start.path}"></script>
</head>
<body data-home="${quoted(home)}" data-issuer="${quoted(issuer)}" data-scope="${quoted(scope)}"
  data-kinds="${quoted(JSON.stringify(kinds))}" data-domain="${domain.path}">
<div id="console"><main class="threshold loading"><p class="brand">Annals <span>Console</span></p><p>The console is being loaded. If it does not appear, <a href="">load it again</a>.</p></main></div>
<noscript><p>The console is a program that runs in your browser, and yours runs none. The same by hand: <code>npm run annals -- help</code>.</p></noscript>
</body>
</html>
`;

const quoted = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

type Application = {
  /** The module that starts it. */
  readonly start: Asset;
  readonly styles: readonly Asset[];
  readonly assets: readonly Asset[];
};

type Library = {
  readonly name: string;
  readonly source: string;
  /** The variable that a script declares; modules export by themselves. */
  readonly exports?: string;
};

/** What of npm the modules import, and under which name a browser gets it. */
const LIBRARIES: Readonly<Record<string, Library>> = {
  preact: { name: 'preact.js', source: 'preact' },
  'preact/hooks': { name: 'preact-hooks.js', source: 'preact/hooks' },
  htm: { name: 'htm.js', source: 'htm' },
  // Its module is not minified, and half as large again.
  uplot: { name: 'uplot.js', source: 'uplot/dist/uPlot.iife.min.js', exports: 'uPlot' },
};

/** What they share with the server, which in the package is compiled, as this module is. */
const SHARED: readonly string[] = ['format', 'installation-health', 'line-diff'];
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const sharedUrl = (name: string): URL => new URL(`../../shared/${name}${EXTENSION}`, import.meta.url);

const ROOT = new URL('./app/', import.meta.url);
const PAGE = '/console';
const START = 'boot.ts';
/** In this order: what comes later counts more. */
const STYLES = ['colours', 'both', 'frame', 'text', 'controls', 'overlays', 'overview', 'lists', 'item', 'data', 'events', 'narrow'];

/**
 * The modules of `app/` as browsers run them: without their types, which Node takes off as it does with ours, and with the names
 * of libraries as addresses. All are below one address that changes with any of them, so that they find each other.
 */
export const readApplication = (): Application => {
  const modules = globSync('**/*.ts', { cwd: fileURLToPath(ROOT), exclude: ['**/*.test.ts'] })
    .toSorted()
    .map((name) => ({ name, type: JAVASCRIPT, text: toBrowser(name, stripTypes(read(new URL(name, ROOT)))) }));
  const libraries = Object.values(LIBRARIES).map((library) => ({ name: library.name, type: JAVASCRIPT, text: libraryText(library) }));
  const shared = SHARED.map((name) => ({
    name: `${name}.js`,
    type: JAVASCRIPT,
    text: toBrowser(`${name}.js`, stripTypes(read(sharedUrl(name)))),
  }));
  const styles = [
    { name: 'uplot.css', type: CSS, text: readPackage('uplot/dist/uPlot.min.css') },
    { name: 'console.css', type: CSS, text: STYLES.map((name) => read(new URL(`style/${name}.css`, ROOT))).join('\n') },
  ];
  const files = [...libraries, ...shared, ...modules, ...styles];
  const digest = digestOf(files.map(({ name, text }) => `${name}\n${text}`).join('\n'));
  const assets = files.map(({ name, type, text }) => createAsset(PAGE, name, { type, bytes: Buffer.from(text) }, digest));
  const start = assets.find(({ path }) => path.endsWith(`/${digest}/${START}`));
  if (start === undefined) throw new Error(`the console has no ${START}`);
  return { start, styles: assets.filter(({ type }) => type === CSS), assets };
};

const libraryText = ({ name, source, exports }: Library): string =>
  exports === undefined ? toBrowser(name, stripTypes(readPackage(source))) : `${readPackage(source)}\nexport default ${exports};\n`;

const read = (url: URL): string => readFileSync(url, 'utf8');
const readPackage = (specifier: string): string => read(new URL(import.meta.resolve(specifier)));

/** Lines of their own, which no browser needs: they would be a tenth of what is sent. */
const COMMENTS = /^[ \t]*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)\n/gm;
/** No text of a page depends on it. */
const INDENT = /^[ \t]+/gm;

/**
 * Written anew, which takes comments out of libraries, too. Node warns that this function may change; it is the one that runs our own
 * sources, and operators can do nothing about it.
 */
const stripTypes = (source: string): string => {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(source.replaceAll(COMMENTS, ''), { mode: 'transform' }).replaceAll(INDENT, '');
  } finally {
    process.emitWarning = emitWarning;
  }
};

const IMPORT = /^(\s*(?:import|export)\b[^'";]*?\bfrom\s*|\s*import\s*)(['"])([^'"]+)\2/gm;
/** As minified modules have it, within a line. */
const PACKED_IMPORT = /(\bfrom)(["'])(preact)\2/g;
const SOURCE_MAP = /^\/\/# sourceMappingURL=.*$/gm;

const toBrowser = (module: string, source: string): string => {
  const up = '../'.repeat(module.split('/').length - 1) || './';
  const addressed = (_whole: string, before: string, quote: string, specifier: string): string => {
    if (specifier.startsWith('.')) return `${before}${quote}${specifier}${quote}`;
    const [, common] = /^#shared\/([\w-]+)\.ts$/.exec(specifier) ?? [];
    const library = common !== undefined && SHARED.includes(common) ? { name: `${common}.js` } : LIBRARIES[specifier];
    if (library === undefined) throw new Error(`${module} of the console imports ${specifier}, which no browser finds`);
    return `${before}${quote}${up}${library.name}${quote}`;
  };
  return source.replace(SOURCE_MAP, '').replace(IMPORT, addressed).replace(PACKED_IMPORT, addressed);
};
