import { mkdirSync, renameSync } from 'node:fs';
import { appendFile, readFile, rename, rmdir } from 'node:fs/promises';
import { pino } from 'pino';
import { expect } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { type AuditedLog, freshTest } from '../../test/engines/audited-log.ts';
import { until } from '../../testing/until.ts';
import { readHeadFile } from './head-files.ts';
import { createPublisher, startHeads } from './service.ts';

const test = freshTest.extend('fill', { scope: 'file' }, () => async (audited) => {
  await audited.append(3);
  await audited.prove();
});

const counts = async (audited: AuditedLog) =>
  (await Array.fromAsync(readHeadFile(audited.files))).map(({ says }) => says.count);
const publication = async (audited: AuditedLog) =>
  (await audited.pool.query('select count, problem from audit.publication')).rows[0];
const chainMore = async (audited: AuditedLog) => {
  await audited.append(2);
  await using _chain = await audited.startChain();
  await audited.untilChained();
};

/** Does something when the next head is signed, before it is published. */
const whenSigned = (audited: AuditedLog, act: () => void) => {
  let isDone = true;
  const { head } = audited.eventLog;
  const eventLog = {
    head,
    get identity() {
      if (!isDone) act();
      isDone = true;
      return audited.eventLog.identity;
    },
  };
  return { publisher: createPublisher({ ...audited, eventLog }), arm: () => (isDone = false) };
};

test('a head whose publication failed is published before the next one, and not recorded as published earlier', async ({
  audited,
}) => {
  const { heads } = audited.files;
  const { publisher, arm } = whenSigned(audited, () => {
    renameSync(heads, `${heads}.away`);
    mkdirSync(heads);
  });
  await publisher.publish();
  await chainMore(audited);
  arm();
  await expect(publisher.publish()).rejects.toThrow('EISDIR');
  await rmdir(heads);
  await rename(`${heads}.away`, heads);
  expect(await publication(audited)).toMatchObject({ count: 3 });
  await publisher.publish();
  expect(await counts(audited)).toEqual([3, 5]);
  expect(await publication(audited)).toEqual({ count: 5, problem: null });
});

test('a process that lost its lease while signing leaves the head to its successor, which may already work', async ({
  audited,
}) => {
  let isOurs = true;
  const { publisher: former, arm } = whenSigned(audited, () => {
    isOurs = false;
  });
  const next = createPublisher(audited);
  await former.publish();
  await next.publish();
  await chainMore(audited);
  arm();
  await former.publish(() => isOurs);
  expect(await counts(audited)).toEqual([3]);
  await chainMore(audited);
  await next.publish();
  expect(await counts(audited)).toEqual([3, 5, 7]);
  await former.publish(() => isOurs);
  expect(await counts(audited)).toEqual([3, 5, 7]);
});

test('a head that two processes have published counts once', async ({ audited }) => {
  const line = await readFile(audited.files.heads, 'utf8');
  await chainMore(audited);
  const publisher = createPublisher(audited);
  await publisher.publish();
  await appendFile(audited.files.heads, line);
  await chainMore(audited);
  await publisher.publish();
  expect(await counts(audited)).toEqual([3, 5, 7]);
});

test('no problem is reported while the chain is built up to the published heads', async ({ audited }) => {
  for (const table of ['audit.head', 'audit.block', 'public.follower_checkpoint'])
    await audited.tamper(`delete from ${table}`);
  let asked = 0;
  const { identity } = audited.eventLog;
  const head = () => {
    asked += 1;
    return audited.eventLog.head();
  };
  const eventLog = { identity, head };
  await using _heads = await startHeads({
    ...audited,
    eventLog,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    everyMs: 50,
  });
  await until(
    async () => asked,
    (times) => times > 2,
  );
  expect(await publication(audited)).toEqual({ count: 3, problem: null });
  await chainMore(audited);
  await until(
    () => publication(audited),
    ({ count }) => count === 5,
  );
});
