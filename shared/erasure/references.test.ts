import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, prose, ref, states } from '#kernel/declare/fields.ts';
import { endingWith, erasedIn, stayingWithout } from './references.ts';

const base = domain({ name: 'office', roles: ['clerk'] });
const { aggregate, user } = base;

const claim = aggregate('claim', {
  owner: 'clerk',
  fields: {
    clerk: ref(user),
    decider: ref(user).optional(),
    title: line(9),
    status: states('open', 'sent', 'paid'),
  },
  events: {
    made: { creates: ['title'] },
    sent: { sets: { status: 'sent', decider: 'caller' } },
    paid: { sets: { status: 'paid' } },
    dropped: { ends: true },
  },
  commands: {
    make: { emits: 'made' },
    send: { emits: 'sent' },
    pay: { emits: 'paid' },
    drop: { emits: 'dropped' },
  },
  rights: { read: { clerk: 'own' }, write: { clerk: 'own' } },
  reactions: { clerk: { deleted: { run: 'drop', when: ['open', 'sent'] } } },
});
const note = aggregate('note', {
  owner: 'clerk',
  fields: { clerk: ref(user), text: prose(9).personal({ erased: '[deleted]' }) },
  events: { made: { creates: ['text'] }, dropped: { ends: true } },
  commands: { make: { emits: 'made' }, drop: { emits: 'dropped' } },
  rights: { read: { clerk: 'own' }, write: { clerk: 'own' } },
  reactions: { clerk: { deleted: { run: 'drop' } } },
});
const reminder = aggregate('reminder', {
  owner: 'clerk',
  fields: { clerk: ref(user), claim: ref(claim) },
  events: { made: { creates: ['claim'] }, dropped: { ends: true } },
  commands: { make: { emits: 'made' }, drop: { emits: 'dropped' } },
  rights: { read: { clerk: 'own' }, write: { clerk: 'own' } },
  reactions: { clerk: { deleted: { run: 'drop', when: { claim: 'open' } } } },
});
const office = assemble(base, [claim, note, reminder]);
const says = (namings: readonly { readonly says: string }[]) => namings.map((each) => each.says);

test('references to a person tell which aggregates end with them, and which stay without them', () => {
  expect(says(endingWith(publishing))).toEqual(['draft articles']);
  expect(stayingWithout(publishing).map(({ name }) => name)).toEqual([
    'publishedArticles',
    'commentsWithoutText',
  ]);
  expect(says(stayingWithout(publishing))).toEqual(['published articles', 'comments without their text']);
  expect(erasedIn(publishing).map(({ kind, fields }) => [kind.name, ...fields])).toEqual([
    ['user', 'name', 'email'],
    ['comment', 'text'],
  ]);
});

test('an aggregate that ends with one of the two persons it names stays if it names only the other', () => {
  expect(says(endingWith(office))).toEqual(['open or sent claims', 'notes', 'reminders']);
  expect(says(stayingWithout(office))).toEqual(['open claims', 'sent claims', 'paid claims']);
  const [open] = stayingWithout(office);
  expect(open?.where).toBe(
    `(t.clerk_id = $1 or t.decider_id = $1) and (t.clerk_id = $1 and (t.status = 'open' or t.status = 'sent')) is not true and t.status = 'open'`,
  );
});

test('an aggregate that ends with one it refers to is named by its kind, and is counted in the tables that are read', () => {
  const [, , ending] = endingWith(office);
  expect(ending?.where).toContain('from read_model.claims ');
});
