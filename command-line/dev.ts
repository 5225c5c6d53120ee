import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Command } from './arguments/command.ts';

/** It runs before the domain is loaded, which may be refused: the composition takes it first. */
export const dev: Command = {
  name: 'dev',
  summary:
    'Serves the domain, and again as soon as one of its files changes: it keeps PostgreSQL running, rebuilds the read model if its tables change, and keeps the former domain while a declaration is refused.',
  positionals: [],
  options: {},
  examples: ['dev'],
  run: () => {
    throw new StartRefused('dev is the first argument: npm run dev.');
  },
};
