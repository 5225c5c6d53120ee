import type { Request, Response } from 'express';
import { expect } from 'vitest';
import { writeConsistency } from '../proof/tree/consistency-file.ts';
import { originOf } from '../proof/tree/tree-head.ts';
import { check, signer, test, vkey } from '../test/engines/check-fixture.ts';
import { aLog, LOG, LOG_OF_ITEM } from '../test/proven-log.ts';
import { serveRoutes } from '../test/serve.ts';

const younger = LOG_OF_ITEM.slice(0, 6);
const kept = aLog(younger).noteOf(signer);
const grown = aLog(LOG_OF_ITEM);
const consistent = async (from = younger.length): Promise<string> =>
  writeConsistency(from, await grown.consistencyFrom(from), grown.noteOf(signer));

test('a log is shown to have only grown since a kept checkpoint', async ({ save }) => {
  const since = await save('kept.checkpoint', kept);
  const { exit, lines } = await check(
    await save('grown', await consistent()),
    '--since',
    since,
    '--key',
    vkey,
  );
  expect(exit).toBe(0);
  expect(lines[0]).toContain(`the log ${originOf(LOG)} only grew from entry 6 to entry 15: it still begins`);
  const { exit: same } = await check(since, '--since', since, '--key', vkey);
  expect(same).toBe(0);
});

test('the log is asked by its address for the proof since a kept checkpoint', async ({ save }) => {
  const asked: string[] = [];
  await using log = await serveRoutes(async ({ url }: Request, response: Response) => {
    asked.push(url);
    response.send(url.includes('consistency') ? await consistent() : grown.noteOf(signer));
  });
  const { url } = log;
  const since = await save('kept-for-address', kept);
  const { exit, lines } = await check(`${url}/audit/log/`, '--since', since, '--key', vkey);
  expect(exit).toBe(0);
  expect(lines[0]).toContain('only grew from entry 6 to entry 15');
  expect(asked).toEqual(['/audit/log/checkpoint', '/audit/log/consistency?from=6']);
});

test('an address without a kept checkpoint, and one that does not answer, are refused', async ({ save }) => {
  const alone = await check('http://127.0.0.1:9/audit/log', '--key', vkey);
  expect([alone.exit, alone.complaint]).toEqual([64, expect.stringContaining('only asked with --since')]);
  const silent = await check(
    'http://127.0.0.1:9/audit/log',
    ...['--since', await save('kept-for-nobody', kept), '--key', vkey],
  );
  expect([silent.exit, silent.complaint]).toEqual([64, expect.stringContaining('does not answer')]);
});
