import type { Position, StreamName } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { logsReads } from '#kernel/registry/logs-reads.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { openPool } from '#shared/database/pool.ts';
import { type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { type Command, type Given, numberOf } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { type Installation, openInstallation } from './installation/installation.ts';
import { eventJson, eventLine } from './output/print-event.ts';
import { recordCommand } from './record-command.ts';
import type { Terminal } from './terminal.ts';

const LIMIT = 20;
const LIMIT_MAX = 100_000;

export const logTail: Command = {
  name: 'log tail',
  summary: 'Prints the last events of the log; --follow continues with new ones.',
  positionals: [],
  options: {
    follow: { type: 'boolean', description: 'Continues with each new event, until Ctrl+C.' },
    from: {
      type: 'string',
      placeholder: '<position>',
      description: 'Starts at this position, instead of near the end.',
    },
    type: {
      type: 'string',
      multiple: true,
      placeholder: '<type>',
      description: 'Shows only events of this type; can be repeated.',
    },
    limit: {
      type: 'string',
      placeholder: '<number>',
      description: `The maximum number of recorded events to show (${LIMIT}).`,
    },
    json: { type: 'boolean', description: 'Prints each event in full, as one line of JSON.' },
  },
  examples: ['log tail', 'log tail --follow --type {event}', 'log tail --from 1 --limit 1000 --json'],
  async run(given, terminal) {
    const request = readRequest(given, terminal.domain);
    await using installation = await openInstallation(terminal);
    await recordTail(installation, terminal);
    await tail(request, installation, terminal);
  },
};

const recordTail = async ({ databaseUrl: url }: Installation, { domain }: Terminal): Promise<void> => {
  if (!logsReads(domain)) return;
  await using pool = openPool({ url, applicationName: 'annals-command-line', connectionsMax: 1 });
  await recordCommand({ domain, pool, command: 'log tail' });
};

type Request = {
  readonly from: number | undefined;
  readonly limit: number;
  readonly types: ReadonlySet<string>;
  readonly follow: boolean;
  readonly print: (event: RecordedEvent) => string;
};

const readRequest = (given: Given, domain: Domain): Request => {
  const types = new Set(given.values.get('type') ?? []);
  for (const type of types)
    if (catalogueOf(domain).find(type) === undefined)
      throw new UsageError(`--type: there is no event type “${type}”`);
  return {
    from: numberOf(given, 'from', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    limit: numberOf(given, 'limit', { minimum: 1, maximum: LIMIT_MAX }) ?? LIMIT,
    types,
    follow: given.flags.has('follow'),
    print: given.flags.has('json') ? eventJson : eventLine,
  };
};

/** Collects the events up to the current head; with `--follow`, then prints each new event as it comes. */
const tail = async (
  request: Request,
  { eventLog, isDense }: Installation,
  terminal: Terminal,
): Promise<void> => {
  const { from, limit, types, follow, print } = request;
  const head = await eventLog.head();
  const show = async (events: readonly RecordedEvent[]) => {
    for (const event of events) await terminal.write(print(event));
  };
  let after = from === undefined ? beginning(request, head, isDense) : (Math.max(0, from - 1) as Position);
  let gathered: RecordedEvent[] = [];
  const ending = new AbortController();
  const signal = AbortSignal.any([terminal.signal, ending.signal]);
  const isFull = () => from !== undefined && gathered.length >= limit;
  if (after < head) {
    for await (const page of eventLog.follow(after, signal)) {
      const wanted = page.filter(
        ({ position, type }) => position <= head && (types.size === 0 || types.has(type)),
      );
      gathered =
        from === undefined
          ? [...gathered, ...wanted].slice(-limit)
          : [...gathered, ...wanted].slice(0, limit);
      after = page.at(-1)?.position ?? after;
      if (after >= head || isFull()) break;
    }
  }
  await show(gathered);
  // A full page from a chosen position ends the output: continuing would leave a gap.
  if (!follow || isFull()) return;
  for await (const page of eventLog.follow(head, signal))
    await show(page.filter(({ type }) => types.size === 0 || types.has(type)));
};

/**
 * If positions count events and there is no filter, computes where the last ones begin; otherwise reads the
 * whole log.
 */
const beginning = ({ limit, types }: Request, head: Position, isDense: boolean): Position =>
  isDense && types.size === 0 ? (Math.max(START, head - limit) as Position) : START;

export const logShow: Command = {
  name: 'log show',
  summary: 'Prints all events of a stream, such as user-7.',
  positionals: ['<stream>'],
  options: { json: { type: 'boolean', description: 'Prints each event in full, as one line of JSON.' } },
  examples: ['log show {kind}-42', 'log show user-7 --json'],
  async run({ positionals: [stream = ''], flags }, terminal) {
    const print = flags.has('json') ? eventJson : eventLine;
    await using installation = await openInstallation(terminal);
    let shown = 0;
    for await (const page of installation.eventLog.read(stream as StreamName)) {
      for (const event of page) await terminal.write(print(event));
      shown += page.length;
      if (terminal.signal.aborted) return;
    }
    if (shown === 0) throw new StartRefused(`There are no events in ${stream}.`);
  },
};
