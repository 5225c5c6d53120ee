// Over 200 lines, because one domain evaluates every part of a condition in each of its forms.
import { choice, flag, instant, integer, line, list, ref, states } from '#kernel/declare/fields.ts';
import { runner } from '../../test/describe/host.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { support } from '../../test/toy/support.ts';
import { describeVisibleEvents } from '../../test/visible-events.ts';
import { describeReadings } from '../../testing/describe-domain/readings.ts';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';

/** Every part of a condition, with null, absent and ended values along paths of two references. */
const base = domain({
  name: 'conditions',
  roles: ['clerk', 'approver', 'auditor'],
  user: {
    fields: {
      trade: choice('travel', 'meals', 'other').optional(),
      region: line(10).optional(),
      grade: integer(0, 9).optional(),
      place: ref('team').optional(),
      trusted: flag().default(false),
    },
    fieldRights: { changeStanding: { writes: ['trade', 'region', 'grade', 'place', 'trusted'] } },
  },
});
const { aggregate, user } = base;

const team = aggregate('team', {
  owner: 'lead',
  fields: {
    lead: ref(user).optional(),
    budget: integer(0, 9),
    spent: integer(0, 9).optional(),
    open: flag(),
    since: instant().optional(),
    until: instant().optional(),
    label: line(10).optional(),
  },
  events: {
    formed: { creates: ['lead', 'budget', 'spent', 'open', 'since', 'until', 'label'] },
    reformed: { changes: ['budget', 'spent', 'open', 'until', 'label'] },
    opened: { sets: { open: true, since: 'now' } },
    dissolved: { ends: true },
  },
  commands: {
    form: { emits: 'formed' },
    reform: { emits: 'reformed' },
    open: { emits: 'opened' },
    dissolve: { emits: 'dissolved' },
  },
  rights: {
    read: {
      anyone: { open: true, budget: { max: 3 } },
      clerk: ['own', { budget: { min: 7 } }, { spent: { max: { field: 'budget' } } }],
      approver: [{ lead: { caller: false } }, { spent: { not: { field: 'budget' } }, open: true }],
      auditor: [
        { until: { min: { field: 'since' } } },
        { since: { not: null } },
        { open: { caller: 'trusted' }, budget: { caller: 'grade' } },
      ],
      admin: { lead: null },
    },
    write: {
      signedIn: { budget: { not: [1, 2] } },
      approver: [{ open: false }, { since: { min: '2026-02-01' } }],
    },
  },
});
const claim = aggregate('claim', {
  owner: 'employee',
  fields: {
    employee: ref(user),
    team: ref(team).optional(),
    purpose: line(10).optional(),
    most: integer(0, 9).optional(),
    kind: choice('travel', 'meals'),
    notes: list(
      {
        text: line(10).optional(),
        level: choice('low', 'high').optional(),
        weight: integer(0, 9).optional(),
        at: instant().optional(),
      },
      { max: 9 },
    ),
    status: states('draft', 'submitted', 'paid'),
  },
  events: {
    noteAdded: { adds: 'notes' },
    noteRemoved: { removes: 'notes' },
    drafted: { creates: ['purpose', 'team', 'kind', 'most'] },
    moved: { changes: ['team', 'purpose', 'most'] },
    submitted: { sets: { status: 'submitted' } },
    paid: { sets: { status: 'paid' } },
    returned: { sets: { status: 'draft' } },
    noted: { hidden: true },
    audited: { sets: { status: 'submitted' }, hidden: true },
    withdrawn: { ends: true },
  },
  facts: {
    foreign: { employee: { caller: false } },
    led: { team: { lead: { field: 'employee' } } },
    alike: { kind: { caller: 'trade' } },
    here: { team: { caller: 'place' } },
  },
  commands: {
    draft: { emits: 'drafted' },
    move: { emits: 'moved' },
    submit: { emits: 'submitted' },
    pay: { emits: 'paid' },
    return: { emits: 'returned' },
    withdraw: { emits: 'withdrawn' },
    addNote: { emits: 'noteAdded' },
    removeNote: { emits: 'noteRemoved' },
  },
  fieldRights: {
    readPurpose: {
      reads: ['purpose'],
      clerk: ['own', { team: { open: false } }],
      approver: { team: 'own' },
      auditor: { draft: false },
    },
    readNotes: {
      items: {
        notes: {
          level: { not: 'low' },
          weight: [1, 2, null],
          at: { min: '2026-02-01' },
          text: { not: ['a', null] },
        },
      },
      approver: true,
    },
  },
  rights: {
    read: {
      anyone: 'paid',
      clerk: [
        'paid',
        'own',
        { submitted: true, team: 'own' },
        { draft: true, alike: true },
        { led: true, meals: true },
      ],
      approver: [
        { draft: false, foreign: true },
        { team: { lead: { caller: true }, budget: { min: 5 } } },
        'travel',
        { team: { budget: { min: { field: 'most' } }, open: false } },
        { here: true, draft: false },
      ],
      auditor: [
        { status: { not: 'draft' } },
        { team: null },
        { team: { lead: { not: { field: 'employee' } }, budget: { max: { field: 'most' } } } },
        { team: { label: { min: { field: 'purpose' } } } },
        { alike: false, here: false, purpose: { caller: 'region' } },
      ],
    },
    write: {
      signedIn: { own: true, team: { not: null } },
      approver: [{ travel: false, own: false }, { purpose: null }],
    },
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
    write: {
      signedIn: ['own', { claim: { team: 'own' } }],
      auditor: { claim: { team: { open: true, budget: { caller: 'grade' } }, meals: false } },
    },
  },
});

/** Has the visibility of a remark, which has that of its claim. */
const reply = aggregate('shortReply', {
  parent: 'remark',
  owner: 'author',
  fields: { remark: ref(remark), author: ref(user), text: line(10) },
  events: { added: { creates: ['text'] }, changed: { changes: ['text'] }, removed: { ends: true } },
  commands: { add: { emits: 'added' }, change: { emits: 'changed' }, remove: { emits: 'removed' } },
  rights: {
    read: {
      as: 'remark',
      auditor: ['own', { remark: 'own' }, { remark: { claim: { employee: { field: 'author' } } } }],
    },
    write: { as: 'remark', signedIn: 'own', approver: false },
    add: { as: 'remark' },
  },
});

/** Visible through a list of another aggregate: to its members, to some of them, and over two references. */
const union = aggregate('union', {
  fields: {
    open: flag(),
    officers: list(
      {
        user: ref(user),
        level: choice('clerical', 'chief'),
        paid: integer(0, 9),
        until: instant().optional(),
      },
      { max: 9, key: 'user' },
    ),
  },
  events: {
    founded: { creates: ['open'] },
    opened: { sets: { open: true } },
    joined: { adds: 'officers' },
    promoted: { updates: 'officers' },
    retired: { removes: 'officers' },
    noted: { adds: 'officers', also: { open: false }, hidden: true },
    closed: { ends: true },
  },
  commands: {
    found: { emits: 'founded' },
    open: { emits: 'opened' },
    join: { emits: 'joined' },
    promote: { emits: 'promoted' },
    retire: { emits: 'retired' },
    close: { emits: 'closed' },
  },
  rights: {
    read: {
      clerk: { officers: { some: { user: 'caller' } } },
      approver: { officers: { some: { user: 'caller', level: 'chief', until: { not: null } } } },
      auditor: { officers: { some: { paid: { min: 5 }, until: { max: '2026-02-01' } } }, open: true },
    },
    write: { signedIn: { officers: { some: { user: 'caller', paid: { not: [1, 2] } } } } },
  },
});
const crew = aggregate('crew', {
  fields: {
    union: ref(union).optional(),
    hands: list({ who: ref(user).optional(), skill: integer(0, 9) }, { max: 9, one: 'crewHand' }),
  },
  events: {
    hired: { creates: ['union'] },
    moved: { changes: ['union'] },
    manned: { adds: 'hands' },
    trained: { updates: 'hands' },
    left: { removes: 'hands' },
    paidOff: { ends: true },
  },
  commands: {
    hire: { emits: 'hired' },
    move: { emits: 'moved' },
    man: { emits: 'manned' },
    train: { emits: 'trained' },
    leave: { emits: 'left' },
    payOff: { emits: 'paidOff' },
  },
  facts: { ours: { hands: { some: { who: 'caller' } } } },
  rights: { read: { as: 'union', clerk: 'ours', auditor: true } },
});
const task = aggregate('task', {
  fields: { crew: ref(crew), status: states('open', 'done', 'secret') },
  events: {
    given: { creates: ['crew'] },
    passed: { changes: ['crew'] },
    done: { sets: { status: 'done' } },
    hidden: { sets: { status: 'secret' } },
  },
  commands: {
    give: { emits: 'given' },
    pass: { emits: 'passed' },
    finish: { emits: 'done' },
    hide: { emits: 'hidden' },
  },
  rights: {
    read: {
      anyone: 'done',
      clerk: [
        'done',
        { open: true, crew: { hands: { some: { who: 'caller', skill: { min: 3 } } } } },
        { open: true, crew: { hands: { some: { skill: { caller: 'grade' } } } } },
      ],
      approver: [
        { crew: { union: { officers: { some: { user: 'caller' } } } } },
        { open: true, crew: { union: { open: true } } },
      ],
      auditor: { secret: false, crew: { ours: false } },
    },
  },
});

const conditions = assemble(base, [team, claim, remark, reply, union, crew, task]);
const host = { runner, createDatabase };
describeReadings(host, conditions);
describeReadings(host, support);
describeVisibleEvents(conditions);
