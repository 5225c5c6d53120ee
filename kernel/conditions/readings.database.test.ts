import { choice, flag, instant, integer, line, ref, states } from '#kernel/declare/fields.ts';
import { describeReadings } from '../../test/readings.ts';
import { describeTold } from '../../test/told.ts';
import { domain } from '../declare/domain.ts';
import { assemble } from '../registry/assemble.ts';

/** Every part that a condition can have, with what is null, absent or ended along paths of two references. */
const base = domain({ name: 'conditions', roles: ['clerk', 'approver', 'auditor'] });
const { aggregate, user } = base;

const team = aggregate('team', {
  owner: 'lead',
  fields: { lead: ref(user).optional(), budget: integer(0, 9), open: flag(), since: instant().optional() },
  events: {
    formed: { creates: ['lead', 'budget', 'open', 'since'] },
    reformed: { changes: ['lead', 'budget', 'open'] },
    opened: { sets: { open: true, since: 'now' } },
    dissolved: { ends: true },
  },
  commands: { form: { emits: 'formed' }, reform: { emits: 'reformed' }, open: { emits: 'opened' }, dissolve: { emits: 'dissolved' } },
  rights: {
    read: {
      anyone: { open: true, budget: { max: 3 } },
      clerk: ['own', { budget: { min: 7 } }],
      approver: { lead: { caller: false } },
      auditor: { since: { not: null } },
      admin: { lead: null },
    },
    write: { signedIn: { budget: { not: [1, 2] } }, approver: [{ open: false }, { since: { min: '2026-02-01' } }] },
  },
});
const claim = aggregate('claim', {
  owner: 'employee',
  fields: {
    employee: ref(user),
    team: ref(team).optional(),
    purpose: line(10).optional(),
    kind: choice('travel', 'meals'),
    status: states('draft', 'submitted', 'paid'),
  },
  events: {
    drafted: { creates: ['purpose', 'team', 'kind'] },
    moved: { changes: ['team'] },
    submitted: { sets: { status: 'submitted' } },
    paid: { sets: { status: 'paid' } },
    returned: { sets: { status: 'draft' } },
    noted: { notes: true, internal: true },
    audited: { sets: { status: 'submitted' }, internal: true },
    withdrawn: { ends: true },
  },
  facts: { foreign: { employee: { caller: false } } },
  commands: {
    draft: { emits: 'drafted' },
    move: { emits: 'moved' },
    submit: { emits: 'submitted' },
    pay: { emits: 'paid' },
    return: { emits: 'returned' },
    withdraw: { emits: 'withdrawn' },
  },
  rights: {
    read: {
      anyone: 'paid',
      clerk: ['paid', 'own', { submitted: true, team: 'own' }],
      approver: [{ draft: false, foreign: true }, { team: { lead: { caller: true }, budget: { min: 5 } } }, 'travel'],
      auditor: [{ status: { not: 'draft' } }, { team: null }],
    },
    write: { signedIn: { own: true, team: { not: null } }, approver: [{ travel: false, own: false }, { purpose: null }] },
  },
});
const remark = aggregate('remark', {
  parent: 'claim',
  owner: 'author',
  fields: { claim: ref(claim), author: ref(user), text: line(10) },
  events: { added: { creates: ['text'] }, removed: { ends: true } },
  commands: { add: { emits: 'added' }, remove: { emits: 'removed' } },
  rights: {
    read: { as: 'claim' },
    write: { signedIn: ['own', { claim: { team: 'own' } }], auditor: { claim: { team: { open: true }, meals: false } } },
  },
});

/** Read as a remark, which is read as its claim. */
const reply = aggregate('shortReply', {
  parent: 'remark',
  owner: 'author',
  fields: { remark: ref(remark), author: ref(user), text: line(10) },
  events: { added: { creates: ['text'] }, changed: { changes: ['text'] }, removed: { ends: true } },
  commands: { add: { emits: 'added' }, change: { emits: 'changed' }, remove: { emits: 'removed' } },
  rights: {
    read: { as: 'remark', auditor: ['own', { remark: 'own' }] },
    write: { as: 'remark', signedIn: 'own', approver: false },
    add: { as: 'remark' },
  },
});

const conditions = assemble(base, [team, claim, remark, reply]);
describeReadings(conditions);
describeTold(conditions);
