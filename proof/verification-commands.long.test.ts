import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect } from 'vitest';
import { migrateOperations } from '#process/operations/migrate.ts';
import {
  findOperatorCommand,
  type OperatorCommand,
  requestOperatorCommand,
} from '#process/operations/operator-commands.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { report as reportSchema } from '#shared/rest/verification-report.ts';
import { temporaryDataDir } from '../test/engines/data-dir.ts';
import { test as base } from '../test/engines/filled-read-model.ts';
import { until } from '../testing/until.ts';
import { startVerificationCommands } from './verification-commands.ts';

type IsIt = (command: OperatorCommand | undefined) => boolean;

const test = base
  .extend('start', { scope: 'file' }, async ({ side }, { onCleanup }) => {
    const folder = await temporaryDataDir();
    onCleanup(() => folder[Symbol.asyncDispose]());
    await migrateAudit(side.pool);
    await migrateOperations(side.pool);
    const settings = { dir: folder.path };
    return () => startVerificationCommands({ ...side, settings, log: pino({ level: 'silent' }) });
  })
  .extend('ask', { scope: 'file' }, ({ side, start: _migrated }) => () => {
    const asker = { by: 'user:1', client: null, request: randomUUID(), key: undefined };
    return requestOperatorCommand(side.pool, { kind: 'verify' }, asker, async () => {});
  })
  .extend('isIn', { scope: 'file' }, ({ side }) => (id: string, isIt: IsIt) => {
    return until(() => findOperatorCommand(side.pool, id), isIt);
  });
const reportOf = (command: { readonly report: string | null } | undefined) =>
  reportSchema.parse(JSON.parse(command?.report ?? 'null'));

test('a verification whose process stopped starts again in the next', async ({ ask, isIn, start }) => {
  const id = await ask();
  {
    await using _first = await start();
    await isIn(id, (command) => command?.state !== 'waiting');
  }
  await using _second = await start();
  const command = await isIn(id, (seen) => seen?.finishedAt != null);
  expect(command).toMatchObject({
    state: 'done',
    outcome: expect.stringMatching(/^Proven, up to position /),
  });
  expect(reportOf(command)).toMatchObject({ outcome: 'proven', readModel: { isComparedWithLive: true } });
  expect(command?.done).toBe(command?.of);
});

test('the report contains differences, and nothing personal', async ({ ask, isIn, side, start }) => {
  await side.pool.query(`update read_model.users set name = 'Mallory', role = 'admin'`);
  const id = await ask();
  await using _orders = await start();
  const command = await isIn(id, (seen) => seen?.finishedAt != null);
  expect(command).toMatchObject({ state: 'done', outcome: expect.stringMatching(/^NOT PROVEN/) });
  expect(reportOf(command).findings.byKind).toHaveProperty('row_different');
  expect(command?.report).not.toContain('Mallory');
});
