import { type RequestHandler, Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { answerAsset } from '#edge/pages/asset.ts';
import { contentSecurityPolicy } from '#edge/pages/content-security-policy.ts';
import { answerPage } from '#edge/pages/page.ts';
import { html } from '#shared/html.ts';
import type { OpenApiOptions } from '../query/openapi/document.ts';
import { readAssets } from './assets.ts';
import { documentOf } from './frame.ts';
import { hrefFrom } from './page/page.ts';
import { REDIRECT_PATH, REST_PATH, redirectPage } from './rest/page.ts';
import { answerIndex, INDEX_PATH } from './search/index.ts';
import { pagesIn, readGroups } from './site.ts';

/** Serves the whole site. Each page is rendered at its first request. */
export const serveDocs = async (options: OpenApiOptions): Promise<Router> => {
  const assets = readAssets();
  const groups = await readGroups(assets, options);
  const site = { domain: options.domain, groups, assets };
  const asking = contentSecurityPolicy([options.publicUrl, options.issuerUrl]);
  const router = Router({ strict: true }).get(REDIRECT_PATH, answerPage(redirectPage(assets), asking));
  const pages = pagesIn(groups);
  for (const page of pages) {
    let answering: Promise<RequestHandler> | undefined;
    const answer = async (): Promise<RequestHandler> =>
      answerPage(
        documentOf(page, await page.content(), site),
        page.path === REST_PATH ? asking : contentSecurityPolicy(),
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
  for (const asset of assets.all) router.get(asset.path, answerAsset(asset));
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
