import { expect, test } from 'vitest';
import { ofAggregates } from '../../shared/rest/operations.ts';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { integer, line, ref, states } from '../declare/fields.ts';
import { rulesOf } from './given.ts';

const base = domain({ name: 'desk', roles: ['agent'] });
const { aggregate } = base;

const ticket = aggregate('ticket', {
  fields: {
    subject: line(20),
    into: ref('ticket').optional(),
    score: integer(0, 9).default(0),
    status: states('open', 'closed'),
  },
  events: {
    opened: { creates: ['subject', 'score'] },
    merged: { changes: ['into'] },
    scored: { computes: ['score'] },
    closed: { sets: { status: 'closed' } },
  },
  facts: { open: { says: 'The ticket is closed.' } },
  commands: {
    open: {
      emits: 'opened',
      refuses: { noSubject: 'A ticket needs a subject.' },
      decide: ({ form, refuse }) => {
        if (form.subject === 'nothing') return [];
        return form.subject === 'x' ? refuse('noSubject') : ['opened'];
      },
      next: ['close'],
    },
    merge: {
      emits: 'merged',
      when: 'open',
      refuses: { alreadyMerged: 'The ticket was merged already.' },
      decide: ({ state, form, refuse }) => {
        if (state.into === form.intoId) return [];
        return state.into === null ? ['merged'] : refuse('alreadyMerged');
      },
    },
    score: {
      emits: 'scored',
      when: 'open',
      decide: ({ state }) => {
        if (state.status === 'closed') throw new TypeError('Only open tickets have a score to raise');
        return [['scored', { score: state.score + 1 }]];
      },
    },
    close: {
      emits: 'closed',
      refuses: { tooLow: 'The score is too low.' },
      decide: ({ state, refuse }) => {
        // Without `return`, it is refused anyway.
        if (state.score === 0) refuse('tooLow');
        return ['closed'];
      },
    },
  },
  rights: { read: { anyone: true }, write: { agent: true } },
});
const desk = assemble(base, [ticket]);
const { given } = rulesOf(desk);
const opened = ['opened', { subject: 'a', score: 1 }] as const;

test('a decision refuses with its own code and sentence, and [] is no refusal', () => {
  const merged = given(ticket, opened, ['merged', { intoId: 9 }]);
  merged.when('merge', { intoId: 10 }).refuses('ticket_already_merged', 'The ticket was merged already.');
  merged.when('merge', { intoId: 9 }).changesNothing();
  given(ticket, opened)
    .when('merge', { intoId: 9 })
    .yields(['merged', { intoId: 9 }]);
});

test('a creation can be refused, with a declared code', () =>
  given(ticket).when('open', { subject: 'x', score: 1 }).refuses('ticket_no_subject'));

test('a creation on which a decision returns nothing is refused', () =>
  given(ticket)
    .when('open', { subject: 'nothing', score: 1 })
    .refuses('ticket_not_created', 'The ticket was not created.'));

test('a refusal counts even if the decision does not return it', () => {
  given(ticket, ['opened', { subject: 'a', score: 0 }])
    .when('close')
    .refuses('ticket_too_low');
  given(ticket, opened).when('close').yields('closed');
});

test('the condition of the command refuses first', () =>
  given(ticket, opened, ['merged', { intoId: 9 }], 'closed')
    .when('merge', { intoId: 10 })
    .refuses('ticket_not_open'));

test('code need not expect a state that the condition excludes', () =>
  given(ticket, opened, 'closed').when('score').refuses('ticket_not_open'));

test('an event that computes needs no list of one', () =>
  given(ticket, opened)
    .when('score')
    .yields(['scored', { score: 2 }]));

test('each operation declares the refusals of its decisions, also of those that its form runs next', () => {
  const operations = Object.fromEntries(ofAggregates(desk));
  expect(operations.mergeTicket?.refusals).toEqual(['ticket_not_open', 'ticket_already_merged']);
  expect(operations.createTicket?.refusals).toEqual([
    'ticket_no_subject',
    'ticket_too_low',
    'ticket_not_created',
  ]);
});

const without = (commands: object) => () => {
  const note = {
    fields: { title: line(9) },
    events: { made: { creates: ['title'] }, gone: { ends: true } },
    commands: { make: { emits: 'made' }, ...commands },
    rights: { read: { anyone: true } },
  };
  return assemble(base, [aggregate('note', note as never) as never]);
};
const decide = (() => []) as never;

test.each([
  [
    'refusals that nothing decides on',
    { drop: { emits: 'gone', refuses: { late: 'Late.' } } },
    /drop .*decide/,
  ],
  [
    'the code of an absent aggregate',
    { drop: { emits: 'gone', refuses: { deleted: 'A.' }, decide } },
    /note_deleted/,
  ],
  ['a name that is no code', { drop: { emits: 'gone', refuses: { 'a b': 'A.' }, decide } }, /note_a b/],
  [
    'one code with two sentences',
    {
      drop: { emits: 'gone', refuses: { late: 'A.' }, decide },
      end: { emits: 'gone', refuses: { late: 'B.' }, decide },
    },
    /note_late has two sentences/,
  ],
])('refuses %s at the start', (_, commands, sentence) => expect(without(commands)).toThrow(sentence));

test('a decision that refuses with another name is a defect', () => {
  const wrong = without({
    drop: {
      emits: 'gone',
      refuses: {},
      decide: ({ refuse }: never) => (refuse as never as (name: string) => never)('late'),
    },
  });
  const { given: of } = rulesOf(wrong());
  const note = { kind: 'note', events: { made: 0 }, commands: { drop: 0 } } as const;
  expect(() =>
    of(note, ['made', { title: 'a' }])
      .when('drop')
      .yields(),
  ).toThrow(/drop refused late/);
});
