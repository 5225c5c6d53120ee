import { type RequestHandler, Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { type Asset, answerAsset, createAsset } from '#edge/pages/asset.ts';
import { contentSecurityPolicy } from '#edge/pages/content-security-policy.ts';
import { answerPage } from '#edge/pages/page.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { servedKindsOf } from '#kernel/webhook/managed-kinds.ts';
import { policyOf } from '#shared/policy.ts';
import { type Application, PAGE, readApplication } from './application.ts';
import { domainFacts } from './derive-facts.ts';

export type ConsoleOptions = {
  readonly domain: Domain;
  readonly publicUrl: string;
  /** The authorization server, for signing in. */
  readonly issuerUrl: string;
};

/**
 * `GET /console`: the installation, for administrators; and `/account/webhooks`: the webhooks of the
 * signed-in user. It is a program in the browser that uses the public interface with a token of its own;
 * every address below is the same page.
 */
export const consoleRoutes = (options: ConsoleOptions): Router => {
  let served: Router | undefined;
  // Lazily, because stripping the types would delay the start.
  const lazily: RequestHandler = (request, response, next) => {
    served ??= serve(options);
    served(request, response, next);
  };
  return (
    Router({ strict: true })
      .get('/console/', (_request, response) => response.redirect(308, '../console'))
      // The earlier address of the events page.
      .get('/console/feed', ({ originalUrl }, response) =>
        response.redirect(308, `events${new URL(originalUrl, 'http://relative').search}`),
      )
      .use(['/console', ...(serves(options.domain, 'webhooks') ? ['/account/webhooks'] : [])], lazily)
  );
};

const JSON_TYPE = 'application/json';

const serve = (options: ConsoleOptions): Router => {
  const application = readApplication();
  const home = new URL('/console', options.publicUrl).href;
  const scope = ['openid', 'profile', ...policyOf(options.domain).scopes].join(' ');
  const kinds = servedKindsOf(options.domain).map(({ name, path }) => [name, path] as const);
  const domain = createAsset(PAGE, 'domain.json', {
    type: JSON_TYPE,
    bytes: Buffer.from(JSON.stringify(domainFacts(options.domain))),
  });
  const page = consolePage(application, { home, issuer: options.issuerUrl, scope, kinds, domain });
  // Assets have absolute paths, but this router is mounted.
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

/** The facts that the application needs before its first request. */
type ConsoleFacts = {
  readonly home: string;
  readonly issuer: string;
  readonly scope: string;
  /** The kinds with a history, by stream name, with their paths. */
  readonly kinds: readonly (readonly [name: string, path: string])[];
  /** The address of the declaration. */
  readonly domain: Asset;
};

/**
 * The same for every address of the console. It preloads the modules of every page, so that none waits for another. Until
 * they run, it shows a sentence that says what to do.
 */
const consolePage = (
  { start, styles, assets, later }: Application,
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
  .filter((asset) => !styles.includes(asset) && !later.includes(asset) && asset !== start)
  .map(({ path }) => `<link rel="modulepreload" href="${path}">`)
  .join('\n')}
<link rel="preload" as="fetch" href="${domain.path}" crossorigin>
<script type="module" src="${start.path}"></script>
</head>
<body data-home="${quoted(home)}" data-issuer="${quoted(issuer)}" data-scope="${quoted(scope)}"
  data-kinds="${quoted(JSON.stringify(kinds))}" data-domain="${domain.path}">
<div id="console"><main class="threshold loading"><p class="brand">Annals <span>Console</span></p><p>The console is being loaded. If it does not appear, <a href="">reload the page</a>.</p></main></div>
<noscript><p>The console needs JavaScript. Use the command line instead: <code>npm run annals -- help</code>.</p></noscript>
</body>
</html>
`;

const quoted = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
