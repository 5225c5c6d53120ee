import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createMetrics } from '#shared/process/metrics.ts';
import { digestOf } from '#shared/projection/digest.ts';
import { rebuild } from '#shared/projection/rebuild.ts';
import { readStatus } from '#shared/projection/status.ts';
import { createCommandWorld, draftArticle, registerUser } from '../test/engines/command-side.ts';
import { replayed, untilProjected } from '../test/engines/projection.ts';
import { until } from '../testing/until.ts';
import { startProjector } from './service.ts';

test('on tables of another release the projector says what to do, and goes on by itself once that was done', async () => {
  await using world = await createCommandWorld();
  await using side = await world.open();
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const start = () => startProjector({ ...side, log, metrics: createMetrics(), bell: { ringEverywhere() {} } });
  {
    await using _projector = await start();
    await registerUser(side);
    await untilProjected(side);
  }
  expect(lines).toEqual([]);
  await side.pool.query(`alter table read_model.articles drop column cover; comment on schema read_model is 'of another release'`);
  await using _projector = await start();
  expect(lines.join('')).toContain('The tables of the read model are of another release: npm run annals -- projection rebuild');
  await draftArticle(side, await registerUser(side));
  await until(
    () => lines.join(''),
    (said) => said.includes('begins anew'),
  );
  await rebuild({ ...side, signal: new AbortController().signal, onProgress() {} });
  await untilProjected(side);
  expect(await digestOf(side.pool, 'read_model')).toEqual(await replayed(side));
  // Nothing can be written into it, so that there is no way back.
  expect(await readStatus(side)).toMatchObject({ live: { isOfThisRelease: true }, previous: { isOfThisRelease: false } });
});
