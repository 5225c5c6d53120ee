// Over 200 lines, because every finding is compared with one healthy state.
import { expect, test } from 'vitest';
import type { AuditStatus } from '#shared/rest/audit-status.ts';
import type { OperationsStatus } from '#shared/rest/operator.ts';
import { findingsOf } from './installation-health.ts';

const well: Required<OperationsStatus> = {
  at: '2026-11-21T10:15:00.000Z',
  log: { cursor: 'a-1' },
  readModel: {
    cursor: 'a-1',
    behindSeconds: 0,
    parked: 0,
    skipped: 0,
    bytes: 0,
    isOfThisRelease: true,
    rebuild: null,
  },
  followers: [{ name: 'projector', cursor: 'a-1', behindSeconds: 0.4, isRunning: true }],
  consequences: { parked: 0, skipped: 0, oldestSeconds: null },
  webhooks: { endpoints: 0, enabled: 0, due: 0, dead: 0, failing: 0, failingSince: null },
  _links: {},
};

const proven: AuditStatus = {
  log: { cursor: 'a-1' },
  chain: { count: 1, cursor: 'a-1', head: 'h' },
  signed: null,
  unproven: { events: 0, since: null },
  readModel: { cursor: 'a-1' },
  verified: { count: 1, cursor: 'a-1', began: well.at, finished: well.at, differences: 0 },
  differences: [],
  witnessed: null,
  stamped: null,
  clock: { source: null, since: null, measurements: 0, largest: [], recent: [], wentBack: 0 },
  witnesses: [],
  problem: null,
  parked: 0,
};

const found = (status: Partial<OperationsStatus> = {}, audit: Partial<AuditStatus> = {}) =>
  findingsOf({ status: { ...well, ...status }, audit: { ...proven, ...audit } });

test('a healthy installation has no findings', () => {
  expect(found()).toEqual([]);
});

test('a follower without a process is no finding as long as it lags behind nothing', () => {
  expect(
    found({ followers: [{ name: 'publisher', cursor: null, behindSeconds: null, isRunning: false }] }),
  ).toEqual([]);
});

const WITNESS = {
  ...{ names: ['w1'], url: 'https://w1.example', count: 1, at: null, isRefusing: false },
  ...{ problem: 'It cannot be reached.', since: '2026-11-21T10:00:00.000Z' },
};

test.each([
  ['is down', WITNESS, 'warn', 'The witness w1 has not cosigned for 15 min. It cannot be reached.'],
  [
    'refuses the log',
    { ...WITNESS, isRefusing: true },
    'bad',
    'The witness w1 says that the log contradicts what it has seen before. It cannot be reached.',
  ],
] as const)('a witness that %s is a finding', (_, witness, tone, text) => {
  expect(found({}, { witnesses: [witness] })).toEqual([expect.objectContaining({ tone, text })]);
  expect(found({}, { witnesses: [{ ...witness, problem: null, since: null }] })).toEqual([]);
});

const FORGED: AuditStatus['differences'] = [
  { kind: 'event_not_authentic', cursor: null, stream: 'user-1', version: 2, fields: [], at: well.at },
];

test.each([
  ['an item is parked', { readModel: { ...well.readModel, parked: 1 } }, 'bad', /^1 item cannot be read/],
  [
    'a reaction failed',
    { consequences: { parked: 2, skipped: 0, oldestSeconds: 95 } },
    'bad',
    /^2 reactions failed and will be retried. The oldest failed 1 min 35 s ago/,
  ],
  [
    'the tables belong to another release',
    { readModel: { ...well.readModel, isOfThisRelease: false } },
    'bad',
    /projection rebuild/,
  ],
  [
    'a follower is late',
    { followers: [{ name: 'chain', cursor: 'a-1', behindSeconds: 95, isRunning: true }] },
    'warn',
    /^chain lags by 1 min 35 s/,
  ],
  [
    'a follower stands still',
    { followers: [{ name: 'chain', cursor: 'a-1', behindSeconds: 95, isRunning: false }] },
    'bad',
    /does not run in any process/,
  ],
  [
    'a lag is unknown',
    { followers: [{ name: 'chain', cursor: null, behindSeconds: null, isRunning: true }] },
    'warn',
    /^The lag of chain is unknown/,
  ],
  [
    'deliveries were given up',
    { webhooks: { ...well.webhooks, dead: 2 } },
    'warn',
    /^2 webhook deliveries used up all attempts/,
  ],
  [
    'an endpoint fails',
    {
      webhooks: {
        ...well.webhooks,
        endpoints: 2,
        enabled: 2,
        failing: 1,
        failingSince: '2026-11-21T09:15:00.000Z',
      },
    },
    'bad',
    /^1 webhook endpoint fails\. The first started to fail 1 h ago\.$/,
  ],
  [
    'an endpoint was disabled',
    { webhooks: { ...well.webhooks, endpoints: 1, enabled: 0, failing: 1 } },
    'bad',
    /^1 webhook endpoint was disabled because it failed\.$/,
  ],
  [
    'endpoints fail or were disabled',
    { webhooks: { ...well.webhooks, endpoints: 3, enabled: 1, failing: 2 } },
    'bad',
    /^2 webhook endpoints fail, or were disabled because they failed\.$/,
  ],
  [
    'a rebuild is in progress',
    { readModel: { ...well.readModel, rebuild: { cursor: 'a-0' } } },
    'warn',
    /being rebuilt/,
  ],
])('that %s is told', (_, change, tone, text) => {
  expect(found(change)).toEqual([expect.objectContaining({ tone, text: expect.stringMatching(text) })]);
});

test.each([
  [
    'heads cannot be published',
    { problem: 'The disk is full.' },
    'bad',
    /outside the database: The disk is full\.$/,
  ],
  [
    'no head was signed for long',
    { unproven: { events: 3, since: '2026-11-21T10:00:00.000Z' } },
    'warn',
    /^3 events have had no signed head for 15 min/,
  ],
  [
    'the verification found a difference',
    { verified: { ...proven.verified, differences: 1 } as AuditStatus['verified'] },
    'bad',
    /found 1 difference\.$/,
  ],
  [
    'no command wrote an event',
    {
      verified: { ...proven.verified, differences: 1 } as AuditStatus['verified'],
      differences: FORGED,
    },
    'bad',
    /found 1 difference, with events that no command wrote\.$/,
  ],
] as const)('that %s is told', (_, change, tone, text) => {
  expect(found({}, change)).toEqual([expect.objectContaining({ tone, text: expect.stringMatching(text) })]);
});

test('the worst comes first', () => {
  const both = { webhooks: { ...well.webhooks, dead: 1 }, readModel: { ...well.readModel, parked: 2 } };
  expect(found(both).map(({ tone }) => tone)).toEqual(['bad', 'warn']);
});

test('a clock that differs by more than its uncertainty and a second is named', () => {
  const drift = {
    against: 'database',
    driftMs: -5_300,
    uncertaintyMs: 2,
    at: well.at,
    role: 'annals-command',
  };
  const clock = {
    source: null,
    since: '2026-01-01',
    measurements: 9,
    largest: [drift],
    recent: [drift],
    wentBack: 0,
  };
  expect(found({}, { clock })).toMatchObject([
    {
      tone: 'warn',
      text: expect.stringMatching(/^The clock of annals-command was 5.3 s slower than that of the database/),
    },
  ]);
  expect(found({}, { clock: { ...clock, recent: [{ ...drift, uncertaintyMs: 4_500 }] } })).toEqual([]);
});
