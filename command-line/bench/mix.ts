import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { fileFailure } from '#shared/folder.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import type { Given } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import type { Remote } from '../remote/remote.ts';

/** The kinds of requests. */
export const PARTS = ['read', 'list', 'graphql', 'command'] as const;
export type Part = (typeof PARTS)[number];

/** One request of the mix. `{n}` in its path and body becomes another number each time. */
export type Planned = {
  readonly part: Part;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
};

export type Mix = {
  readonly requests: ReadonlyMap<Part, readonly Planned[]>;
  readonly weights: Readonly<Record<Part, number>>;
};

/** Typical of most applications: many reads, some lists, few writes. */
const WEIGHTS: Readonly<Record<Part, number>> = { read: 8, list: 2, graphql: 2, command: 1 };
const WEIGHT_MAX = 1_000;

export const MIX_OPTIONS = {
  read: {
    type: 'string',
    multiple: true,
    placeholder: '<path>',
    description: 'Reads this path, such as /{path}/42; can be repeated.',
  },
  list: {
    type: 'string',
    multiple: true,
    placeholder: '<path>',
    description: 'Reads this list, such as “/{path}?limit=50”; can be repeated.',
  },
  graphql: {
    type: 'string',
    multiple: true,
    placeholder: '<file>',
    description: 'Sends the query in this file; can be repeated.',
  },
  commands: {
    type: 'string',
    placeholder: '<file>',
    description:
      'Sends the writes in this file: one line of JSON each, with method, path and body. {n} becomes a new number each time.',
  },
  weights: {
    type: 'string',
    placeholder: '<weights>',
    description: 'The shares of the requests (read=8,list=2,graphql=2,command=1).',
  },
} as const;

/** The mix of the options; by default the installation's lists and their items, without writes. */
export const readMix = async (given: Given, remote: Remote, domain: Domain): Promise<Mix> => {
  const all = (option: string): readonly string[] => given.values.get(option) ?? [];
  const [commands] = all('commands');
  const named: readonly Planned[] = [
    ...all('read').map((path) => get('read', path)),
    ...all('list').map((path) => get('list', path)),
    ...(await Promise.all(all('graphql').map(readQuery))),
    ...(commands === undefined ? [] : await readCommands(commands)),
  ];
  const requests = Map.groupBy(named.length > 0 ? named : await discover(remote, domain), ({ part }) => part);
  const weights = readWeights(all('weights').at(-1));
  if ([...requests.keys()].every((part) => weights[part] === 0))
    throw new UsageError('--weights excludes all requests of the mix');
  return { requests, weights };
};

const get = (part: Part, path: string): Planned => {
  if (!path.startsWith('/'))
    throw new UsageError(`--${part} must be a path such as /users, but is “${path}”`);
  return { part, method: 'GET', path };
};

const readText = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((cause: unknown) => {
    throw new StartRefused(fileFailure(cause) ?? `${file} cannot be read.`, { cause });
  });

const readQuery = async (file: string): Promise<Planned> => ({
  ...{ part: 'graphql', method: 'POST', path: '/graphql' },
  body: JSON.stringify({ query: await readText(file) }),
});

const Line = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string().startsWith('/'),
  body: z.json().optional(),
});

const readCommands = async (file: string): Promise<readonly Planned[]> => {
  const lines = (await readText(file)).split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new StartRefused(`${file} contains no commands.`);
  return lines.map((line, index) => {
    const read = Line.safeParse(jsonOf(line));
    if (!read.success)
      throw new StartRefused(
        `Line ${index + 1} of ${file} must be like {"method":"POST","path":"/things","body":{"name":"Test {n}"}}.`,
      );
    const { method, path, body } = read.data;
    return { part: 'command', method, path, ...(body !== undefined && { body: JSON.stringify(body) }) };
  });
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const readWeights = (text: string | undefined): Readonly<Record<Part, number>> => {
  if (text === undefined) return WEIGHTS;
  const given = text.split(',').map((each) => {
    const [, part = '', weight = ''] = /^(\w+)=(\d{1,4})$/.exec(each.trim()) ?? [];
    if (!PARTS.some((known) => known === part) || Number(weight) > WEIGHT_MAX)
      throw new UsageError(
        `--weights must be like read=8,list=2,graphql=2,command=1, but contains “${each}”`,
      );
    return [part, Number(weight)] as const;
  });
  return { read: 0, list: 0, graphql: 0, command: 0, ...Object.fromEntries(given) };
};

const LISTS_MAX = 5;
const ITEMS_MAX = 20;
type Item = { readonly _links?: { readonly self?: { readonly href?: string } } };

/** Finds the lists of the domain, and items in them. */
const discover = async (remote: Remote, domain: Domain): Promise<readonly Planned[]> => {
  const lists = ofAggregates(domain)
    .filter(([, { use }]) => use.does === 'list' && use.kind.parent === undefined)
    .map(([, { path }]) => path)
    .slice(0, LISTS_MAX);
  const pages = await Promise.all(lists.map((path) => remote.list<Item>(path, { limit: ITEMS_MAX }).page()));
  const items = pages.flatMap(({ items: found }) => found.flatMap(({ _links }) => _links?.self?.href ?? []));
  return [
    ...lists.map((path) => get('list', path)),
    ...items.filter((path) => path.startsWith('/')).map((path) => get('read', path)),
  ];
};
