import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { report as reportSchema } from '#shared/audit/verification-report.ts';
import type { UserId } from '#shared/brands.ts';
import { migrateOperations } from '#shared/operations/migrate.ts';
import {
  findOperatorCommand,
  type OperatorCommand,
  requestOperatorCommand,
} from '#shared/operations/operator-commands.ts';
import { temporaryDataDir } from '../test/engines/data-dir.ts';
import { createFilledReadModel, type FilledReadModel } from '../test/engines/filled-read-model.ts';
import { inTheDatabase } from '../test/engines/log-engines.ts';
import { untilProjected } from '../test/engines/projection.ts';
import { until } from '../testing/until.ts';
import { startVerificationCommands } from './service.ts';

let readModel: FilledReadModel;
let folder: Awaited<ReturnType<typeof temporaryDataDir>>;
beforeAll(async () => {
  readModel = await createFilledReadModel(inTheDatabase);
  folder = await temporaryDataDir();
  await readModel.writeSome(readModel.authors[0] as UserId);
  await untilProjected(readModel.side);
  await migrateAudit(readModel.side.pool);
  await migrateOperations(readModel.side.pool);
});
afterAll(async () => {
  await folder?.[Symbol.asyncDispose]();
  await readModel?.[Symbol.asyncDispose]();
});

const start = () =>
  startVerificationCommands({
    ...readModel.side,
    settings: { dir: folder.path },
    log: pino({ level: 'silent' }),
  });

const ask = () =>
  requestOperatorCommand(
    readModel.side.pool,
    { kind: 'verify' },
    { by: 'user:1', client: null, request: randomUUID(), key: undefined },
    async () => {},
  );

const isIn = (id: string, isIt: (command: OperatorCommand | undefined) => boolean) =>
  until(() => findOperatorCommand(readModel.side.pool, id), isIt);
const reportOf = (command: { readonly report: string | null } | undefined) =>
  reportSchema.parse(JSON.parse(command?.report ?? 'null'));

test('a verification whose process stopped starts again in the next', async () => {
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

test('the report contains differences, and nothing personal', async () => {
  await readModel.side.pool.query(`update read_model.users set name = 'Mallory', role = 'admin'`);
  const id = await ask();
  await using _orders = await start();
  const command = await isIn(id, (seen) => seen?.finishedAt != null);
  expect(command).toMatchObject({ state: 'done', outcome: expect.stringMatching(/^NOT PROVEN/) });
  expect(reportOf(command).findings.byKind).toHaveProperty('row_different');
  expect(command?.report).not.toContain('Mallory');
});
