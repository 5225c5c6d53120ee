import { type AggregatePlan, code, type DomainPlan, type FieldPlan } from './plan.ts';

const of = (type: string, ...given: FieldPlan['given']): FieldPlan => ({ type, given, options: {} });

/** A domain of many usual aggregates, each with an owner, states, a list, and a reference to the one before. */
export const largePlan = (count: number): DomainPlan => ({
  roles: ['member', 'manager'],
  user: { fields: {}, fieldRights: {} },
  aggregates: Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`record${index}`, aggregateOf(index)] as const),
  ),
  views: {},
  senders: {},
});

const aggregateOf = (index: number): AggregatePlan => ({
  fields: {
    holder: of('ref', 'user'),
    title: { type: 'line', given: [100], options: { search: ['A'] } },
    amount: of('integer', 1, 1_000_000_000),
    code: {
      type: 'word',
      given: [code('/^[a-z]{1,9}$/'), 'Must be 1 to 9 small letters.'],
      options: { optional: [] },
    },
    ...(index > 0 && {
      former: { type: 'ref', given: [`record${index - 1}`], options: { optional: [], filter: [] } },
    }),
    parts: {
      type: 'list',
      given: [{ max: 10, ordered: true }],
      item: { text: of('line', 50), size: of('integer', 0, 9) },
      options: {},
    },
    status: { type: 'states', given: [`draft${index}`, `sent${index}`], options: { filter: [] } },
  },
  owner: 'holder',
  label: 'title',
  events: {
    made: { creates: ['title', 'amount', 'code', ...(index > 0 ? ['former'] : [])] },
    changed: { changes: ['title', 'amount', 'code'] },
    partAdded: { adds: 'parts' },
    partChanged: { updates: 'parts' },
    partMoved: { moves: 'parts' },
    partRemoved: { removes: 'parts' },
    sent: { sets: { status: `sent${index}` } },
    gone: { ends: true },
  },
  commands: {
    make: { emits: 'made' },
    change: { emits: 'changed', when: `draft${index}` },
    addPart: { emits: 'partAdded' },
    changePart: { emits: 'partChanged' },
    movePart: { emits: 'partMoved' },
    removePart: { emits: 'partRemoved' },
    send: { emits: 'sent' },
    remove: { emits: 'gone' },
  },
  rights: {
    read: { member: [`sent${index}`, 'own'], manager: true },
    write: { member: 'own', manager: true },
  },
  more: { derived: { size: { sum: 'parts.size' } } },
});
