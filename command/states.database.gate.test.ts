// Over 200 lines, because it is one list: the possible starting points of a process without a cached stream.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { EventId, LogIdentity, Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { deciderOf, type KindDecider } from '#kernel/decide/decider.ts';
import type { Codec } from '#shared/events/codec.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { createSnapshots } from '#shared/snapshots/snapshots.ts';
import {
  as,
  by,
  type CommandSide,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from '../test/engines/command-side.ts';
import { cutLog } from '../test/engines/cut-log.ts';
import { test } from '../test/engines/processes.ts';
import { until } from '../testing/until.ts';
import { createStates, type States } from './states.ts';

/** More than the snapshot interval, and not a multiple of it. */
const EDITS = 600;

let side: CommandSide;
let author: UserId;
test.beforeAll(({ author: registered, side: opened }) => {
  [author, side] = [registered, opened];
});

const decider = (kind: string): KindDecider => {
  const found = side.domain.kinds[kind];
  if (found === undefined) throw new Error(`There is no ${kind}`);
  return deciderOf(side.domain, found);
};
const load = (states: States, stream: StreamName, of = decider(stream.split('-')[0] ?? '')) =>
  states.load(of as never, stream);

/** The states of a new process, and the number of events that it decodes. */
const freshProcess = (from = side) => {
  const seen = { decoded: 0 };
  const codec: Codec = {
    ...from.codec,
    decodeAll(events) {
      seen.decoded += events.length;
      return from.codec.decodeAll(events);
    },
  };
  return { seen, states: createStates({ log: from.eventLog, codec, snapshots: from.snapshots }) };
};
const snapshotOf = async (stream: StreamName) =>
  (
    await side.pool.query(
      'select version, persons from snapshots.fold where stream = $1 order by position desc limit 1',
      [stream],
    )
  ).rows[0];
const versionsOf = async (stream: StreamName) =>
  (
    await side.pool.query<{ version: number }>(
      'select version from snapshots.fold where stream = $1 order by position',
      [stream],
    )
  ).rows.map(({ version }) => version);
const untilSaved = (stream: StreamName, version: number) =>
  until(
    () => snapshotOf(stream),
    (row) => row?.version >= version,
  );

/** Appends further events to a stream, like a command. */
const appendMany = async (
  stream: StreamName,
  from: number,
  events: readonly { readonly type: string; readonly data: object }[],
  to = side,
) => {
  const context = {
    actor: 'system:test',
    client: null,
    request: 'test',
    correlation: 'test',
    causation: null,
    at: new Date().toISOString(),
  } as const;
  const unencoded = events.map((event) => ({ id: randomUUID() as EventId, event: event as never }));
  await to.eventLog.append(stream, from as Version, await to.codec.encodeAll(stream, context, unencoded));
};
const edits = (articleId: number, authorId: UserId) =>
  Array.from({ length: EDITS }, (_, n) => ({
    type: 'article.edited',
    data: { articleId, authorId, title: `Title ${n}` },
  }));
const longArticle = async (): Promise<StreamName> => {
  const articleId = await draftArticle(side, author);
  const stream = streamName('article', articleId);
  await appendMany(stream, 2, edits(articleId, author));
  await load(freshProcess().states, stream);
  await untilSaved(stream, EDITS);
  return stream;
};
const longUser = async (): Promise<{ userId: UserId; stream: StreamName }> => {
  const userId = await registerUser(side);
  const stream = streamName('user', userId);
  await appendMany(
    stream,
    1,
    Array.from({ length: EDITS }, (_, n) => ({ type: 'user.updated', data: { userId, name: `Ada ${n}` } })),
  );
  await load(freshProcess().states, stream);
  await untilSaved(stream, EDITS);
  return { userId, stream };
};
/** The state folded from the first event. */
const whole = (stream: StreamName) => load(createStates({ log: side.eventLog, codec: side.codec }), stream);

test('a new process folds a long stream from its latest snapshot to the same state', async () => {
  const stream = await longArticle();
  const { states, seen } = freshProcess();
  expect(await load(states, stream)).toEqual(await whole(stream));
  expect(seen.decoded).toBeLessThan(256);
});

test('a short stream has no snapshot', async () => {
  const stream = streamName('article', await draftArticle(side, author));
  const { states, seen } = freshProcess();
  await load(states, stream);
  expect([seen.decoded, await snapshotOf(stream)]).toEqual([2, undefined]);
});

test('concurrent loads of one stream share a fold', async () => {
  const stream = streamName('article', await draftArticle(side, author));
  const { states, seen } = freshProcess();
  const known = await Promise.all(Array.from({ length: 20 }, () => load(states, stream)));
  expect(new Set(known.map(({ version }) => version))).toEqual(new Set([2]));
  expect(seen.decoded).toBe(2);
});

test('saves that fail do not keep later ones from being tried', async () => {
  const stream = await longArticle();
  let tried = 0;
  const snapshots: typeof side.snapshots = {
    ...side.snapshots,
    find: async () => undefined,
    save: async (all) => {
      if (all.length === 0 || all.some(({ version }) => version % 512 === 0)) return;
      tried += 1;
      throw new Error('the disk is full');
    },
  };
  // Nothing is cached, so that each load has a state to save.
  const states = createStates({ log: side.eventLog, codec: side.codec, snapshots, weightMax: 1 });
  for (let time = 1; time <= 4; time += 1) {
    await load(states, stream);
    await until(
      () => tried,
      (found) => found === time,
    );
  }
});

test('personal data in snapshots is sealed, and deleted with its person', async () => {
  const { userId, stream } = await longUser();
  const { states, seen } = freshProcess();
  expect(await load(states, stream)).toEqual(await whole(stream));
  expect(seen.decoded).toBeLessThan(256);
  const { rows } = await side.pool.query<{ text: string }>(
    `select encode(sealed, 'escape') as text from snapshots.fold where stream = $1`,
    [stream],
  );
  expect(rows).toEqual([
    { text: expect.not.stringContaining('Ada') },
    { text: expect.not.stringContaining('Ada') },
  ]);
  await side.send({ type: 'DeleteUser', userId }, by(as(userId)));
  await until(
    () => snapshotOf(stream),
    (row) => row === undefined,
  );
  expect((await load(freshProcess().states, stream)).state).toMatchObject({ status: 'ended' });
});

test('a snapshot that cannot be decrypted is ignored, however it was corrupted', async () => {
  const stream = await longArticle();
  const { rows } = await side.pool.query<{ sealed: Buffer }>(
    'select sealed from snapshots.fold where stream = $1',
    [stream],
  );
  const set = (column: string, value: unknown) =>
    side.pool.query(`update snapshots.fold set ${column} = $2 where stream = $1`, [stream, value]);
  const broken = Buffer.from(rows[0]?.sealed ?? '');
  broken[40] = (broken[40] ?? 0) ^ 1;
  for (const [column, value] of [
    ['sealed', broken],
    ['sealed', Buffer.alloc(0)],
    ['version', 300],
    ['persons', [author]],
    ['persons', [4_711]],
  ] as const) {
    await set(column, value);
    const { states, seen } = freshProcess();
    expect((await load(states, stream)).version).toBe(EDITS + 2);
    expect(seen.decoded).toBe(EDITS + 2);
    // The fold replaces the snapshot.
    await untilSaved(stream, EDITS);
  }
});

test('another master key, a copy of the log or another definition leads to a new fold', async () => {
  const stream = await longArticle();
  const masterKey = parseMasterKey(Buffer.alloc(32, 7).toString('base64'));
  const other = { ...side, snapshots: createSnapshots({ ...side, masterKey }) };
  const copy = {
    ...side,
    snapshots: createSnapshots({ ...side, eventLog: { identity: 'another' as LogIdentity } }),
  };
  const changed = { ...decider('article'), definition: 'another' };
  for (const [process, of] of [
    [freshProcess(other), decider('article')],
    [freshProcess(copy), decider('article')],
    [freshProcess(), changed],
  ] as const) {
    expect((await load(process.states, stream, of)).version).toBe(EDITS + 2);
    expect(process.seen.decoded).toBe(EDITS + 2);
  }
});

test('a long stream gets snapshots despite an erased person in it, and despite another writer', async () => {
  const { userId, stream } = await longUser();
  await side.pool.query('delete from snapshots.fold where stream = $1', [stream]);
  await side.keys.destroy(userId);
  await load(freshProcess().states, stream);
  expect(await untilSaved(stream, EDITS)).toMatchObject({ persons: [] });

  const article = await longArticle();
  const { states } = freshProcess();
  const [base, same] = await Promise.all([load(states, article), load(states, article)]);
  expect(same.version).toBe(base.version);
  const articleId = Number(article.split('-')[1]);
  const event = { type: 'article.edited', data: { articleId, authorId: author, title: 'Last' } } as const;
  const encoded = Array.from({ length: 256 }, () => ({ id: randomUUID() as EventId, data: {} }));
  const version = (same.version + encoded.length) as Version;
  const advanced = {
    stream: article,
    from: same,
    events: encoded.map(() => event),
    encoded,
    to: { version, position: (same.position + 1) as Position },
  };
  states.advance(decider('article') as never, advanced as never);
  await untilSaved(article, version);
});

test('an earlier state is folded from the snapshot before it, which a full fold leaves behind', async () => {
  const stream = await longArticle();
  await appendMany(stream, EDITS + 2, edits(Number(stream.split('-')[1]), author));
  await load(freshProcess().states, stream);
  await untilSaved(stream, 2 * EDITS);
  const recorded = (await Array.fromAsync(side.eventLog.read(stream))).flat();
  const of = decider('article');
  let state = of.initial;
  const expected = (await side.codec.decodeAll(recorded)).map((event) => {
    state = of.evolve(state, event);
    return state;
  });
  expect(await versionsOf(stream)).toEqual([512, 1_024, 2 * EDITS + 2]);
  for (const version of [1, 2, 400, 511, 512, 513, 700, 1_024, 1_202]) {
    const { states, seen } = freshProcess();
    const event = recorded[version - 1];
    if (event === undefined) throw new Error(`There is no version ${version}`);
    expect(await states.at(of as never, stream, event)).toEqual(expected[version - 1]);
    expect(seen.decoded).toBeLessThan(512);
  }
});

test('one of the snapshots that cover the same events remains, however often it is saved', async () => {
  const stream = await longArticle();
  const [event] = (await Array.fromAsync(side.eventLog.read(stream, 600 as Version, 600 as Version))).flat();
  if (event === undefined) throw new Error('There is no version 600');
  const fold = { fold: 'state', definition: decider('article').definition } as const;
  const place = { ...fold, stream, persons: [] };
  const at = (version: number, text: string) =>
    ({
      ...place,
      version: version as Version,
      position: (event.position - 600 + version) as Position,
      event: event.id,
      state: { text },
    }) as const;
  expect(await versionsOf(stream)).toEqual([512, EDITS + 2]);
  await side.snapshots.save([at(520, ''), at(610, '')]);
  await side.snapshots.save([at(520, '')]);
  expect(await versionsOf(stream)).toEqual([512, 610]);
  // A snapshot of a hundred kilobytes covers more events.
  await side.snapshots.save([at(900, 'x'.repeat(100_000)), at(1_000, 'x'.repeat(100_000))]);
  expect(await versionsOf(stream)).toEqual([1_000]);
  await side.snapshots.save([{ ...at(2_000, ''), definition: 'another' }]);
  expect(await versionsOf(stream)).toEqual([2_000]);
});

test('a person who appears in events after the snapshot is recorded with the next one', async () => {
  const { userId, stream } = await longUser();
  const of = decider('user');
  await side.pool.query('delete from snapshots.fold where stream = $1', [stream]);
  const [first] = (await Array.fromAsync(side.eventLog.read(stream, 512 as Version, 512 as Version))).flat();
  if (first === undefined) throw new Error('There is no version 512');
  const state = await freshProcess().states.at(of as never, stream, first);
  await side.pool.query('delete from snapshots.fold where stream = $1', [stream]);
  const { version, position, id: event } = first;
  // A snapshot without any person.
  await side.snapshots.save([
    { fold: 'state', definition: of.definition, stream, version, position, event, persons: [], state },
  ]);
  const long = Array.from({ length: 300 }, (_, n) => ({
    type: 'user.updated',
    data: { userId, name: `Grace ${n}` },
  }));
  await appendMany(stream, EDITS + 1, long);
  await load(freshProcess().states, stream);
  expect(await untilSaved(stream, EDITS + 300)).toMatchObject({ persons: [userId] });
});

test('a snapshot of events that the log has lost is not used', async () => {
  await using lossy = await createCommandDatabase();
  await using before = await lossy.open();
  const userId = await registerUser(before);
  const articleId = await draftArticle(before, userId);
  const keptUpTo = await before.eventLog.head();
  const stream = streamName('article', articleId);
  await appendMany(stream, 2, edits(articleId, userId), before);
  await load(freshProcess(before).states, stream);
  await until(
    async () =>
      (
        await before.pool.query('select max(version) as version from snapshots.fold where stream = $1', [
          stream,
        ])
      ).rows[0],
    (row) => row?.version === EDITS + 2,
  );
  await cutLog(before.pool, keptUpTo);
  const { states } = freshProcess(before);
  expect(await load(states, stream)).toMatchObject({
    version: 2,
    state: { fields: { title: 'On engines' } },
  });
});
