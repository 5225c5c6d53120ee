import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Domain } from '#kernel/registry/registry.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { isOfThisRelease } from '#shared/projection/definition.ts';
import { digestOf } from '#shared/projection/digest.ts';
import { rebuild } from '#shared/projection/rebuild.ts';
import { readStatus } from '#shared/projection/status.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { createCommandDatabase, draftArticle, registerUser } from '../test/engines/command-side.ts';
import { replayed, untilProjected } from '../test/engines/projection.ts';
import { until } from '../testing/until.ts';
import { startProjector } from './service.ts';

test('on tables of another release the projector says what to do, and resumes once that is done', async () => {
  await using database = await createCommandDatabase();
  await using side = await database.open();
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const start = () => startProjector({ ...side, log, metrics: createMetrics(), notifier: { announce() {} } });
  {
    await using _projector = await start();
    await registerUser(side);
    await untilProjected(side);
  }
  expect(lines).toEqual([]);
  await side.pool.query(
    `alter table read_model.articles drop column cover; comment on schema read_model is 'of another release'`,
  );
  await using _projector = await start();
  expect(lines.join('')).toContain(
    'The tables of the read model belong to another release: run npm run annals -- projection rebuild',
  );
  await draftArticle(side, await registerUser(side));
  await until(
    () => lines.join(''),
    (said) => said.includes('restarts from its checkpoint'),
  );
  await rebuild({ ...side, signal: new AbortController().signal, onProgress() {} });
  await untilProjected(side);
  expect(await digestOf(side.pool, 'read_model')).toEqual(await replayed(side));
  // No way back, because nothing can be written into the previous one.
  expect(await readStatus(side)).toMatchObject({
    live: { isOfThisRelease: true },
    previous: { isOfThisRelease: false },
  });
});

/** The domain with another default role of users. */
const reinterpreted = (domain: Domain): Domain => {
  const { user } = domain.kinds;
  if (user === undefined) throw new Error('every domain has users');
  return {
    ...domain,
    kinds: {
      ...domain.kinds,
      user: { ...user, fields: { ...user.fields, name: { ...user.fields.name, initial: 'Ada' } as never } },
    },
  };
};

test('a read model without recorded meaning is accepted, and its meaning is recorded', async () => {
  await using database = await createCommandDatabase();
  await using side = await database.open();
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const start = () => startProjector({ ...side, log, metrics: createMetrics(), notifier: { announce() {} } });
  const others = tablesOf(reinterpreted(side.domain));
  const areOf = async () => [
    await isOfThisRelease(side.pool, side.tables, 'read_model'),
    await isOfThisRelease(side.pool, others, 'read_model'),
  ];
  {
    await using _projector = await start();
    await registerUser(side);
    await untilProjected(side);
  }
  expect(await areOf()).toEqual([true, false]);
  await side.pool.query('comment on table read_model.digest is null');
  // The declaration of that release is unknown.
  expect(await areOf()).toEqual([true, true]);
  await using _projector = await start();
  expect(await areOf()).toEqual([true, false]);
  await registerUser(side);
  await untilProjected(side);
  expect(lines).toEqual([]);
  expect((await readStatus(side)).live).toMatchObject({ isOfThisRelease: true });
});
