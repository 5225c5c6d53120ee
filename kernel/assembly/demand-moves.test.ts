import { expect, test } from 'vitest';
import { StartRefused } from '../base/start-refused.ts';
import { domain } from '../declare/domain.ts';
import { type Fields, line, ref } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const { aggregate } = base;

const box = aggregate('box', {
  fields: { title: line(9) },
  events: { made: { creates: ['title'] } },
  commands: { make: { emits: 'made' } },
  rights: { read: { anyone: true } },
});
const tried = (moved: object, more: Fields = {}) => {
  const thing = aggregate('thing', {
    parent: 'box',
    fields: { box: ref(box), other: ref(box), title: line(9), ...more },
    events: { put: { creates: ['title', 'other'] }, moved: moved as { moves: 'box' } },
    commands: { put: { emits: 'put' }, move: { emits: 'moved' } },
    rights: { read: { anyone: true } },
  });
  return () => assemble(base, [box, thing]);
};

test.each<readonly [says: string, moved: object, more: Fields]>([
  ["changes box, which is the parent: let an event with `moves: 'box'` change it.", { changes: ['box'] }, {}],
  ["changes box, which is the parent: let an event with `moves: 'box'` change it.", { sets: { box: 5 } }, {}],
  ['moves other, which is neither a list nor the `parent`: use one of those.', { moves: 'other' }, {}],
  ['moves house, which is neither a list nor the `parent`: use one of those.', { moves: 'house' }, {}],
  [
    'records the former parent as formerBoxId, which is the name of the field formerBox: give the field another name.',
    { moves: 'box' },
    { formerBox: ref('box').optional() },
  ],
])('refused: %s', (says, moved, more) => {
  expect(tried(moved, more)).toThrow(new StartRefused(`thing: the event moved ${says}`));
});

test('a parent changes by an event of its own, which may set further fields', () => {
  expect(tried({ moves: 'box' })).not.toThrow();
  expect(tried({ moves: 'box', sets: { title: 'Moved' } })).not.toThrow();
});

test('a user to whom personal fields belong is no parent that changes', () => {
  const thing = aggregate('thing', {
    parent: 'person',
    fields: { person: ref(base.user), title: line(9).personal({ of: 'person' }) },
    events: { put: { creates: ['title'] }, moved: { moves: 'person' } },
    commands: { put: { emits: 'put' }, move: { emits: 'moved' } },
    rights: { read: { anyone: true } },
  });
  expect(() => assemble(base, [thing])).toThrow(
    'thing: the event moved moves the thing to another person, to whom personal fields belong: let them belong to the owner.',
  );
});

test('a command that emits a move has its form, and so names it first', () => {
  const withCommand = (emits: readonly ('moved' | 'noted')[]) => {
    const declaration: object = {
      parent: 'box',
      fields: { box: ref(box), title: line(9), note: line(9).optional() },
      events: { put: { creates: ['title'] }, moved: { moves: 'box' }, noted: { changes: ['note'] } },
      commands: { put: { emits: 'put' }, pack: { emits, decide: () => ['moved'] } },
      rights: { read: { anyone: true } },
    };
    return () => assemble(base, [box, aggregate('thing', declaration as never)]);
  };
  expect(withCommand(['noted', 'moved'])).toThrow(
    new StartRefused(
      'thing: the command pack emits moved after noted, whose form has no new box, so it never moves the thing: name moved first.',
    ),
  );
  expect(withCommand(['moved', 'noted'])).not.toThrow();
});
