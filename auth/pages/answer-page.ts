import type { ServerResponse } from 'node:http';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { type Page, renderPage } from './page.ts';

/** Answers with a page from a route of ours. */
export const answerPage = (response: ServerResponse, page: Page): void => {
  const { status, headers, body } = renderPage(page);
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(body);
};

/** Answers with a page from within oidc-provider, whose status stays unless the page has its own. */
export const renderInto = (ctx: KoaContextWithOIDC, page: Page): void => {
  const { headers, body } = renderPage(page);
  if (page.status !== undefined) ctx.status = page.status;
  ctx.body = body;
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value);
};
