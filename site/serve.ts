import { type RequestHandler, Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { routesWhenAsked } from '#edge/http/routes-when-asked.ts';
import { answerAsset } from '#edge/pages/asset.ts';
import { contentSecurityPolicy } from '#edge/pages/content-security-policy.ts';
import { answerPage } from '#edge/pages/page.ts';
import { serves } from '#kernel/registry/parts.ts';
import { html } from '#shared/html.ts';
import type { OpenApiOptions } from '../query/openapi/document.ts';
import { type Assets, readAssets } from './assets.ts';
import { errorsPage } from './errors/page.ts';
import { eventsPage } from './events/page.ts';
import { documentOf } from './frame.ts';
import { examplePages, guideGroups } from './guides/pages.ts';
import { type DocsPage, type Group, hrefFrom } from './page/page.ts';
import { FRAME_PATH, PLAYGROUND_PATH, playgroundPage } from './playground/page.ts';
import { REDIRECT_PATH, REST_PATH, redirectPage, restPage } from './rest/page.ts';
import { scopesPage } from './scopes/page.ts';
import { answerIndex, INDEX_PATH } from './search/index.ts';
import { startPage } from './start-page.ts';

/** Serves the whole site. Each page is rendered at its first request. */
export const serveDocs = async (options: OpenApiOptions): Promise<Router> => {
  const assets = readAssets();
  const groups = await readGroups(assets, options);
  const site = { domain: options.domain, groups, assets };
  const asking = contentSecurityPolicy([options.publicUrl, options.issuerUrl]);
  const policies = new Map([
    [REST_PATH, asking],
    [PLAYGROUND_PATH, `${asking}; frame-src 'self'`],
  ]);
  const router = Router({ strict: true }).get(REDIRECT_PATH, answerPage(redirectPage(assets), asking));
  const pages = pagesIn(groups);
  for (const page of pages) {
    let answering: Promise<RequestHandler> | undefined;
    const answer = async (): Promise<RequestHandler> =>
      answerPage(
        documentOf(page, await page.content(), site),
        policies.get(page.path) ?? contentSecurityPolicy(),
      );
    router.get(page.path, async (request, response, next) => {
      answering ??= answer();
      await (await answering)(request, response, next);
    });
  }
  let index: Promise<RequestHandler> | undefined;
  router.get(INDEX_PATH, async (request, response, next) => {
    index ??= answerIndex(pages);
    await (await index)(request, response, next);
  });
  const playground = routesWhenAsked(async () => (await import('./playground/serve.ts')).servePlayground());
  for (const asset of assets.all) router.get(asset.path, answerAsset(asset));
  router.get([FRAME_PATH, '/docs/assets/{*file}'], playground);
  for (const [from, to] of ELSEWHERE)
    router.get(from, (_request, response) => response.redirect(308, hrefFrom(from, to)));
  // A browser gets a page, and a program the problem that every unknown path has.
  router.get('/docs/{*path}', (request, response, next) => {
    if (request.accepts(['json', 'html']) !== 'html') return next();
    const content = { body: NOT_FOUND, sections: [] };
    const page = { path: request.path, title: 'Not found', content: () => content };
    response.status(404).set({
      'Content-Security-Policy': contentSecurityPolicy(),
      'Cache-Control': 'no-store',
      Vary: 'Accept',
    });
    response.type('html').send(documentOf(page, content, site));
  });
  return router.all(
    [REDIRECT_PATH, INDEX_PATH, ...ELSEWHERE.map(([from]) => from), ...pages.map(({ path }) => path)],
    refuseOtherMethods('GET', 'HEAD'),
  );
};

const NOT_FOUND = html`<h1>Not found</h1>
<p>There is no page at this address. Search for it above, or choose a page.</p>`;

/** Redirects of likely addresses. */
const ELSEWHERE = [
  ['/docs/', '/docs'],
  ['/docs/guides', '/docs'],
  ['/docs/examples', '/docs'],
] as const;

/** Every page, in the order of the navigation. */
export const readGroups = async (assets: Assets, options: OpenApiOptions): Promise<readonly Group[]> => {
  const graphql = serves(options.domain, 'graphql')
    ? (await import('./graphql/shown.ts')).shownGraphql
    : undefined;
  return [
    {
      title: 'Reference',
      pages: [
        startPage(options.domain),
        restPage(assets, options, graphql),
        playgroundPage(options),
        ...(graphql === undefined ? [] : [graphql.pageOf(options.domain)]),
        eventsPage(options.domain, graphql),
        errorsPage(options.domain),
        scopesPage(options.domain),
        ...(serves(options.domain, 'webhooks')
          ? [(await import('./webhooks/page.ts')).verificationPage(options.domain)]
          : []),
      ],
    },
    ...guideGroups(assets, new URL(options.publicUrl).origin),
    { title: 'Examples', pages: examplePages() },
  ];
};

export const pagesIn = (groups: readonly Group[]): readonly DocsPage[] =>
  groups.flatMap(({ pages }) => pages);
