import { expect, test } from 'vitest';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { commandSchema } from '#kernel/decide/forms.ts';
import { ID, OWNER, rulesOf } from '#kernel/decide/given.ts';
import { lookNowhere } from '#kernel/decide/guards.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { plans } from '../../test/toy/plans.ts';
import { commandOf, withEventCommands } from './event-commands.ts';

test('an event has the values that its decision would compute, and no condition is asked', () => {
  const domain = withEventCommands(plans);
  const kind = domain.kinds.plan as Kind;
  const command = kind.commands[commandOf('taskAdded')];
  const type = typeOfCommand(kind, commandOf('taskAdded'));
  const form = command && commandSchema(kind, command).parse({ type, planId: ID, title: 'Pack', number: 7 });
  const named = { kind: 'plan', events: { made: {}, finished: {} }, commands: {} };
  const { state } = rulesOf(plans).given(named, ['made', { title: 'Move' }], 'finished');
  const context = { callerId: OWNER, at: '2019-05-01T10:00:00.000Z', look: lookNowhere };
  expect(deciderOf(domain, kind).decide(form as never, state, context)).toMatchObject([
    { type: 'plan.taskAdded', data: { taskId: 1, title: 'Pack', number: 7, state: 'todo' } },
  ]);
});
