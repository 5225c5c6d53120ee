import { expect, test } from 'vitest';
import { domain } from '#kernel/declare/domain.ts';
import { instant, line, ref } from '#kernel/declare/fields.ts';
import { idsIn } from '#shared/visibility/visible-data.ts';
import { assemble } from '../assembly/assemble.ts';
import type { StreamName } from '../base/brands.ts';
import { visibilityOf } from './visibility.ts';

/** Users with a guarded field of the domain whose name ends like that of an id. */
const club = assemble(
  domain({
    name: 'club',
    roles: ['member'],
    user: {
      fields: { badgeId: line(20).optional() },
      fieldRights: { readBadge: { reads: ['badgeId'], signedIn: 'caller' } },
    },
  }),
  [],
);

test('a caller who may read neither of two guarded fields does not see a change of both', () => {
  const { rightTo } = visibilityOf(club).types.get('user.updated') ?? {};
  expect(rightTo?.({ userId: 1, email: 'ada@example.com' })).toBe('user.read_private');
  expect(rightTo?.({ userId: 1, badgeId: 'B 1' })).toBe('user.read_badge');
  expect(rightTo?.({ userId: 1, email: 'ada@example.com', badgeId: 'B 1' })).toBe('user.read_private');
  expect(rightTo?.({ userId: 1, name: 'Ada', email: 'ada@example.com' })).toBe('user.read');
});

test('ids in a change feed are those of aggregates only', () => {
  const data = { userId: 1, name: 'Ada', badgeId: 'B 1' };
  expect(idsIn(club, { type: 'user.registered', stream: 'user-1' as StreamName }, data)).toEqual({
    userId: 1,
  });
});

/** A task is visible to its taker from the taking on, and to everyone once it is done. */
const desk = domain({ name: 'desk', roles: ['member'] });
const task = desk.aggregate('task', {
  fields: { title: line(10), taker: ref(desk.user).optional(), doneAt: instant().optional() },
  events: {
    added: { creates: ['title'] },
    taken: { sets: { taker: 'caller' } },
    done: { sets: { doneAt: 'now' } },
  },
  commands: { add: { emits: 'added' }, take: { emits: 'taken' }, finish: { emits: 'done' } },
  rights: { read: { anyone: [{ taker: 'caller' }, { doneAt: { not: null } }] } },
});

test('the state after an event includes its actor and time', () => {
  const { types } = visibilityOf(assemble(desk, [task]));
  const [before, at] = [{ taskTakerId: null, taskDoneAt: null }, '2026-01-02T03:04:05.678Z'];
  const after = (type: string) =>
    types
      .get(type)
      ?.factsAfter(before, { data: { taskId: 5, title: 'One' }, at, origin: { actor: 'user:2' } });
  expect(after('task.added')).toEqual(before);
  expect(after('task.taken')).toEqual({ ...before, taskTakerId: 2 });
  expect(after('task.done')).toEqual({ ...before, taskDoneAt: at });
});
