import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref } from '#kernel/declare/fields.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { allEvents, by, system } from '../../test/engines/command-side.ts';
import { SCOPES } from '../../test/engines/policy.ts';
import { test as processes } from '../../test/engines/processes.ts';

const base = domain({
  name: 'school',
  roles: ['pupil', 'teacher'],
  user: {
    fields: { department: line(80).optional() },
    fieldRights: { changeDepartment: { writes: ['department'], teacher: 'caller' } },
  },
});
const { aggregate, user } = base;
const lesson = aggregate('lesson', {
  owner: 'teacher',
  fields: { teacher: ref(user), title: line(80) },
  events: { planned: { creates: ['title'] } },
  commands: { plan: { emits: 'planned', when: { teacher: { role: 'teacher' } } } },
  rights: { read: { anyone: true }, plan: { signedIn: 'own' } },
});
const school = assemble(base, [lesson]);
const as = (userId: UserId, role: string): Caller => ({
  ...{ kind: 'user', policy: policyOf(school), userId, role },
  ...{ scopes: new Set([...SCOPES, 'write:lessons']), client: 'test-client' },
});

const test = processes.extend('sideOptions', { scope: 'file' }, { domain: school }).extend(
  'register',
  { scope: 'file' },
  ({ side }) =>
    async (content: object) =>
      (await side.send({ type: 'RegisterUser', ...content }, by(system))).id as UserId,
);

test('a decision gets all fields of users, whatever was read before', async ({ register, side }) => {
  const teacher = await register({ name: 'Ada', role: 'teacher' });
  const pupil = await register({ name: 'Ben', role: 'pupil' });
  const plan = { type: 'PlanLesson', title: 'On engines' };
  await side.send(plan, by(as(teacher, 'teacher')));
  await expect(side.send(plan, by(as(pupil, 'pupil')))).rejects.toMatchObject({ code: 'lesson_not_ready' });
  await side.send({ type: 'UpdateUser', userId: pupil, role: 'teacher' }, by(system));
  await side.send(plan, by(as(pupil, 'teacher')));
});

test('an added field is registered, changed and patched by callers with the right to it', async ({
  register,
  side,
}) => {
  const teacher = await register({ name: 'Ada', role: 'teacher', department: 'Sums' });
  const update = (changes: object, caller: Caller) =>
    side.send({ type: 'UpdateUser', userId: teacher, ...changes }, by(caller));
  await update({ department: 'Engines' }, as(teacher, 'teacher'));
  // As pupils they may send it unchanged, and no other value.
  await update({ department: 'Engines', name: 'Ada L.' }, as(teacher, 'pupil'));
  await expect(update({ department: null }, as(teacher, 'pupil'))).rejects.toMatchObject({
    code: 'forbidden',
  });
  const patch = [{ op: 'remove', path: '/department' }];
  await side.send({ type: 'PatchUser', userId: teacher, patch }, by(as(teacher, 'teacher')));
  await expect(update({ department: ' ' }, system)).rejects.toMatchObject({ code: 'invalid_command' });
  const events = (await allEvents(side)).filter(({ stream }) => stream === `user-${teacher}`);
  expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
    {
      type: 'user.registered',
      data: { userId: teacher, name: 'Ada', email: null, role: 'teacher', department: 'Sums' },
    },
    { type: 'user.updated', data: { userId: teacher, department: 'Engines' } },
    { type: 'user.updated', data: { userId: teacher, name: 'Ada L.' } },
    { type: 'user.updated', data: { userId: teacher, department: null } },
  ]);
});
