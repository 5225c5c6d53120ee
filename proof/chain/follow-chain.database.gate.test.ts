import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { type AuditedLog, createAuditedLog } from '../../test/engines/audited-log.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { until } from '../../testing/until.ts';
import { headAt, readBlocks, readChainEnd } from '../stored/blocks.ts';
import { extendByAll, GENESIS } from '../stored/chain.ts';
import { hashesOf } from './block-of.ts';

describe.each(LOG_ENGINES)('the chain beside a log on %s', (_name, startLog) => {
  let audited: AuditedLog;
  beforeAll(async () => {
    audited = await createAuditedLog(startLog);
  });
  afterAll(() => audited?.[Symbol.asyncDispose]());

  const expectWhole = async () => {
    await audited.untilChained();
    const events = await audited.events();
    const end = await readChainEnd(audited.pool);
    expect(end).toMatchObject({ count: events.length, position: events.at(-1)?.position });
    expect(end.head).toEqual(extendByAll(GENESIS, hashesOf(events)));
    const blocks = (await Array.fromAsync(readBlocks(audited.pool, { upTo: end.count }))).flat();
    expect(blocks.reduce((sum, block) => sum + block.events, 0)).toBe(events.length);
  };

  test('contains every event once and in order, over restarts and during writes', async () => {
    await audited.append(20);
    {
      await using _first = await audited.startChain();
      await audited.append(20);
      await expectWhole();
    }
    await audited.append(5);
    await using _one = await audited.startChain();
    await using _other = await audited.startChain();
    await audited.append(5);
    await expectWhole();
  });

  test('contains unreadable events too', async () => {
    const damaged = {
      id: randomUUID() as EventId,
      type: 'thing.noted',
      data: { half: '\ud800' },
      metadata: { at: 'never' },
    };
    await audited.eventLog.append(`article-${randomUUID()}` as StreamName, NO_STREAM, [damaged]);
    await using _chain = await audited.startChain();
    await expectWhole();
  });
});

test('has at most a thousand events in a block, whatever its lag', async () => {
  await using audited = await createAuditedLog();
  await Promise.all(Array.from({ length: 12 }, () => audited.append(201)));
  await using _chain = await audited.startChain();
  await audited.untilChained();
  const blocks = (await Array.fromAsync(readBlocks(audited.pool, { upTo: 10_000 }))).flat();
  expect(blocks.every(({ events }) => events <= 1_000)).toBe(true);
  expect(blocks.at(-1)?.count).toBe(2_412);
  expect(await headAt(audited.pool, 2_000)).toEqual(
    extendByAll(GENESIS, hashesOf((await audited.events()).slice(0, 2_000))),
  );
});

test('is not extended if its end was removed', async () => {
  await using audited = await createAuditedLog();
  await audited.append(3);
  await audited.prove();
  await audited.tamper('delete from audit.block');
  await audited.append(1);
  await using _chain = await audited.startChain();
  const failing = async () =>
    (await audited.pool.query(`select 1 from public.lease where name = 'chain' and epoch > 2`)).rowCount;
  await until(failing, (count) => count === 1);
  expect(await readChainEnd(audited.pool)).toMatchObject({ count: 0 });
});
