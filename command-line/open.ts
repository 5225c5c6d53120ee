import { nearest } from '#kernel/base/nearest.ts';
import type { Command } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { ACCESS_OPTIONS, readUrl } from './installation/token.ts';

const PAGES: Readonly<Record<string, string>> = {
  console: '/console',
  docs: '/docs',
  account: '/account',
  graphql: '/graphql',
  rest: '/docs/rest',
  home: '/',
};
const FIRST = 'console';

export const open: Command = {
  name: 'open',
  summary: 'Opens a page of the installation in the browser, and prints its address.',
  positionals: ['[page]'],
  options: {
    url: ACCESS_OPTIONS.url,
    print: { type: 'boolean', description: 'Prints the address without opening it.' },
    json: { type: 'boolean', description: 'Prints the address as one line of JSON, and opens nothing.' },
  },
  examples: ['open', 'open docs', 'open /console/events --print'],
  async run(given, terminal) {
    const {
      positionals: [page = FIRST],
      flags,
    } = given;
    const url = `${await readUrl(given, terminal)}${pathOf(page)}`;
    await terminal.write(flags.has('json') ? JSON.stringify({ url }) : url);
    if (flags.has('print') || flags.has('json') || terminal.openPage === undefined) return;
    if (!(await terminal.openPage(url)))
      terminal.complain('No browser could be opened: open the address yourself.');
  },
};

const pathOf = (page: string): string => {
  if (page.startsWith('/')) return page;
  const path = PAGES[page];
  if (path !== undefined) return path;
  const names = Object.keys(PAGES);
  const meant = nearest(page, names);
  throw new UsageError(
    `there is no page “${page}”; ${meant === undefined ? `there are ${names.join(', ')}, and every path such as /docs` : `did you mean “${meant}”?`}`,
  );
};
