import { SETTINGS } from '#process/settings.ts';
import { plural, rateText } from '#shared/format.ts';
import { columns } from '../output/columns.ts';
import type { Paint } from '../output/paint.ts';
import type { Step } from './load.ts';
import { failuresOf, type Saturation } from './saturation.ts';

export type Report = {
  readonly url: string;
  readonly steps: readonly Step[];
  readonly saturation: Saturation;
  readonly subscribers: {
    readonly open: number;
    readonly refused: Readonly<Record<string, number>>;
    readonly messages: number;
  };
  /** The read model's lag at the end; null if the client may not read it. */
  readonly lagSeconds: number | null;
  readonly advice: readonly string[];
};

const milliseconds = (value: number): string => (value < 10 ? value.toFixed(1) : value.toFixed(0));

const HEADINGS = ['Connections', 'Requests/s', 'p50 ms', 'p95 ms', 'p99 ms', 'Failures'];

const stepRows = (steps: readonly Step[]): readonly string[] =>
  columns(
    HEADINGS,
    steps.map((step) => [
      step.connections,
      Math.round(step.perSecond),
      ...[step.p50Ms, step.p95Ms, step.p99Ms].map((each) => Number(milliseconds(each))),
      failuresText(step),
    ]),
  );

const failuresText = ({ failures }: Step): string =>
  Object.entries(failures)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ') || '–';

const REASONS: Readonly<Record<Saturation['reason'], string>> = {
  throughput: 'More connections bring no more requests per second.',
  p99: 'Beyond it, the 99th percentile is above the limit.',
  failures: 'Beyond it, more than 1 % of the requests fail.',
  connections: 'This number of connections did not saturate it: allow more with --connections.',
  time: 'The time ran out before it was saturated: allow more with --for.',
};

export const reportLines = (
  { steps, saturation, subscribers, lagSeconds, advice }: Report,
  paint: Paint,
): readonly string[] => {
  const { at, reason } = saturation;
  return [
    ...stepRows(steps),
    '',
    at === undefined
      ? paint('bad', 'No step stayed within the limits.')
      : paint(
          'strong',
          `${isSaturated(reason) ? 'Saturated' : 'Most'} at ${plural(at.connections, 'connection')}: ${rateText(at.perSecond)} at a p99 of ${milliseconds(at.p99Ms)} ms.`,
        ),
    REASONS[reason],
    ...partLines(at ?? steps.at(-1)),
    ...subscriberLines(subscribers),
    ...(lagSeconds === null ? [] : [`At the end the read model lagged by ${lagSeconds.toFixed(1)} s.`]),
    '',
    'Settings to change (docs/settings.md, docs/scaling.md):',
    ...advice.map((each) => `- ${each}`),
  ];
};

const isSaturated = (reason: Saturation['reason']): boolean => reason !== 'connections' && reason !== 'time';

const partLines = (step: Step | undefined): readonly string[] =>
  Object.entries(step?.byPart ?? {}).map(
    ([part, { requests, p50Ms, p99Ms }]) =>
      `  ${part.padEnd(8)} ${plural(requests, 'request')}, p50 ${milliseconds(p50Ms)} ms, p99 ${milliseconds(p99Ms)} ms`,
  );

const subscriberLines = ({ open, refused, messages }: Report['subscribers']): readonly string[] => {
  const reasons = Object.entries(refused).map(([status, count]) => `${count} × ${status}`);
  if (open === 0 && reasons.length === 0) return [];
  return [
    `${plural(open, 'subscriber')} got ${plural(messages, 'message')}${reasons.length === 0 ? '' : `; refused: ${reasons.join(', ')}`}.`,
  ];
};

const BUSY_MAX = 0.9;
const LAG_MAX_S = 1;

type Seen = Omit<Report, 'advice'>;
type Rule = { readonly says: string; readonly setting?: string; holds(seen: Seen): boolean };

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]']);
const has = ({ steps }: Seen, status: string): boolean =>
  steps.some(({ failures }) => (failures[status] ?? 0) > 0);
const partsOf = ({ steps }: Seen): ReadonlySet<string> =>
  new Set(steps.flatMap(({ byPart }) => Object.keys(byPart)));

/** Recommends settings by the results: first what distorted the figures, then what limits them. */
const RULES: readonly Rule[] = [
  {
    says: 'This program was the bottleneck, not Annals: run it on another machine, or run several at once.',
    holds: ({ steps }) => steps.some(({ busy }) => busy > BUSY_MAX),
  },
  {
    says: 'This program and Annals share the processors of this machine: run it from another machine for higher figures.',
    holds: ({ url }) => LOCAL.has(new URL(url).hostname),
  },
  {
    says: '429: the rate limit throttled the load. Raise RATE_LIMIT and RATE_LIMIT_BURST for the test (RATE_LIMIT_ANONYMOUS without a token).',
    setting: 'RATE_LIMIT',
    holds: (seen) => has(seen, '429'),
  },
  {
    says: '503: overloaded processes refused requests (REQUESTS_MAX, EVENT_LOOP_LAG_MAX_MS). Add replicas of the role; a higher limit only makes clients wait.',
    setting: 'REQUESTS_MAX',
    holds: (seen) => has(seen, '503'),
  },
  {
    says: '401 or 403: the client lacks a scope or a role for a part of the mix.',
    holds: (seen) => has(seen, '401') || has(seen, '403'),
  },
  {
    says: '409 or 412: writes conflicted on the same items, as they do in production; give each command its own item, with {n}.',
    holds: (seen) => has(seen, '409') || has(seen, '412'),
  },
  {
    says: '400 or 422: a request of the mix is invalid; try it alone first.',
    holds: (seen) => has(seen, '400') || has(seen, '422'),
  },
  {
    says: 'Requests without a response: connections were refused or closed (CONNECTIONS_MAX, worker_connections of the ingress).',
    setting: 'CONNECTIONS_MAX',
    holds: (seen) => has(seen, 'no answer'),
  },
  {
    says: 'Subscribers were refused: raise STREAMS_PER_OWNER_MAX, because all of them belong to one user here.',
    setting: 'STREAMS_PER_OWNER_MAX',
    holds: ({ subscribers }) => Object.keys(subscribers.refused).length > 0,
  },
  {
    says: 'The read model lagged: give PostgreSQL a faster disk, or the log a server of its own (EVENT_LOG_URL); more projectors do not help.',
    setting: 'EVENT_LOG_URL',
    holds: ({ lagSeconds }) => (lagSeconds ?? 0) > LAG_MAX_S,
  },
  {
    says: 'All roles in one process share one core: use more with WORKERS.',
    setting: 'WORKERS',
    holds: () => true,
  },
  {
    says: 'Reads, lists and GraphQL: more replicas of query, up to the processors of PostgreSQL.',
    holds: (seen) => ['read', 'list', 'graphql'].some((part) => partsOf(seen).has(part)),
  },
  {
    says: 'Reads beyond one PostgreSQL: streaming replicas (READ_DATABASE_URL).',
    setting: 'READ_DATABASE_URL',
    holds: (seen) => partsOf(seen).has('read') || partsOf(seen).has('list'),
  },
  {
    says: 'GraphQL: narrower queries and smaller pages; GRAPHQL_COST_MAX bounds the largest.',
    setting: 'GRAPHQL_COST_MAX',
    holds: (seen) => partsOf(seen).has('graphql'),
  },
  {
    says: 'Commands: the flush of the log’s disk bounds them; more replicas of command help only while their processors are busy.',
    holds: (seen) => partsOf(seen).has('command'),
  },
];

/** Only rules whose setting exists in this release. */
export const adviceOf = (seen: Seen): readonly string[] =>
  RULES.filter(({ setting, holds }) => (setting === undefined || setting in SETTINGS) && holds(seen)).map(
    ({ says }) => says,
  );

export const progressText = (step: Step): string =>
  `${plural(step.connections, 'connection')}: ${rateText(step.perSecond)}, p99 ${milliseconds(step.p99Ms)} ms${failuresOf(step) > 0 ? `, ${plural(failuresOf(step), 'failure')}` : ''}`;
