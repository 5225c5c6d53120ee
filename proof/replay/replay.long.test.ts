import pg from 'pg';
import { describe, expect } from 'vitest';
import type { Position, UserId } from '#kernel/base/brands.ts';
import type { Progress } from '#shared/projection/catch-up.ts';
import { digestOf } from '#shared/projection/digest.ts';
import { listScratch } from '#shared/read-model/scratch-schemas.ts';
import { testOnEngines } from '../../test/engines/filled-read-model.ts';
import { untilProjected } from '../../test/engines/projection.ts';
import { until } from '../../testing/until.ts';
import { replay } from './replay.ts';

/** With a position, and the digest there, before the latest events. */
const engines = testOnEngines.map(([name, test]) => {
  const withPast = test.extend('past', { scope: 'file' }, async ({ authors, readModel, side }) => {
    const past = { position: await side.eventLog.head(), digest: await digestOf(side.pool, 'read_model') };
    await readModel.writeSome(authors[0] as UserId);
    await untilProjected(side);
    return past;
  });
  return [name, withPast] as const;
});

describe.each(engines)('a replay on %s', (_name, test) => {
  test('has the rows of a position', async ({ readModel, side, past }) => {
    const { pool } = side;
    const replayed = await replay(readModel.work(), { schema: 'replay_then', upTo: past.position });
    expect(replayed).toMatchObject({
      schema: 'replay_then',
      position: past.position,
      rows: { users: 4, articles: 4, comments: 4, parked: 0 },
    });
    expect(await digestOf(pool, 'replay_then')).toEqual(past.digest);
    expect(await digestOf(pool, 'read_model')).not.toEqual(past.digest);
    expect(await listScratch(pool)).toMatchObject([
      { schema: 'replay_then', position: past.position, isWhole: true },
    ]);
  });

  test('has no rows at the beginning', async ({ readModel }) => {
    const replayed = await replay(readModel.work(), { schema: 'replay_nothing', upTo: 0 as Position });
    expect(replayed).toMatchObject({ events: 0, rows: { users: 0, articles: 0 } });
  });

  test('changes nothing live, and notifies nobody', async ({ readModel, side }) => {
    const { pool, databaseUrl, eventLog } = side;
    const live = async () => ({
      head: await eventLog.head(),
      digest: await digestOf(pool, 'read_model'),
      checkpoints: (await pool.query('select * from public.follower_checkpoint order by follower')).rows,
      rows: (await pool.query('select id, xmin::text as written from read_model.articles order by id')).rows,
      versions: (
        await pool.query(`select nspname from pg_namespace where nspname like 'read_model%' order by 1`)
      ).rows,
    });
    const listener = new pg.Client({ connectionString: databaseUrl });
    const rung: unknown[] = [];
    listener.on('notification', ({ channel }) => rung.push(channel));
    await listener.connect();
    // Once every follower is up to date, no other notification is pending.
    const checkpoints = 'select follower from public.follower_checkpoint where position < $1';
    const head = await eventLog.head();
    await until(
      async () => (await pool.query(checkpoints, [head])).rows,
      (behind) => behind.length === 0,
    );
    const before = await live();
    await listener.query('listen annals_read_model; listen annals_event_log');
    await replay(readModel.work(), { schema: 'replay_quietly', upTo: before.head });
    expect(await live()).toEqual(before);
    // The response comes after all earlier notifications.
    await listener.query('select');
    await listener.end();
    expect(rung).toEqual([]);
    expect(await digestOf(pool, 'replay_quietly')).toEqual(before.digest);
  });

  test('contains no personal data of a user who is erased meanwhile', async ({
    authors,
    readModel,
    side,
    past,
  }) => {
    const leaving = authors[3] as UserId;
    let destroyed: Promise<void> | undefined;
    const onProgress = ({ step }: Progress) => {
      if (step === 'events') destroyed ??= side.keys.destroy(leaving);
    };
    const work = readModel.work({ onProgress });
    // The replay goes on once the key is gone, as it would long before the end of a large one.
    const pool = new Proxy(work.pool, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value;
        return async (...given: Parameters<typeof target.query>) => {
          await destroyed;
          return target.query(...given);
        };
      },
    });
    await replay({ ...work, pool }, { schema: 'replay_leaving', upTo: past.position });
    const { rows } = await side.pool.query<{ name: string | null }>(
      'select name from replay_leaving.users where id = $1',
      [leaving],
    );
    expect(rows).toEqual([{ name: null }]);
  });

  test.for(['events', 'indexes'] as const)(
    'that is stopped at its %s leaves nothing',
    async (step, { readModel, side, past }) => {
      const stopping = new AbortController();
      const onProgress = (progress: Progress) => {
        if (progress.step === step) stopping.abort();
      };
      const stopped = replay(readModel.work({ signal: stopping.signal, onProgress }), {
        schema: 'replay_stopped',
        upTo: past.position,
      });
      await expect(stopped).rejects.toThrow();
      expect((await listScratch(side.pool)).map(({ schema }) => schema)).not.toContain('replay_stopped');
    },
  );
});
