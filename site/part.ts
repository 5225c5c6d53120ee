import type { QueryPart } from '../query/part.ts';
import { docsRoutes } from './routes.ts';

/** The documentation, as a part of the role whose interface it describes. */
export const part: QueryPart = {
  links: [{ rel: 'docs', href: '/docs', title: 'The interface, for people' }],
  open: ({ domain, config }) => ({ routes: docsRoutes({ ...config, domain }) }),
};
