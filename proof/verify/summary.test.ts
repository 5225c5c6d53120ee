import { expect, test } from 'vitest';
import type { Report } from '#shared/rest/verification-report.ts';
import { summaryOf } from './summary.ts';

const none = { total: 0, listed: [] };

const reportWith = (rows: Readonly<Record<string, number>>) =>
  ({
    outcome: 'proven',
    tookMs: 1_000,
    log: { position: 9, events: 9 },
    chain: { chained: 9, signed: 9, unproven: { since: null, events: 0 } },
    readModel: { position: 9, rows, isComparedWithLive: true, signedDigest: null },
    parked: none,
    leftOut: none,
    findings: { ...none, byKind: {} },
  }) as unknown as Report;

test('it counts the rows of every aggregate, and of other tables if they have any', () => {
  const line = (rows: Readonly<Record<string, number>>) =>
    summaryOf(reportWith(rows)).find((each) => each.startsWith('Read model'));
  const none = { users: 2, articles: 0, departed: 0, removed: 0, parked: 0 };
  expect(line(none)).toMatch(/: users 2, articles 0\.$/);
  expect(line({ ...none, parked: 1 })).toMatch(/: users 2, articles 0, parked 1\.$/);
});
