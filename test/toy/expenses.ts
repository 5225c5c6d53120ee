import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, integer, line, list, ref, states, word } from '#kernel/declare/fields.ts';

/**
 * A domain of one aggregate with three lists: numbered items in an order of their own, references, and words.
 */
const base = domain({
  name: 'expenses',
  roles: ['employee', 'approver'],
  user: { read: { anyone: true } },
});
const { aggregate, user } = base;

export const claim = aggregate('claim', {
  owner: 'employee',
  fields: {
    employee: ref(user),
    purpose: line(200).example('Strasbourg'),
    items: list(
      {
        category: choice('travel', 'meals', 'other').default('other'),
        amount: integer(1, 1_000_000).example(4_200),
        note: line(200).optional().personal().example('With the client'),
      },
      { max: 5, ordered: true },
    ),
    approvers: list({ approver: ref(user), upTo: integer(0, 1_000).optional() }, { max: 3, key: 'approver' }),
    labels: list(
      { word: word(/^[a-zA-Z]{1,20}$/, 'Must be 1 to 20 letters.'), colour: line(20).optional() },
      { max: 10, key: 'word' },
    ),
    status: states('draft', 'submitted').filter(),
  },
  derived: { total: { sum: 'items.amount' }, itemCount: { count: 'items' } },
  events: {
    drafted: { says: 'A claim was drafted.', creates: ['purpose'] },
    edited: { changes: ['purpose'] },
    itemAdded: { says: 'An item was added to a claim.', adds: 'items' },
    itemChanged: { updates: 'items' },
    itemMoved: { moves: 'items' },
    itemRemoved: { removes: 'items' },
    approverNamed: { adds: 'approvers' },
    limitChanged: { updates: 'approvers' },
    approverDismissed: { removes: 'approvers' },
    labelAdded: { adds: 'labels' },
    labelRemoved: { removes: 'labels' },
    submitted: { sets: { status: 'submitted' }, carries: ['total'] },
    returned: { sets: { status: 'draft' } },
    deleted: { ends: true },
  },
  facts: { filled: { itemCount: { min: 1 } }, affordable: { total: { max: 2_000_000 } } },
  invariants: { affordable: 'affordable' },
  commands: {
    draft: { emits: 'drafted' },
    edit: { emits: 'edited', when: 'draft' },
    addItem: { emits: 'itemAdded', when: 'draft' },
    changeItem: { emits: 'itemChanged', when: 'draft' },
    moveItem: { emits: 'itemMoved', when: 'draft' },
    removeItem: { emits: 'itemRemoved', when: 'draft' },
    nameApprover: { emits: 'approverNamed' },
    changeLimit: { emits: 'limitChanged' },
    dismissApprover: { emits: 'approverDismissed' },
    addLabel: { emits: 'labelAdded' },
    removeLabel: { emits: 'labelRemoved' },
    submit: { emits: 'submitted', when: 'filled' },
    return: { emits: 'returned' },
    delete: { emits: 'deleted' },
  },
  rights: {
    read: { employee: 'own', approver: ['own', 'submitted'] },
    write: { signedIn: 'own' },
    return: { approver: 'submitted' },
  },
  reactions: { employee: { deleted: { run: 'delete', when: 'draft' } } },
});

export const expenses = assemble(base, [claim]);
