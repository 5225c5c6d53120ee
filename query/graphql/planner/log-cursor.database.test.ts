import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { EventId, LogIdentity, Position } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import { POLICY } from '../../../test/engines/policy.ts';
import { schema } from '../../../test/engines/schema.ts';
import { ANONYMOUS, test as it, operationOf } from '../../../test/graphql/planned.ts';
import { searchesOn } from '../../rows/searches.ts';
import { createPlanner } from './planner.ts';

const IDENTITY = '0123abcd-0000-4000-8000-000000000000' as LogIdentity;

it.beforeAll(async ({ pool }) => {
  for (const name of ['0001-checkpoint.sql', '0002-checkpoint-event.sql']) {
    const file = new URL(`../../../shared/follower/${name}`, import.meta.url);
    await pool.query(`set search_path = public; ${await readFile(file, 'utf8')}; reset search_path`);
  }
});

it('is left to the resolvers while nothing has been projected yet', async ({ plan }) => {
  expect(await plan('{ cursor }')).toBeUndefined();
});

it.for([
  0,
  1,
  35,
  36,
  1_295,
  1_296,
  46_655,
  46_656,
  123_456_789,
  36 ** 10 - 1,
  36 ** 10,
  Number.MAX_SAFE_INTEGER,
])('writes the position %d like every other cursor', async (position, { plan, pool }) => {
  await pool.query(
    `insert into public.follower_checkpoint values ('projector', $1, $2, 1) on conflict (follower) do update set position = $2`,
    [IDENTITY, position],
  );
  const cursor = formatCursor(IDENTITY, position as Position);
  expect(await plan('{ posts { id } cursor now: cursor }')).toBe(
    JSON.stringify({ posts: [], cursor, now: cursor }),
  );
  const event = randomUUID() as EventId;
  await pool.query('update public.follower_checkpoint set event = $1, event_position = position', [event]);
  const named = formatCursor(IDENTITY, position as Position, event);
  expect(named).toHaveLength(cursor.length + 9);
  expect(await plan('{ posts { id } cursor }')).toBe(JSON.stringify({ posts: [], cursor: named }));
  await pool.query('update public.follower_checkpoint set event_position = -1');
  expect(await plan('{ posts { id } cursor }')).toBe(JSON.stringify({ posts: [], cursor }));
});

it('names the event as soon as new cursors do, also by a plan from before', async ({ pool }) => {
  let isOn = false;
  const eventLog = { namesEvents: () => isOn };
  const planner = createPlanner({ schema, policy: POLICY, pool, searches: searchesOn(pool), eventLog });
  const read = { ...operationOf('{ now: cursor }'), variables: {}, caller: ANONYMOUS };
  const event = randomUUID() as EventId;
  await pool.query(
    `insert into public.follower_checkpoint (follower, log, position, epoch, event, event_position) values ('projector', $1, 7, 1, $2, 7)
     on conflict (follower) do update set position = 7, event = $2, event_position = 7`,
    [IDENTITY, event],
  );
  expect(await planner.plan(read)).toBe('{"now":"0123abcd-7"}');
  isOn = true;
  expect(await planner.plan(read)).toBe(`{"now":"0123abcd-7-${event.slice(-8)}"}`);
});
