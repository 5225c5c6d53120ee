import { expect, test } from 'vitest';
import { findingsOf } from './health.ts';

const well = {
  at: '2026-11-21T10:15:00.000Z',
  log: { cursor: 'a-1' },
  readModel: { cursor: 'a-1', behindSeconds: 0, parked: 0, skipped: 0, bytes: 0, isOfThisRelease: true, rebuild: null },
  followers: [{ name: 'projector', cursor: 'a-1', behindSeconds: 0.4, isRunning: true }],
  consequences: { parked: 0, skipped: 0, oldestSeconds: null },
  webhooks: { endpoints: 0, enabled: 0, due: 0, dead: 0 },
  _links: {},
};

test('where all is well, there is nothing to say', () => {
  expect(findingsOf(well)).toEqual([]);
});

test('a follower that no process has is no trouble as long as it misses nothing', () => {
  expect(findingsOf({ ...well, followers: [{ name: 'publisher', cursor: null, behindSeconds: null, isRunning: false }] })).toEqual([]);
});

test.each([
  ['an item is parked', { readModel: { ...well.readModel, parked: 1 } }, 'bad', /^1 item cannot be read/],
  [
    'a consequence of a deletion is parked',
    { consequences: { parked: 2, skipped: 0, oldestSeconds: 95 } },
    'bad',
    /^2 consequences of deletions could not be carried out, for 1 min 35 s now/,
  ],
  ['the tables are of another release', { readModel: { ...well.readModel, isOfThisRelease: false } }, 'bad', /projection rebuild/],
  [
    'a follower is late',
    { followers: [{ name: 'chain', cursor: 'a-1', behindSeconds: 95, isRunning: true }] },
    'warn',
    /chain is 1 min 35 s behind/,
  ],
  ['a follower stands still', { followers: [{ name: 'chain', cursor: 'a-1', behindSeconds: 95, isRunning: false }] }, 'bad', /no process/],
  ['deliveries were given up', { webhooks: { ...well.webhooks, dead: 2 } }, 'warn', /^2 webhook deliveries were given up/],
  ['a rebuild is under way', { readModel: { ...well.readModel, rebuild: { cursor: 'a-0' } } }, 'warn', /rebuild/],
])('that %s is told', (_, change, tone, text) => {
  expect(findingsOf({ ...well, ...change })).toEqual([expect.objectContaining({ tone, text: expect.stringMatching(text) })]);
});

test('the worst comes first', () => {
  const both = { ...well, webhooks: { ...well.webhooks, dead: 1 }, readModel: { ...well.readModel, parked: 2 } };
  expect(findingsOf(both).map(({ tone }) => tone)).toEqual(['bad', 'warn']);
});
