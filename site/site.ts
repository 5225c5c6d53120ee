import { serves } from '#kernel/registry/parts.ts';
import type { OpenApiOptions } from '../query/openapi/document.ts';
import type { Assets } from './assets.ts';
import { errorsPage } from './errors/page.ts';
import { eventsPage } from './events/page.ts';
import { examplePages, guideGroups } from './guides/pages.ts';
import type { DocsPage, Group } from './page/page.ts';
import { restPage } from './rest/page.ts';
import { scopesPage } from './scopes/page.ts';
import { startPage } from './start-page.ts';

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
