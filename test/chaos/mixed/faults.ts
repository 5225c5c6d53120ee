import { changeLeader, leaveUnanswered, noLeader, noNode, showAndCut } from './cluster-strikes.ts';
import type { Copy } from './site.ts';
import {
  breakDisk,
  copiesOf,
  disturb,
  flush,
  kill,
  killEngine,
  longerThanALease,
  moveClock,
  oneOf,
  promoteStandby,
  readOnly,
  restart,
  type Strike,
  stop,
  stopEngine,
  takeConnections,
  together,
  type Victims,
} from './strikes.ts';
import { ROLES, type Role } from './supervised.ts';

export type Fault = { readonly name: string; readonly strike: Strike };

const everybody: Victims = ({ copies }) => copies;
const one =
  (role: Role): Victims =>
  (site, random) =>
    oneOf(copiesOf(site, role), random);
const both =
  (role: Role): Victims =>
  (site) =>
    copiesOf(site, role);

const OF_PROCESSES: readonly Fault[] = [
  ...ROLES.flatMap((role): readonly Fault[] => [
    { name: `${role}: kill -9 of one`, strike: kill(one(role)) },
    { name: `${role}: kill -9 of both`, strike: kill(both(role)) },
    { name: `${role}: one stopped`, strike: stop(one(role)) },
    { name: `${role}: one restarted`, strike: restart(one(role)) },
  ]),
  ...(['command', 'projector', 'webhook-dispatcher'] as const).map(
    (role): Fault => ({
      name: `${role}: one stopped for longer than a lease`,
      strike: stop(one(role), longerThanALease),
    }),
  ),
  ...ROLES.map((role): Fault => ({ name: `${role}: the clock of one moved`, strike: moveClock(one(role)) })),
  { name: 'all roles: their clocks moved', strike: moveClock(everybody) },
  { name: 'all roles: kill -9', strike: kill(everybody) },
  { name: 'all roles: stopped', strike: stop(everybody) },
  { name: 'all roles: restarted', strike: restart(everybody) },
];

const OF_ENGINES: readonly Fault[] = [
  { name: 'PostgreSQL: kill -9', strike: ({ engines }) => engines.postgres.end('killed') },
  { name: 'PostgreSQL: fast restart', strike: ({ engines }) => engines.postgres.end('fast') },
  { name: 'PostgreSQL: immediate restart', strike: ({ engines }) => engines.postgres.end('immediate') },
  { name: 'PostgreSQL: stopped', strike: stopEngine('postgres') },
  { name: 'PostgreSQL: all connections taken', strike: takeConnections },
  { name: 'PostgreSQL: read-only', strike: readOnly },
  { name: 'PostgreSQL: its disk refuses writes', strike: breakDisk },
  { name: 'PostgreSQL: a synchronous standby replaces it', strike: promoteStandby },
  { name: 'Kafka: kill -9', strike: killEngine('kafka') },
  { name: 'Kafka: stopped', strike: stopEngine('kafka') },
  { name: 'Redis: kill -9', strike: killEngine('redis') },
  { name: 'Redis: stopped', strike: stopEngine('redis') },
  { name: 'Redis: FLUSHALL', strike: flush },
];

const OF_EVENTSTORE: readonly Fault[] = [
  { name: 'EventStoreDB: kill -9', strike: killEngine('eventStore') },
  { name: 'EventStoreDB: stopped', strike: stopEngine('eventStore') },
  { name: 'EventStoreDB: another leader, the former lags', strike: changeLeader },
  { name: 'EventStoreDB: the leader restarted with events that it cuts off', strike: showAndCut },
  { name: 'EventStoreDB: no node is there', strike: noNode },
  { name: 'EventStoreDB: no node leads', strike: noLeader },
  { name: 'EventStoreDB: some appends stay unanswered', strike: leaveUnanswered },
];

/** No client connects to the projector. */
const isReached = ({ role }: Copy): boolean => role !== 'projector';
const WAYS = ['database', 'log', 'kafka', 'redis'] as const;

const OF_WAYS: readonly Fault[] = (['cut', 'stall'] as const).flatMap((how): readonly Fault[] => {
  const name = how === 'cut' ? 'cut' : 'stalled';
  return [
    ...WAYS.map(
      (engine): Fault => ({
        name: `way to ${engine}: ${name}`,
        strike: disturb(how, ({ engines }) => [engines.ways[engine]]),
      }),
    ),
    {
      name: `ways to all engines: ${name}`,
      strike: disturb(how, ({ engines }) => Object.values(engines.ways)),
    },
    {
      name: `way from the ingress to one copy: ${name}`,
      strike: disturb(how, ({ copies }, random) =>
        oneOf(copies.filter(isReached), random).map(({ way }) => way),
      ),
    },
    {
      name: `ways from the ingress: ${name}`,
      strike: disturb(how, ({ copies }) => copies.map(({ way }) => way)),
    },
    {
      name: `ways to the commands: ${name}`,
      strike: disturb(how, (site) => copiesOf(site, 'command').map(({ internalWay }) => internalWay)),
    },
  ];
});

const toDatabase: Strike = disturb('stall', ({ engines }) => [engines.ways.database], longerThanALease);
const toKafka: Strike = disturb('stall', ({ engines }) => [engines.ways.kafka], longerThanALease);
const toLog: Strike = disturb('stall', ({ engines }) => [engines.ways.log]);

/** Two faults at once: while one engine is unavailable, a process ends. */
const TOGETHER: readonly Fault[] = [
  { name: 'way to database: stalled for longer than a lease', strike: toDatabase },
  {
    name: 'projector: kill -9 of one, while the way to kafka is stalled',
    strike: together(kill(one('projector')), toKafka),
  },
  {
    name: 'command: kill -9 of one, while the way to the log is stalled',
    strike: together(kill(one('command')), toLog),
  },
  {
    name: 'query: kill -9 of one, while Kafka restarts',
    strike: together(kill(one('query')), killEngine('kafka')),
  },
  {
    name: 'webhook-dispatcher: kill -9 of one, with FLUSHALL of Redis',
    strike: together(kill(one('webhook-dispatcher')), flush),
  },
  {
    name: 'all roles: kill -9, with PostgreSQL',
    strike: together(kill(everybody), ({ engines }) => engines.postgres.end('killed')),
  },
];

export const faultsOn = (hasEventStore: boolean): readonly Fault[] => [
  ...OF_PROCESSES,
  ...OF_ENGINES,
  ...(hasEventStore ? OF_EVENTSTORE : []),
  ...OF_WAYS,
  ...TOGETHER,
];

/** Plans a number of faults in the order of a seed: each once before any repeats. */
export const planFaults = (
  faults: readonly Fault[],
  count: number,
  random: () => number,
): readonly Fault[] => {
  const planned: Fault[] = [];
  while (planned.length < count) {
    const shuffled = faults
      .map((fault) => ({ fault, rank: random() }))
      .toSorted((former, other) => former.rank - other.rank);
    planned.push(...shuffled.map(({ fault }) => fault));
  }
  return planned.slice(0, count);
};
