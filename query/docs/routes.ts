import { Router } from 'express';
import { refuseOtherMethods } from '#shared/http/answer-errors.ts';
import { answerAsset } from '../pages/asset.ts';
import { answerPage } from '../pages/page.ts';
import { readAssets } from './assets.ts';
import { redirectPage, referencePage } from './pages.ts';

export type DocsOptions = {
  /** Where the page tries operations out, and where it gets tokens. */
  readonly publicUrl: string;
  readonly issuerUrl: string;
};

/** `GET /docs`: the interface, for people, served by ourselves to the last byte. */
export const docsRoutes = (options: DocsOptions): Router => {
  const assets = readAssets();
  const policy = contentSecurityPolicy(options);
  const router = Router({ strict: true })
    .get('/docs', answerPage(referencePage(assets), policy))
    // Addresses in the page are relative to the path without it.
    .get('/docs/', (_request, response) => response.redirect(308, '../docs'))
    .get('/docs/oauth2-redirect.html', answerPage(redirectPage(assets), policy));
  for (const asset of Object.values(assets)) router.get(asset.path, answerAsset(asset));
  return router.all(['/docs', '/docs/', '/docs/oauth2-redirect.html'], refuseOtherMethods('GET', 'HEAD'));
};

/**
 * Scripts and styles come from here alone, and none stand in the page; Swagger UI sets styles by script, which this does not
 * concern, and draws its icons from data.
 */
const contentSecurityPolicy = ({ publicUrl, issuerUrl }: DocsOptions): string => {
  const origins = new Set([publicUrl, issuerUrl].map((url) => new URL(url).origin));
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${[...origins].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
};
