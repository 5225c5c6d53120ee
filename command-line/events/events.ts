import type { Domain } from '#kernel/registry/registry.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { typesOf } from '#shared/events/event-patterns.ts';
import type { Event } from '#shared/rest/events.ts';
import { jsonIn } from '../../client/problem.ts';
import { type Command, type Given, numberOf } from '../arguments/command.ts';
import { TIME_FORMS, TIME_PLACEHOLDER, timeOf } from '../arguments/time-given.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { paintOf } from '../output/paint.ts';
import { REMOTE_OPTIONS, type Remote, withRemote } from '../remote/remote.ts';
import type { Terminal } from '../terminal.ts';
import { summaryLine } from './lines.ts';
import { askForNames, createNames, type Names } from './names.ts';

const LIMIT = 20;
const LIMIT_MAX = 100_000;
const PAGE = 100;

export const events: Command = {
  name: 'events',
  summary:
    'Prints the latest events of the running installation, as the console shows them; --follow continues with new ones.',
  positionals: [],
  options: {
    follow: { type: 'boolean', description: 'Continues with new events, until Ctrl+C.' },
    type: {
      type: 'string',
      multiple: true,
      placeholder: '<type>',
      description: 'Only events of this type, or of a pattern such as {kind}.*; can be repeated.',
    },
    subject: {
      type: 'string',
      placeholder: '<item>',
      description: 'Only events of this item, such as {kind}-42.',
    },
    by: {
      type: 'string',
      placeholder: '<actor>',
      description:
        'Only events caused by this actor: the id of a user, user:7001, or system:process-manager.',
    },
    'by-client': {
      type: 'string',
      placeholder: '<id>',
      description: 'Only events caused through this OAuth client.',
    },
    request: {
      type: 'string',
      placeholder: '<correlation>',
      description: 'Only events that followed from one request, by the correlation of its events.',
    },
    text: { type: 'string', placeholder: '<text>', description: 'Only events with this text in their data.' },
    since: {
      type: 'string',
      placeholder: TIME_PLACEHOLDER,
      description: `Only events at this time or later: ${TIME_FORMS}.`,
    },
    until: {
      type: 'string',
      placeholder: TIME_PLACEHOLDER,
      description: 'Only events before this time, in the same form.',
    },
    limit: {
      type: 'string',
      placeholder: '<number>',
      description: `Maximum number of existing events (${LIMIT}).`,
    },
    ...REMOTE_OPTIONS,
  },
  examples: [
    "events --type '{kind}.*' --follow",
    'events --by 7001 --since 24h',
    'events --subject {kind}-42 --json',
  ],
  async run(given, terminal) {
    const query = filtersOf(given, terminal.domain);
    const span = { since: timeOf(given, 'since'), until: timeOf(given, 'until') };
    const limit = numberOf(given, 'limit', { minimum: 1, maximum: LIMIT_MAX }) ?? LIMIT;
    const isFollowed = given.flags.has('follow');
    if (isFollowed && span.until !== undefined)
      throw new UsageError('--until cannot be combined with --follow');
    await withRemote(given, terminal, async (remote) => {
      const names = createNames(remote, terminal.domain);
      const show = printerOf(given, terminal, names);
      const now = isFollowed ? await cursorOfNow(remote) : undefined;
      const latest = await remote
        .list<Event>('/events', { ...query, ...span, sort: '-cursor', limit: Math.min(limit, PAGE) })
        .take(limit);
      if (!given.flags.has('json')) await askForNames(latest, names);
      for (const event of latest.toReversed()) await show(event);
      if (!isFollowed) return;
      for await (const event of remote.follow({ ...query, after: latest[0]?.cursor ?? now }))
        await show(event as Event);
    });
  },
};

/** Read before the list, so that nothing is missed between the list and the stream. */
const cursorOfNow = async (remote: Remote): Promise<string | undefined> => {
  const { data } = await jsonIn<{ readonly data?: { readonly cursor?: string } }>(
    await remote.write('POST', '/graphql', { query: '{ cursor }' }),
  );
  return data?.cursor;
};

const filtersOf = (given: Given, domain: Domain) => {
  const one = (option: string): string | undefined => given.values.get(option)?.at(-1);
  const types = given.values.get('type');
  for (const type of types ?? [])
    if (typesOf(catalogueOf(domain), type).length === 0)
      throw new UsageError(`--type: there is no event type “${type}”`);
  const by = one('by');
  return {
    types: types?.join(','),
    subject: one('subject'),
    actor: by !== undefined && /^\d+$/.test(by) ? `user:${by}` : by,
    client: one('by-client'),
    correlation: one('request'),
    text: one('text'),
  };
};

const printerOf = ({ flags }: Given, terminal: Terminal, names: Names) => {
  const paint = paintOf(terminal);
  return async (event: Event): Promise<void> =>
    terminal.write(flags.has('json') ? JSON.stringify(event) : await summaryLine(event, paint, names));
};
