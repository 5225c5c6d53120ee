import { type RequestHandler, Router } from 'express';
import type { Domain } from '#kernel/registry/registry.ts';
import { answerAsset } from '../../pages/asset.ts';
import { answerPage } from '../../pages/page.ts';
import { readAssets } from './assets.ts';
import { graphiqlPage } from './page.ts';

/** `GET /graphql` for browsers: an editor for queries, served by ourselves to the last byte. */
export const graphiqlRoutes = (domain: Domain): Router => {
  let loading: Promise<Router> | undefined;
  const load: RequestHandler = async (request, response, next) => {
    loading ??= createRoutes(domain);
    (await loading)(request, response, next);
  };
  return (
    Router()
      // It knows one method only, and would answer with that.
      .options('/graphql', (_request, _response, next) => next('router'))
      .get('/graphql', onlyForBrowsers, load)
      .get('/graphql/assets/:digest/:name', load)
  );
};

const createRoutes = async (domain: Domain): Promise<Router> => {
  const assets = await readAssets();
  const router = Router({ strict: true })
    .get('/graphql', answerPage(graphiqlPage(assets, domain), CONTENT_SECURITY_POLICY))
    // Addresses in the page are relative to the path without it.
    .get('/graphql/', (_request, response) => response.redirect(308, '../graphql'));
  for (const asset of Object.values(assets)) router.get(asset.path, answerAsset(asset));
  return router;
};

/** Programs may accept anything, but not a page before all else. */
const onlyForBrowsers: RequestHandler = (request, response, next) => {
  response.vary('Accept');
  const type = request.accepts(['application/json', 'application/graphql-response+json', 'text/html']);
  next(type === 'text/html' ? undefined : 'route');
};

/**
 * Scripts come from here alone. The editor makes style sheets by script, and its fonts and icons are data.
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
