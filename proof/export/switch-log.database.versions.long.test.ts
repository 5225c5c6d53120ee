import { join } from 'node:path';
import { pino } from 'pino';
import { expect } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { startNeighbour } from '../../test/contracts/eventstoredb-neighbour.ts';
import { callLine } from '../../test/engines/call-line.ts';
import { draftArticle } from '../../test/engines/command-side.ts';
import { startEventStoreStandIn } from '../../test/engines/eventstoredb/server.ts';
import { inTheDatabase } from '../../test/engines/log-engines.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { createWebhookSide, type WebhookSide } from '../../test/engines/webhook-side.ts';
import { until } from '../../testing/until.ts';
import { startAudit } from '../service.ts';
import { IDENTITIES, POSITIONS } from './switch-log.ts';

type Work<Result> = (webhooks: WebhookSide) => Promise<Result>;

const test = processes
  .extend('log', { scope: 'file' }, () => inTheDatabase())
  .extend('databaseOptions', { scope: 'file' }, ({ log }) => ({ startLog: async () => log }))
  .extend('pool', { scope: 'file' }, ({ database }, { onCleanup }) => {
    const url = database.settings.DATABASE_URL ?? '';
    const pool = openPool({ url, applicationName: 'test', connectionsMax: 2 });
    onCleanup(() => pool[Symbol.asyncDispose]());
    return pool;
  })
  /** Runs commands, projection, webhooks and the audit, until the chain has reached the end of the log. */
  .extend('whileRunning', { scope: 'file' }, ({ database }) => async <Result>(work: Work<Result>) => {
    await using webhooks = await createWebhookSide(database);
    await using _dispatcher = await webhooks.start();
    const settings = {
      dir: join(database.settings.DATA_DIR ?? '', 'audit'),
      headEveryMs: 200,
    } as Parameters<typeof startAudit>[0]['settings'];
    const masterKey = parseMasterKey(database.settings.MASTER_KEY ?? '');
    await using _audit = await startAudit({
      ...webhooks.side,
      masterKey,
      settings,
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
    });
    const result = await work(webhooks);
    const head = await webhooks.side.eventLog.head();
    await until(
      () => webhooks.rows<{ position: number }>('select position from public.follower_checkpoint'),
      (rows) => rows.every(({ position }) => position >= head),
      30_000,
    );
    await until(
      () =>
        webhooks.rows(
          'select from audit.publication where problem is null and count = (select max(count) from audit.block)',
        ),
      ({ length }) => length === 1,
      30_000,
    );
    return result;
  })
  .extend('registered', { scope: 'file' }, ({ whileRunning }) =>
    whileRunning(async (webhooks) => {
      const webhookId = await webhooks.register();
      await webhooks.publish(3);
      await webhooks.untilDeliveries(webhookId, 'delivered', 3);
      await webhooks.send({ type: 'ReplayWebhook', webhookId, from: '1970-01-01T00:00:00Z' });
      await until(
        () => webhooks.rows(`select from webhook_ledger.replay where state = 'finished'`),
        ({ length }) => length === 1,
      );
      await webhooks.untilDeliveries(webhookId, 'delivered', 3);
      return { author: webhooks.author, webhookId };
    }),
  )
  .extend('settingsNow', { scope: 'file' }, ({ database, log }) => () => ({
    ...database.settings,
    ...(log.url !== undefined && { EVENT_LOG_URL: log.url }),
  }))
  /** On a loaded machine, a stopped process may not have released its lease, which then expires. */
  .extend('switchTo', { scope: 'file' }, ({ database, log, settingsNow }) => async (url: string) => {
    const isBack = url === database.settings.DATABASE_URL;
    const called = await until(
      () => callLine(settingsNow(), ['log', 'copy', '--to', isBack ? 'database' : url, '--switch']),
      ({ complaint }) => !complaint.includes('Annals runs'),
    );
    expect(called, called.complaint).toMatchObject({ exit: 0, complaint: '' });
    const next = isBack ? 'Remove EVENT_LOG_URL' : 'Set EVENT_LOG_URL';
    expect(called.lines).toContainEqual(expect.stringContaining(next));
    log.url = isBack ? undefined : url;
  })
  /** The position of each event in the present log. */
  .extend('places', { scope: 'file' }, ({ database, log }) => async () => {
    await using eventLog = await openEventLog({
      url: log.url ?? database.settings.DATABASE_URL ?? '',
      clock: REAL_TIME,
    });
    const found = new Map<string, Position>();
    for await (const events of readBetween(eventLog, { after: START, upTo: await eventLog.head() }))
      for (const { id, position } of events) found.set(id, position);
    return found;
  })
  .extend('demandAllMoved', { scope: 'file' }, ({ places, pool }) => async () => {
    const at = await places();
    const end = Math.max(...at.values());
    const told = await pool.query<{ id: string; position: number; told: number }>(
      `select event_id as id, position, substring(change from '"position":(\\d+)')::bigint as told from webhook_ledger.message`,
    );
    expect(told.rows.length).toBeGreaterThan(2);
    for (const { id, position, told: inside } of told.rows)
      expect([position, inside]).toEqual([at.get(id), at.get(id)]);
    const deliveries = await pool.query<{ id: string; position: number }>(
      'select event_id as id, position from webhook_ledger.delivery',
    );
    for (const { id, position } of deliveries.rows) expect(position).toBe(at.get(id));
    const followers = await pool.query<{ position: number }>(
      'select position from public.follower_checkpoint',
    );
    expect(new Set(followers.rows.map(({ position }) => position))).toEqual(new Set([end]));
    const blocks = await pool.query<{ last: number }>(
      'select last_position as last from audit.block order by count desc limit 1',
    );
    expect(blocks.rows[0]?.last).toBe(end);
    const replays = await pool.query<{ at: number; to: number }>(
      'select at_position as at, to_position as to from webhook_ledger.replay',
    );
    for (const replay of replays.rows)
      expect([...at.values()]).toEqual(expect.arrayContaining([replay.at, replay.to]));
  });

test('every table with positions of the log is updated', async ({ pool, registered: _filled }) => {
  const { rows } = await pool.query<{ place: string }>(
    `select table_schema || '.' || table_name || '.' || column_name as place from information_schema.columns
     where column_name ~ 'position' and data_type = 'bigint' and table_schema !~ '^(pg_|event_log|replay_)'`,
  );
  const known = POSITIONS.flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`));
  const alone = [
    'webhook_ledger.message.position',
    'audit.block.first_position',
    'audit.block.last_position',
  ];
  expect(
    rows.map(({ place }) => place).filter((place) => !known.includes(place) && !alone.includes(place)),
  ).toEqual([]);
  const naming = await pool.query<{ place: string }>(
    `select table_schema || '.' || table_name as place from information_schema.columns
     where column_name = 'log' and table_schema !~ '^(pg_|event_log|replay_)'`,
  );
  // By the name under which a log is signed: the copy has another one, and rows of the former stay.
  const bySignedName = ['audit.witness', 'audit.witnessed_head', 'audit.time_stamp'];
  const places = naming.rows.map(({ place }) => place);
  expect(places.filter((place) => ![...IDENTITIES, ...bySignedName].includes(place))).toEqual([]);
});

test('the database belongs to the copy, and everything continues from there, from a second server, and back again', async ({
  database,
  demandAllMoved,
  registered: { author, webhookId },
  settingsNow,
  switchTo,
  whileRunning,
}) => {
  await using former = await startEventStoreStandIn({ version: '23.10.6' });
  await using current = await startEventStoreStandIn({ version: '26.0.3' });
  // Others use both servers meanwhile.
  await using _ofFormer = startNeighbour(former);
  await using _ofCurrent = startNeighbour(current);
  let planned = 3;
  for (const url of [former.address, current.address, database.settings.DATABASE_URL ?? '']) {
    await switchTo(url);
    await demandAllMoved();
    await whileRunning(async (webhooks) => {
      await draftArticle(webhooks.side, author);
      planned += 2;
      // The receiver no longer runs.
      await until(
        () => webhooks.rows('select from webhook_ledger.delivery where webhook_id = $1', [webhookId]),
        ({ length }) => length === planned,
      );
    });
    const verified = await callLine(settingsNow(), ['audit', 'verify']);
    expect(verified, verified.lines.join('\n')).toMatchObject({ exit: 0 });
    expect(verified.lines.join('\n')).not.toContain('no signed head outside');
  }
});
