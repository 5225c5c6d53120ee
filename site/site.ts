import type { OpenApiOptions } from '../query/openapi/document.ts';
import type { Assets } from './assets.ts';
import { errorsPage } from './errors/page.ts';
import { eventsPage } from './events/page.ts';
import { graphqlPage } from './graphql/page.ts';
import { examplePages, guideGroups } from './guides/pages.ts';
import type { DocsPage, Group } from './page/page.ts';
import { restPage } from './rest/page.ts';
import { scopesPage } from './scopes/page.ts';
import { startPage } from './start-page.ts';
import { verificationPage } from './webhooks/page.ts';

/** Every page, in the order of the navigation. */
export const readGroups = (assets: Assets, options: OpenApiOptions): readonly Group[] => [
  {
    title: 'Reference',
    pages: [
      startPage(options.domain),
      restPage(assets, options),
      graphqlPage(options.domain),
      eventsPage(options.domain),
      errorsPage(options.domain),
      scopesPage(options.domain),
      verificationPage(options.domain),
    ],
  },
  ...guideGroups(assets, new URL(options.publicUrl).origin),
  { title: 'Examples', pages: examplePages() },
];

export const pagesIn = (groups: readonly Group[]): readonly DocsPage[] =>
  groups.flatMap(({ pages }) => pages);
