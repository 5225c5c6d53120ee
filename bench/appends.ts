import { startEventStoreProcess } from '../test/engines/eventstoredb/process.ts';
import { CONTENDERS, type ContenderName } from './contenders.ts';
import { ratios, report, showSpread, spreadOf } from './figures.ts';
import type { Loaded } from './load.ts';
import { numbersOf, readOptions } from './options.ts';
import { runBenchOnPostgres } from './run-bench.ts';
import { median, printTable } from './table.ts';
import { runWriters } from './writers.ts';

// Measures durable appends of one event to a new stream, by 1, 32 and 256 writers in a closed loop, on one
// PostgreSQL server with its durable settings. The contenders take turns within each round, so that a drift
// of the machine affects all of them; the table has the medians.
const options = readOptions({
  seconds: ['4', '0.7'],
  rounds: ['3', '5'],
  writers: ['1,32,256', '1,32'],
  // A server that runs elsewhere, such as esdb://127.0.0.1:2113?tls=false; or `stand-in`, which shows that
  // the contenders run but not their speed.
  eventstore: [process.env.EVENTSTORE_URL ?? '', process.env.EVENTSTORE_URL ?? ''],
});
const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)];

type Entry = {
  readonly title: string;
  readonly contender: ContenderName;
  readonly processes: number;
  readonly url: string;
  /** The contender of ours on the same engine. */
  readonly beside: 'ours' | 'ours on EventStoreDB';
};

const entriesOf = (postgresUrl: string, eventStoreUrl: string | undefined): readonly Entry[] => {
  const entry = (contender: ContenderName, url: string): Entry => {
    const beside = url === postgresUrl ? 'ours' : 'ours on EventStoreDB';
    return { title: CONTENDERS[contender].title, contender, processes: 1, url, beside };
  };
  return [
    entry('ours', postgresUrl),
    { ...entry('ours', postgresUrl), title: 'ours, four processes', processes: 4 },
    ...(['plainInsert', 'lockPerAppend', 'emmett'] as const).map((contender) =>
      entry(contender, postgresUrl),
    ),
    ...(eventStoreUrl
      ? (['oursOnEventStore', 'eventStoreClient'] as const).map((contender) =>
          entry(contender, eventStoreUrl),
        )
      : []),
  ];
};

const measure = async (writers: number, entries: readonly Entry[]): Promise<void> => {
  const runs = new Map<Entry, Loaded[]>(entries.map((entry) => [entry, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [entry, measured] of runs) {
      measured.push(await runWriters({ ...entry, writers, seconds }));
      process.stderr.write('.');
    }
  }
  process.stderr.write('\n');
  const of = (entry: Entry | undefined, field: keyof Loaded): readonly number[] =>
    (entry === undefined ? undefined : runs.get(entry))?.map((run) => run[field]) ?? [];
  const oursIs = (entry: Entry): string => {
    const ours = entries.find(({ title }) => title === entry.beside);
    const times = ratios(of(ours, 'rate'), of(entry, 'rate'));
    return entry === ours
      ? showSpread(spreadOf(times))
      : report(`appends, ${writers} writers, beside ${entry.title}: rate`, times);
  };
  printTable(
    [`${writers} writer${writers === 1 ? '' : 's'}`, 'appends/s', 'p50 ms', 'p99 ms', 'ours is … times'],
    entries.map((entry) => [
      entry.title,
      Math.round(median(of(entry, 'rate'))).toLocaleString('en'),
      median(of(entry, 'p50Ms')).toFixed(2),
      median(of(entry, 'p99Ms')).toFixed(2),
      oursIs(entry),
    ]),
  );
};

await runBenchOnPostgres(async (postgresUrl) => {
  await using running = new AsyncDisposableStack();
  const isStandIn = options.eventstore === 'stand-in';
  const eventStoreUrl = isStandIn ? running.use(await startEventStoreProcess()).address : options.eventstore;
  if (eventStoreUrl === '')
    console.log('EventStoreDB is left out: EVENTSTORE_URL or --eventstore says where one runs.\n');
  const entries = entriesOf(postgresUrl, eventStoreUrl);
  for (const writers of numbersOf(options.writers))
    await measure(
      writers,
      entries.filter(({ processes }) => processes <= writers),
    );
});
