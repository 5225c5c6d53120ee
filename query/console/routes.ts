import { type RequestHandler, Router } from 'express';
import type { Domain } from '#kernel/registry/registry.ts';
import { refuseOtherMethods } from '#shared/http/answer-errors.ts';
import { policyOf } from '#shared/policy.ts';
import { answerAsset } from '../pages/asset.ts';
import { contentSecurityPolicy } from '../pages/content-security-policy.ts';
import { answerPage } from '../pages/page.ts';
import { readApplication } from './application.ts';
import { consolePage } from './page.ts';

export type ConsoleOptions = {
  readonly domain: Domain;
  /** Where people find it. */
  readonly publicUrl: string;
  /** Where it sends them to sign in. */
  readonly issuerUrl: string;
};

/**
 * `GET /console`: the installation, for administrators. It is a program in the browser that asks what everybody may ask, by a token
 * of its own; every address below is the same page.
 */
export const consoleRoutes = (options: ConsoleOptions): Router => {
  let served: Router | undefined;
  // Taking the types off takes a moment that a start has no use for.
  const lazily: RequestHandler = (request, response, next) => {
    served ??= serve(options);
    served(request, response, next);
  };
  return Router({ strict: true })
    .get('/console/', (_request, response) => response.redirect(308, '../console'))
    .use('/console', lazily);
};

/** The kernel's own. */
const WEBHOOKS = ['webhook', 'webhooks'] as const;

const serve = (options: ConsoleOptions): Router => {
  const application = readApplication();
  const home = new URL('/console', options.publicUrl).href;
  const scope = ['openid', 'profile', ...policyOf(options.domain).scopes].join(' ');
  const kinds = [...Object.values(options.domain.kinds).map(({ name, path }) => [name, path] as const), WEBHOOKS];
  const page = consolePage(application, { home, issuer: options.issuerUrl, scope, kinds });
  // The paths of assets are whole, and this is mounted.
  const files = new Map(application.assets.map((asset) => [asset.path, answerAsset(asset)]));
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
