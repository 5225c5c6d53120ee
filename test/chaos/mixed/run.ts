import { setTimeout as delay } from 'node:timers/promises';
import { openPeople } from '../../../testing/http/people.ts';
import { createRandom } from '../../../testing/random.ts';
import { happenedIn } from '../visible-events.ts';
import { check } from './check/check.ts';
import type { Violation } from './check/violation.ts';
import { historyOf, openEndpoints } from './endpoints.ts';
import type { LogEngine } from './engines.ts';
import { type Fault, faultsOn, planFaults } from './faults.ts';
import type { History, Injected, Recovery } from './history.ts';
import { startLoad } from './load.ts';
import { openObserver } from './observer.ts';
import { createProbe } from './probe.ts';
import { type Person, startReaders } from './readers.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { createSender } from './sender.ts';
import { type Site, startSite } from './site.ts';
import { createTokens } from './tokens.ts';
import { watchMemory } from './watch.ts';

type Options = {
  readonly seed: number;
  readonly faults: number;
  readonly log: LogEngine;
  /** Only faults whose names begin with one of these. */
  readonly only?: readonly string[];
  /** Once aborted, no other fault is injected. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (line: string) => void;
};

export type Outcome = {
  readonly history: History;
  readonly violations: readonly Violation[];
  readonly recorder: Recorder;
  /** The output of each process. */
  readonly logs: ReadonlyMap<string, string>;
};

/** The pause between a recovery and the next fault. */
const PEACE_MS_MAX = 1_500;

/**
 * Runs a whole installation under load, injects one fault after the other, and checks the records once it is
 * idle.
 */
export const runChaos = async ({
  seed,
  faults: count,
  log: logEngine,
  only,
  signal,
  onProgress = () => {},
}: Options): Promise<Outcome> => {
  await using resources = new AsyncDisposableStack();
  const random = createRandom(seed);
  const site = resources.use(await startSite(logEngine));
  onProgress(`${site.copies.length} processes serve at ${site.url}`);
  const scene = await setScene(site, resources, seed);
  const { recorder, observer, people, readers, endpoints, load, memory, probe } = scene;
  const chosen = faultsOn(logEngine === 'eventstoredb').filter(
    ({ name }) => only?.some((start) => name.startsWith(start)) ?? true,
  );
  const injected: Injected[] = [];
  await probe(Date.now());
  for (const [place, fault] of planFaults(chosen, count, random).entries()) {
    if (signal?.aborted) break;
    const one = await Promise.race([inject(fault, { site, random, probe }), load.failed]);
    injected.push(one);
    onProgress(`${place + 1}/${count} ${fault.name}: ${tellRecovery(one)}`);
    await delay(random() * PEACE_MS_MAX);
  }
  await load.end();
  onProgress('coming to rest');
  const unsettled = await observer.settled().then(
    () => undefined,
    (error: Error) => error.message,
  );
  await delay(REST_MS);
  await Promise.all(readers.all.map((reader) => reader.end()));
  onProgress('checking');
  const events = await observer.events();
  const happened = happenedIn(events, observer.identity);
  const entries = events
    .filter(({ position }) => position > scene.start)
    .map((event) => ({
      ...event,
      request: event.metadata.request,
      at: event.metadata.at,
      isConsequence: event.metadata.causation !== null,
      causation: event.metadata.causation,
    }));
  const history: History = {
    ...{
      seed,
      faults: injected,
      writes: recorder.writes,
      reads: recorder.reads,
      log: entries,
      feeds: readers.feeds(happened.filter(({ position }) => position > scene.start)),
    },
    deliveries: await Promise.all(
      endpoints.map(async (endpoint) =>
        historyOf(endpoint, {
          people,
          happened,
          log: entries,
          ledger: await observer.ledger(endpoint.webhookId),
        }),
      ),
    ),
    moves: await observer.moves(),
    ends: site.copies.flatMap(({ process }) => process.ends),
    memory: memory.samples,
    proof: await observer.prove(),
  };
  const rest: readonly Violation[] =
    unsettled === undefined
      ? []
      : [{ invariant: 'I5', kind: 'other', what: `it never came to rest: ${unsettled}` }];
  const logs = new Map(site.copies.map(({ process }) => [process.name, process.printed()]));
  return { history, violations: [...check(history), ...rest], recorder, logs };
};

/** The last writes must reach all connected subscribers within this time. */
const REST_MS = 3_000;

const setScene = async (site: Site, resources: AsyncDisposableStack, seed: number) => {
  const recorder = createRecorder();
  const newcomers = await openPeople(site);
  const personOf = async (
    role: 'admin' | 'author',
  ): Promise<Person & { tokens: ReturnType<typeof createTokens>; service: Site['admin'] }> => {
    const service = await newcomers.registerService(role);
    const { userId } = await newcomers.tokenOf(service);
    return { service, viewer: { role, userId }, tokens: createTokens({ site, recorder, service }) };
  };
  const people = {
    admin: await personOf('admin'),
    ada: await personOf('author'),
    bob: await personOf('author'),
  };
  const senderOf = ({ tokens }: { tokens: ReturnType<typeof createTokens> }) =>
    createSender({ site, recorder, tokens });
  const senders = { admin: senderOf(people.admin), ada: senderOf(people.ada), bob: senderOf(people.bob) };
  const endpoints = await openEndpoints({ random: createRandom(seed + 1), senders, resources });
  const observer = resources.use(await openObserver(site));
  const from = await observer.cursor();
  const readers = startReaders({ site, recorder, people, from });
  resources.defer(async () => void (await Promise.all(readers.all.map((reader) => reader.end()))));
  const memory = resources.use(watchMemory(site.copies.map(({ process }) => process)));
  const authors = [people.ada.tokens, people.bob.tokens];
  const load = resources.use(await startLoad({ site, recorder, authors, seed: seed + 2 }));
  const [first] = endpoints;
  if (first === undefined) throw new Error('there is no endpoint');
  const probe = createProbe({
    site,
    recorder,
    service: people.ada.service,
    reader: readers.first,
    receiver: first.receiver,
  });
  const start = Number.parseInt(from.split('-')[1] ?? '', 36);
  return { recorder, observer, people, readers, endpoints, load, memory, probe, start };
};

type Scene = {
  readonly site: Site;
  readonly random: () => number;
  readonly probe: (sinceMs: number) => Promise<Recovery>;
};

const inject = async (fault: Fault, { site, random, probe }: Scene): Promise<Injected> => {
  const startMs = Date.now();
  await fault.strike(site, random);
  const mendedMs = Date.now();
  return { fault: fault.name, startMs, mendedMs, recovery: await probe(mendedMs) };
};

const tellRecovery = ({ startMs, mendedMs, recovery }: Injected): string => {
  const times = Object.entries(recovery).map(([kind, ms]) => `${kind} ${(ms / 1_000).toFixed(2)}`);
  return `${((mendedMs - startMs) / 1_000).toFixed(1)} s, then ${times.join(', ')}`;
};
