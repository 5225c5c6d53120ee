import type { RequestHandler } from 'express';
import { whenAsked } from '#shared/when-asked.ts';
import { refuseOtherMethods } from './answer-errors.ts';
import { demandPreferredType } from './media-type.ts';
import type { RootPage } from './root-page.ts';
import { createRouteTable } from './route-table.ts';

export type RootOptions = Omit<RootPage, 'offersDemo'> & {
  /** Whether the page for people offers the demo. */
  readonly offersDemo?: (() => Promise<boolean>) | undefined;
};

const MEDIA_TYPES = ['application/json', 'application/hal+json', 'text/html'] as const;

/**
 * `GET /` lists the interfaces: JSON with links for programs, and a page for people that begins with the
 * frequent destinations.
 */
export const rootRoutes = (options: RootOptions): RequestHandler => {
  const table = createRouteTable();
  const json = JSON.stringify(rootDocument(options));
  const page = whenAsked(() => import('./root-page.ts'));
  table
    .routerOf('/')
    .get('/', async (request, response) => {
      response.set({ Vary: 'Accept', 'Cache-Control': 'public, max-age=60' });
      const type = demandPreferredType(request, MEDIA_TYPES);
      if (type !== 'text/html') return void response.type(type).send(json);
      const { ROOT_PAGE_POLICY, rootPage } = await page();
      const offersDemo = (await options.offersDemo?.()) ?? false;
      response
        .set({ 'Content-Security-Policy': ROOT_PAGE_POLICY, 'Referrer-Policy': 'no-referrer' })
        .type('html');
      response.send(rootPage({ ...options, offersDemo }));
    })
    .all('/', refuseOtherMethods('GET', 'HEAD'));
  return table.handler;
};

const rootDocument = ({ version, links }: RootOptions) => ({
  name: 'annals',
  version,
  _links: Object.fromEntries([
    ['self', { href: '/' }],
    ...links.map(({ rel, href, title }) => [rel, { href, title }]),
  ]),
});
