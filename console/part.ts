import type { Link } from '#edge/http/root-page.ts';
import { type ConsoleOptions, consoleRoutes } from './routes.ts';

const links: readonly Link[] = [
  { rel: 'console', href: '/console', title: 'The installation, for administrators' },
];

type Resources = Pick<ConsoleOptions, 'domain'> & { readonly config: Omit<ConsoleOptions, 'domain'> };

/** The console, as a part of the query role. */
export const part = {
  links,
  open: ({ domain, config }: Resources) => ({ routes: consoleRoutes({ ...config, domain }) }),
};
