// Over 200 lines, because all cases end tasks of the one domain that is declared here.
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { membershipsOf } from '#kernel/decide/memberships.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref, states } from '#kernel/declare/fields.ts';
import { type NewEvent, NO_STREAM } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { createCodec } from '#shared/events/codec.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { test as pools } from '../../test/engines/pool.ts';
import { endChild } from './end-child.ts';

/** A task ends with its board or with its helper, in different states. */
const base = domain({ name: 'tasks', roles: ['member'] });
const { aggregate, user } = base;
const board = aggregate('board', {
  fields: { title: line(10) },
  events: { opened: { creates: ['title'] }, closed: { ends: true }, archived: { ends: true } },
  commands: { open: { emits: 'opened' }, close: { emits: 'closed' }, archive: { emits: 'archived' } },
  rights: { read: { anyone: true } },
});
const task = aggregate('task', {
  parent: 'board',
  owner: 'helper',
  fields: { board: ref(board), helper: ref(user), title: line(10), status: states('new', 'begun') },
  events: {
    added: { creates: ['title'] },
    renamed: { changes: ['title'] },
    begun: { sets: { status: 'begun' } },
    dropped: { ends: true, carries: ['title'] },
  },
  commands: {
    add: { emits: 'added' },
    rename: { emits: 'renamed' },
    begin: { emits: 'begun' },
    drop: { emits: 'dropped' },
  },
  rights: { read: { as: 'board' } },
  reactions: {
    board: { closed: { run: 'drop', when: 'new' }, archived: { run: 'drop' } },
    helper: { deleted: { run: 'drop', when: 'begun' } },
  },
});
const tasks = assemble(base, [board, task]);

const METADATA: MetadataContext = {
  at: '2026-01-02T03:04:05.678Z',
  actor: 'system:test',
  client: null,
  request: 'r',
  correlation: 'r',
  causation: null,
};

const newId = () => crypto.randomUUID() as EventId;
let ids = 0;

const test = pools
  .extend('connectionsMax', { scope: 'file' }, 4)
  .extend('codec', { scope: 'file' }, async ({ pool }, { onCleanup }) => {
    const masterKey = parseMasterKey(randomBytes(32).toString('base64'));
    const keys = await openPostgresKeyStore({ pool, masterKey });
    onCleanup(() => keys[Symbol.asyncDispose]());
    return createCodec({ keys, domain: tasks });
  })
  .extend('log', { scope: 'file' }, ({ codec, eventLog }) => {
    const append = async (
      stream: string,
      ...events: readonly { type: string; data: object }[]
    ): Promise<void> => {
      const encoded = await codec.encodeAll(
        stream as StreamName,
        METADATA,
        events.map((event) => ({ id: newId(), event: event as unknown as AnnalsEvent })),
      );
      await eventLog.append(stream as StreamName, NO_STREAM, encoded);
    };
    /** Creates a task in a state, ends its board and helper, and ends the task with one of them. */
    const endedTask = async (
      status: 'new' | 'begun',
      ended: { board?: 'closed' | 'archived'; helper?: 'deleted' },
    ) => {
      ids += 10;
      const [boardId, helperId, taskId] = [ids + 1, ids + 2, ids + 3];
      const named = { taskId, boardId, helperId };
      await append(
        `board-${boardId}`,
        { type: 'board.opened', data: { boardId, title: 'One' } },
        ...(ended.board === undefined ? [] : [{ type: `board.${ended.board}`, data: { boardId } }]),
      );
      if (ended.helper !== undefined)
        await append(`user-${helperId}`, { type: `user.${ended.helper}`, data: { userId: helperId } });
      await append(
        `task-${taskId}`,
        { type: 'task.added', data: { ...named, title: 'One' } },
        { type: 'task.renamed', data: { ...named, title: 'Two' } },
        ...(status === 'begun' ? [{ type: 'task.begun', data: named }] : []),
      );
      const stream = `task-${taskId}` as StreamName;
      await endChild(
        { domain: tasks, eventLog, codec, memberships: membershipsOf(tasks) },
        { stream, eventId: newId(), metadata: METADATA },
      );
      return endOf(stream);
    };
    const endOf = async (stream: StreamName) => {
      const last = (await Array.fromAsync(eventLog.read(stream))).flat().at(-1);
      return last?.type === 'task.dropped' ? { title: last.data.title } : 'stays';
    };
    return { append, endOf, endedTask };
  });

test.for([
  ['new', { board: 'closed' }, true],
  ['begun', { board: 'closed' }, false],
  ['begun', { board: 'archived' }, true],
  ['new', { helper: 'deleted' }, false],
  ['begun', { helper: 'deleted' }, true],
  ['begun', { board: 'closed', helper: 'deleted' }, true],
  ['new', { board: 'closed', helper: 'deleted' }, true],
] as const)(
  'a task that is %s, with %o: the reaction to that which has ended decides, and its end holds what it carries',
  async ([status, ended, isEnded], { log: { endedTask } }) => {
    expect(await endedTask(status, ended)).toEqual(isEnded ? { title: 'Two' } : 'stays');
  },
);

const damages: Readonly<Record<string, (event: NewEvent) => NewEvent>> = {
  'whose title is none': (event) => ({ ...event, data: { ...event.data, title: 7 } }),
  'of a type that nobody knows': (event) => ({ ...event, type: 'task.folded' }),
  'without metadata': (event) => ({ ...event, metadata: {} }),
};
test.for([
  ['whose title is none', 0, 'Three'],
  ['whose title is none', 2, 'Two'],
  ['of a type that nobody knows', 1, 'Three'],
  ['without metadata', 2, 'Two'],
] as const)(
  'an event %s, the one at %i, keeps no task alive: its end holds what the others say',
  async ([how, index, title], { codec, eventLog, log: { append, endOf } }) => {
    ids += 10;
    const named = { taskId: ids + 3, boardId: ids + 1, helperId: ids + 2 };
    const { taskId, boardId } = named;
    await append(
      `board-${boardId}`,
      { type: 'board.opened', data: { boardId, title: 'One' } },
      { type: 'board.archived', data: { boardId } },
    );
    const stream = `task-${taskId}` as StreamName;
    const events = [
      { type: 'task.added', data: { ...named, title: 'One' } },
      { type: 'task.renamed', data: { ...named, title: 'Two' } },
      { type: 'task.renamed', data: { ...named, title: 'Three' } },
    ].map((event) => ({ id: newId(), event: event as unknown as AnnalsEvent }));
    const encoded = await codec.encodeAll(stream, METADATA, events);
    await eventLog.append(
      stream,
      NO_STREAM,
      encoded.map((event, at) => (at === index ? (damages[how]?.(event) ?? event) : event)),
    );
    await endChild(
      { domain: tasks, eventLog, codec, memberships: membershipsOf(tasks) },
      { stream, eventId: newId(), metadata: METADATA },
    );
    expect(await endOf(stream)).toEqual({ title });
  },
);

test('the stream of a child is read once, and after a conflict only from there', async ({
  codec,
  eventLog,
  log: { append, endOf },
}) => {
  ids += 10;
  const [boardId, helperId, taskId] = [ids + 1, ids + 2, ids + 3];
  const named = { taskId, boardId, helperId };
  await append(
    `board-${boardId}`,
    { type: 'board.opened', data: { boardId, title: 'One' } },
    { type: 'board.archived', data: { boardId } },
  );
  const stream = `task-${taskId}` as StreamName;
  const renames = Array.from({ length: 20 }, (_, index) => ({
    type: 'task.renamed',
    data: { ...named, title: String(index) },
  }));
  await append(stream, { type: 'task.added', data: { ...named, title: 'One' } }, ...renames);
  let read = 0;
  let others = 3;
  const counting: Pick<typeof eventLog, 'read' | 'append'> = {
    async *read(of, ...asked) {
      for await (const page of eventLog.read(of, ...asked)) {
        if (of === stream) read += page.length;
        yield page;
      }
    },
    async append(to, expected, events) {
      others -= 1;
      if (others >= 0) {
        const event = { type: 'task.renamed', data: { ...named, title: 'Late' } } as unknown as AnnalsEvent;
        await eventLog.append(to, 'any', await codec.encodeAll(to, METADATA, [{ id: newId(), event }]));
      }
      return eventLog.append(to, expected, events);
    },
  };
  await endChild(
    { domain: tasks, eventLog: counting, codec, memberships: membershipsOf(tasks) },
    { stream, eventId: newId(), metadata: METADATA },
  );
  expect(await endOf(stream)).toEqual({ title: 'Late' });
  expect(read).toBe(1 + renames.length + 3);
});

test('the end of an aggregate that only another release knows is kept for that one', async ({
  codec,
  eventLog,
}) => {
  await expect(
    endChild(
      { domain: tasks, eventLog, codec, memberships: membershipsOf(tasks) },
      { stream: 'claim-1' as StreamName, eventId: newId(), metadata: METADATA },
    ),
  ).rejects.toThrow('claim-1 has no parent that can be deleted');
});
