import { nearest } from '#kernel/base/nearest.ts';
import { loadEngine } from '#shared/load-engine.ts';
import type { Command } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { textOf } from './meaning/description-text.ts';

export const domainDescribe: Command = {
  name: 'domain describe',
  summary: 'Prints the paths, events, tables, rights and personal fields of the domain.',
  positionals: ['[aggregate]'],
  options: { json: { type: 'boolean', description: 'Prints it as JSON, for tools.' } },
  examples: ['domain describe', 'domain describe {kind}', 'domain describe --json'],
  async run({ positionals: [name], flags }, terminal) {
    const { kinds, views } = terminal.domain;
    const only = name === undefined ? undefined : (kinds[name] ?? views.find((view) => view.name === name));
    if (name !== undefined && only === undefined)
      throw unknown(
        name,
        Object.keys(kinds),
        views.map((view) => view.name),
      );
    const { describeDomain } = await loadEngine('graphql()', () => import('./meaning/description.ts'));
    const description = describeDomain(terminal.domain, only);
    return terminal.write(flags.has('json') ? JSON.stringify(description, null, 2) : textOf(description));
  },
};

const unknown = (name: string, aggregates: readonly string[], views: readonly string[]): UsageError => {
  const names = [...aggregates, ...views];
  const meant = nearest(name, names);
  return new UsageError(
    `there is no aggregate${views.length === 0 ? '' : ' or view'} “${name}”; ${meant === undefined ? `there are ${names.join(', ')}` : `did you mean “${meant}”?`}`,
  );
};
