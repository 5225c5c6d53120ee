import { type RequestHandler, Router } from 'express';
import { answerAsset } from '#edge/pages/asset.ts';
import { answerPage } from '#edge/pages/page.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { readAssets } from './assets.ts';
import { graphiqlPage } from './page.ts';

/** `GET /graphql` for browsers: a query editor, served entirely from here. */
export const graphiqlRoutes = (domain: Domain): Router => {
  let loading: Promise<Router> | undefined;
  const load: RequestHandler = async (request, response, next) => {
    loading ??= createRoutes(domain);
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

const createRoutes = async (domain: Domain): Promise<Router> => {
  const assets = await readAssets();
  const router = Router({ strict: true })
    .get('/graphql', answerPage(graphiqlPage(assets, domain), CONTENT_SECURITY_POLICY))
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
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'font-src data:',
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
