import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { line, ref, states } from '../declare/fields.ts';
import { rulesOf } from './given.ts';

const base = domain({ name: 'desk', roles: ['agent'] });
const ticket = base.aggregate('ticket', {
  fields: {
    title: line(9),
    copyOf: ref('ticket').optional(),
    status: states('open', 'closed'),
  },
  events: {
    opened: { creates: ['title'] },
    marked: { changes: ['copyOf'] },
    closed: { sets: { status: 'closed' } },
  },
  commands: {
    open: { emits: 'opened' },
    mark: { emits: 'marked' },
    close: { emits: 'closed', when: { copyOf: 'closed' } },
  },
  rights: { read: { anyone: true }, write: { agent: true } },
});
const { given, withId } = rulesOf(assemble(base, [ticket]));
const opened = ['opened', { title: 'A', copyOfId: null }] as const;

test('of several other aggregates, the one with the id of the reference counts', () => {
  const all = [withId(9).given(ticket, opened).state, withId(10).given(ticket, opened, 'closed').state];
  expect(all.map((state) => state.status !== 'absent' && state.fields.id)).toEqual([9, 10]);
  const copyOf = (copyOfId: number) =>
    given(ticket, opened, ['marked', { copyOfId }]).beside({ ticket: all }).when('close');
  copyOf(10).yields('closed');
  copyOf(9).refuses('ticket_not_closed');
  copyOf(11).refuses('ticket_not_found');
});

test('a decision names the aggregate by its own id', () => {
  withId(9)
    .given(ticket, opened)
    .when('mark', { copyOfId: 8 })
    .yields(['marked', { copyOfId: 8 }]);
});
