import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { report as reportSchema } from '#shared/audit/verification-report.ts';
import type { UserId } from '#shared/brands.ts';
import { migrateOperations } from '#shared/operations/migrate.ts';
import { askFor, findOrder, type Order } from '#shared/operations/orders.ts';
import { temporaryDataDir } from '../test/engines/data-dir.ts';
import { inTheDatabase } from '../test/engines/log-engines.ts';
import { untilProjected } from '../test/engines/projection.ts';
import { createRebuildWorld, type RebuildWorld } from '../test/engines/rebuild-world.ts';
import { until } from '../testing/until.ts';
import { startVerificationOrders } from './service.ts';

let world: RebuildWorld;
let folder: Awaited<ReturnType<typeof temporaryDataDir>>;
beforeAll(async () => {
  world = await createRebuildWorld(inTheDatabase);
  folder = await temporaryDataDir();
  await world.writeSome(world.authors[0] as UserId);
  await untilProjected(world.side);
  await migrateAudit(world.side.pool);
  await migrateOperations(world.side.pool);
});
afterAll(async () => {
  await folder?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const start = () =>
  startVerificationOrders({ ...world.side, settings: { dir: folder.path }, log: pino({ level: 'silent' }) });

const ask = () =>
  askFor(
    world.side.pool,
    { kind: 'verify' },
    { by: 'user:1', client: null, request: randomUUID(), key: undefined },
    async () => {},
  );

const isIn = (id: string, isIt: (order: Order | undefined) => boolean) =>
  until(() => findOrder(world.side.pool, id), isIt);
const reportOf = (order: { readonly report: string | null } | undefined) =>
  reportSchema.parse(JSON.parse(order?.report ?? 'null'));

test('a verification whose process stopped starts again in the next', async () => {
  const id = await ask();
  {
    await using _first = await start();
    await isIn(id, (order) => order?.state !== 'waiting');
  }
  await using _second = await start();
  const order = await isIn(id, (seen) => seen?.finishedAt != null);
  expect(order).toMatchObject({ state: 'done', outcome: expect.stringMatching(/^Proven, up to position /) });
  expect(reportOf(order)).toMatchObject({ outcome: 'proven', readModel: { isComparedWithLive: true } });
  expect(order?.done).toBe(order?.of);
});

test('the report contains differences, and nothing personal', async () => {
  await world.side.pool.query(`update read_model.users set name = 'Mallory', role = 'admin'`);
  const id = await ask();
  await using _orders = await start();
  const order = await isIn(id, (seen) => seen?.finishedAt != null);
  expect(order).toMatchObject({ state: 'done', outcome: expect.stringMatching(/^NOT PROVEN/) });
  expect(reportOf(order).findings.byKind).toHaveProperty('row_different');
  expect(order?.report).not.toContain('Mallory');
});
