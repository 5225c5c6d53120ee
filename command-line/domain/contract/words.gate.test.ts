// Over 200 lines, because it is one table: every word of a declaration, and the weight of its change.
import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import {
  choice,
  file,
  flag,
  instant,
  integer,
  line,
  list,
  month,
  ref,
  states,
} from '#kernel/declare/fields.ts';
import { avg, latest, sum } from '#kernel/declare/view.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { readDeclarations, referenceOf } from '../../../scripts/write-reference.ts';
import { compareContracts } from './compare.ts';
import { contractOf } from './contract.ts';

/** Parts of a declaration; undefined removes a word. */
type Parts = { readonly [name: string]: unknown };

const TASKS = {
  title: line(30),
  state: states('todo', 'done'),
  by: ref('user').optional(),
  points: integer(1, 9),
};

const PROOF = { types: ['application/pdf', 'text/csv'], bytesMax: 9_000 } as const;

const BASE: Parts = {
  domain: {
    name: 'shop',
    roles: ['buyer', 'clerk'],
    user: {
      read: { signedIn: true },
      fields: { vip: flag().default(false), nick: line(30).optional() },
      fieldRights: { readVip: { reads: ['vip'], writes: ['vip'], clerk: true } },
    },
  },
  depot: {
    label: 'name',
    fields: { name: line(60), head: ref('user').optional() },
    events: { opened: { creates: ['name'] }, closed: { ends: true } },
    commands: { open: { emits: 'opened' }, close: { emits: 'closed' } },
    rights: { read: { anyone: true }, write: { clerk: true } },
  },
  parcel: {
    says: 'A parcel.',
    owner: 'buyer',
    order: 'oldest',
    fields: {
      buyer: ref('user'),
      depot: ref('depot'),
      thing: line(100).filter(),
      note: line(100).optional().personal({ of: 'buyer' }),
      wrapping: choice('plain', 'gift').default('plain').filter(),
      weight: integer(1, 99).optional(),
      tag: line(100).optional(),
      proof: file(PROOF).optional(),
      sentAt: instant().optional().sort(),
      status: states('open', 'sent', 'lost'),
      tasks: list(TASKS, { max: 9 }),
    },
    derived: { points: { sum: 'tasks.points' } },
    events: {
      placed: { creates: ['depot', 'thing', 'note', 'wrapping', 'weight'] },
      changed: { changes: ['thing', 'wrapping', 'proof'], carries: ['weight'] },
      sent: { sets: { status: 'sent', sentAt: 'now' }, subscribe: true },
      lost: { sets: { status: 'lost' } },
      weighed: { computes: ['weight'] },
      noted: { hidden: true },
      taskAdded: { adds: 'tasks', sets: { by: 'caller' }, also: { status: 'open' } },
      taskDone: { updates: 'tasks', sets: { state: 'done' } },
      removed: { ends: true },
    },
    facts: {
      heavy: { weight: { min: 9 } },
      ready: { when: { tasks: { some: { state: 'done' } } }, says: 'Do a task first.' },
    },
    invariants: { light: { heavy: false } },
    limits: { open: { max: 3, per: 'buyer', when: 'open', says: 'Enough.' } },
    commands: {
      place: { emits: 'placed' },
      change: { emits: 'changed', when: ['open', 'lost'] },
      send: { emits: 'sent', when: { open: true, ready: true } },
      weigh: {
        emits: 'weighed',
        refuses: { tooHeavy: 'It is too heavy.' },
        reads: ['depot'],
        decide: () => [['weighed', { weight: 1 }]],
      },
      lose: { emits: 'lost', internal: true },
      addTask: { emits: 'taskAdded' },
      finishTask: { emits: 'taskDone', whenItem: { state: 'todo' } },
      remove: { emits: 'removed' },
    },
    rights: {
      read: { buyer: 'own', clerk: true },
      write: { buyer: 'own', clerk: true },
      send: { clerk: ['open', 'lost'], scope: 'send' },
      forOthers: { clerk: true },
    },
    fieldRights: { readWeight: { reads: ['weight'], clerk: true } },
    reactions: { depot: { closed: { run: 'remove', when: 'open' } }, sent: () => [] },
    timers: { late: { after: 'placed', wait: '3 days', run: 'lose', when: 'open', pause: 'lost' } },
    schedules: {
      nightly: { cron: '0 2 * * *', timeZone: 'UTC', run: 'lose', when: 'open', missed: 'skip' },
    },
  },
  load: {
    says: 'The load.',
    key: { depot: ref('depot'), month: month() },
    values: { parcels: sum(), weight: sum().sort(), thing: latest(line(100)) },
    from: {
      parcel: {
        by: { depot: 'depot', month: 'now' },
        on: {
          placed: { gives: { parcels: 1, weight: 'weight', thing: 'thing' } },
          lost: { gives: null },
          changed: { changes: { thing: 'thing' }, adds: { parcels: 0 } },
        },
      },
    },
    read: { clerk: true },
  },
};

const isPlain = (value: unknown): value is Parts =>
  typeof value === 'object' &&
  value !== null &&
  Object.getPrototypeOf(value) === Object.prototype &&
  !('def' in value) &&
  !('value' in value && typeof value.value === 'string') &&
  !('period' in value);

const merged = (base: unknown, change: unknown): unknown => {
  if (!isPlain(base) || !isPlain(change)) return change;
  const all = { ...base, ...change };
  return Object.fromEntries(
    Object.keys(all).flatMap((name) => {
      const value = name in change ? merged(base[name], change[name]) : base[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
};

const declared = (change: Parts = {}): Domain => {
  const parts = merged(BASE, change) as Readonly<Record<string, never>>;
  const { domain: spec, load, ...kinds } = parts;
  const base = domain(spec as never);
  const aggregates = Object.entries(kinds).map(([name, each]) => base.aggregate(name, each));
  const of = aggregates.filter(({ kind }) => kind === 'parcel');
  const views = load === undefined ? [] : [base.view('load', { of, ...(load as object) } as never)];
  return assemble(base as never, aggregates as never, views as never);
};

const BEFORE = contractOf(declared());
const findingsAfter = (change: Parts): readonly string[] =>
  compareContracts(BEFORE, contractOf(declared(change))).map(({ weight, what }) => `${weight} ${what}`);

const parcel = (change: Parts): Parts => ({ parcel: change });
const event = (name: string, change: Parts | undefined): Parts => parcel({ events: { [name]: change } });
const command = (name: string, change: Parts | undefined): Parts => parcel({ commands: { [name]: change } });
const field = (name: string, change: unknown): Parts => parcel({ fields: { [name]: change } });
const nightly = (change: Parts): Parts => parcel({ schedules: { nightly: change } });
const view = (change: Parts): Parts => ({ load: change });

/** A change of the word and a finding about it, or the reason why nobody relies on the word. */
type Entry = readonly [change: Parts, finding: string] | string;

const WORDS: Readonly<Record<string, Entry>> = {
  'Domain: name': 'a recorded contract belongs to one name, which the command compares first',
  'Domain: roles': [{ domain: { roles: ['buyer', 'clerk', 'guest'] } }, 'warns graphql Role.guest'],
  'Domain: signUp': [{ domain: { signUp: 'clerk' } }, 'warns sign-up role'],
  'Domain: auditors': [{ domain: { auditors: true } }, 'warns graphql Role.auditor'],
  'Domain: user.read': [
    { domain: { user: { read: { signedIn: undefined, clerk: true } } } },
    'warns right user.read buyer',
  ],
  'Domain: user.fields': [
    { domain: { user: { fields: { nick: undefined } } } },
    'breaks event user.registered nick',
  ],
  'Domain: user.events': [
    { domain: { user: { events: { updated: { upcasts: [(data: object) => data] } } } } },
    'adds event user.updated version',
  ],
  'Domain: user.fieldRights': [
    { domain: { user: { fieldRights: { readVip: { buyer: true } } } } },
    'adds right user.read_vip buyer',
  ],
  'Aggregate: names.plural': [parcel({ names: { plural: 'packets' } }), 'breaks operation GET /parcels'],
  'Aggregate: names.graphql': [parcel({ names: { graphql: 'Packet' } }), 'breaks graphql ParcelWrapping'],
  'Aggregate: says': 'a text',
  'Aggregate: owner': [
    { depot: { owner: 'head', fields: { head: ref('user') } } },
    'breaks event depot.opened headId',
  ],
  'Aggregate: parent': [parcel({ parent: 'depot' }), 'breaks event parcel.changed depotId'],
  'Aggregate: label': [{ depot: { label: undefined } }, 'breaks answer GET /parcels depot'],
  'Aggregate: order': [parcel({ order: 'newest' }), 'warns graphql Query.parcels(sort:)'],
  'Aggregate: fields': [field('weight', integer(1, 9).optional()), 'breaks event parcel.placed weight'],
  'Aggregate: derived': [
    parcel({ derived: { points: undefined, done: { count: 'tasks' } } }),
    'breaks answer GET /parcels points',
  ],
  'Aggregate: events': [event('opened', { sets: { status: 'open' } }), 'adds event parcel.opened'],
  'Aggregate: facts': [
    parcel({ facts: { ready: { when: { tasks: { some: { state: 'todo' } } } } } }),
    'breaks command parcel.send when',
  ],
  'Aggregate: invariants': [
    parcel({ invariants: { named: { thing: { not: 'x' } } } }),
    'breaks invariant parcel named',
  ],
  'Aggregate: limits': [
    parcel({ limits: { sent: { max: 3, per: 'buyer', when: 'sent', says: 'Enough.' } } }),
    'breaks limit parcel sent',
  ],
  'Aggregate: commands': [command('weigh', undefined), 'breaks operation POST /parcels/{parcelId}/weigh'],
  'Aggregate: rights': [parcel({ rights: { remove: { clerk: true } } }), 'warns right parcel.remove buyer'],
  'Aggregate: fieldRights': [
    parcel({ fieldRights: { readWeight: undefined } }),
    'warns right parcel.read_weight',
  ],
  'Aggregate: reactions': [parcel({ reactions: { depot: undefined } }), 'warns reaction parcel depot closed'],
  'Aggregate: timers': [parcel({ timers: { late: undefined } }), 'warns timer parcel late'],
  'Aggregate: reads': [parcel({ reads: 'logged' }), 'adds operation GET /parcels/{parcelId}/readers'],
  'Aggregate: hold': [parcel({ hold: { right: {} } }), 'adds event parcel.unheld'],
  'Aggregate: retain': [
    parcel({ retain: { for: '10 years', after: 'sent', run: 'remove' } }),
    'warns event parcel.sent sets retainedSince',
  ],
  'Logged reads: log': 'it decides what is recorded; requests and answers are the same',
  'Logged reads: ifUnwritable': 'it decides what happens in an outage',
  'Rights: readers': [
    parcel({ reads: 'logged', rights: { readers: { clerk: true } } }),
    'adds right parcel.readers',
  ],
  'Holds: right': 'it is compared as the rights of the commands for holds',
  'Retention: for': 'it decides when an item ends',
  'Retention: after': [
    parcel({ retain: { for: '5 years', after: 'lost', run: 'remove' } }),
    'warns event parcel.lost sets retainedSince',
  ],
  'Retention: run': 'it is a command that ends the item, whichever it is',
  'Domain: user.hold': [
    { domain: { user: { hold: { right: {} } } } },
    'adds operation DELETE /users/{userId} user_held',
  ],
  'Aggregate: schedules': [parcel({ schedules: { nightly: undefined } }), 'warns schedule parcel nightly'],
  'Options of references: gone': [
    { depot: { fields: { head: ref('user', { gone: 'null' }) } } },
    'adds event depot.headGone',
  ],
  'Options of fields: optional()': [
    field('thing', line(100).optional().filter()),
    'breaks event parcel.placed thing',
  ],
  'Options of fields: default(value)': [
    field('wrapping', choice('plain', 'gift').default('gift').filter()),
    'breaks event parcel.placed wrapping absent',
  ],
  'Options of fields: filter(name?)': [
    field('thing', line(100).filter('what')),
    'breaks query GET /parcels thing',
  ],
  'Options of fields: sort()': [field('sentAt', instant().optional()), 'breaks query GET /parcels sort'],
  'Options of fields: search(weight)': [
    field('thing', line(100).filter().search('A')),
    'adds query GET /parcels q',
  ],
  'Options of fields: unique()': [field('thing', line(100).filter().unique()), 'breaks limit parcel thing'],
  'Options of fields: personal({ of, erased })': [
    field('note', line(100).personal({ of: 'buyer', erased: 'gone' })),
    'breaks event parcel.placed note absent',
  ],
  'Options of fields: example(value)': 'a text',
  'Options of files: types': [
    field('proof', file({ ...PROOF, types: ['application/pdf'] }).optional()),
    'breaks file parcel proof types',
  ],
  'Options of files: bytesMax': [
    field('proof', file({ ...PROOF, bytesMax: 8_000 }).optional()),
    'breaks file parcel proof bytesMax',
  ],
  'Options of lists: max': [field('tasks', list(TASKS, { max: 8 })), 'breaks list parcel tasks max'],
  'Options of lists: key': [
    field('tasks', list(TASKS, { max: 9, key: 'title' })),
    'breaks event parcel.taskAdded taskId',
  ],
  'Options of lists: ordered': [
    field('tasks', list(TASKS, { max: 9, ordered: true })),
    'breaks event parcel.taskAdded rank',
  ],
  'Options of lists: one': [
    field('tasks', list(TASKS, { max: 9, one: 'job' })),
    'breaks event parcel.taskAdded taskId',
  ],
  'Derived numbers: count': [
    parcel({ derived: { points: { count: 'tasks', sum: undefined } } }),
    'warns derived parcel points',
  ],
  'Derived numbers: sum': [parcel({ derived: { points: undefined } }), 'breaks answer GET /parcels points'],
  'Effects of events: creates': [
    event('placed', { creates: ['depot', 'thing', 'note', 'wrapping'] }),
    'breaks event parcel.placed weight',
  ],
  'Effects of events: changes': [
    event('changed', { changes: ['thing', 'wrapping', 'note', 'proof'] }),
    'warns body PUT /parcels/{parcelId} note',
  ],
  'Effects of events: moves': [
    parcel({
      parent: 'depot',
      events: { moved: { moves: 'depot' } },
      commands: { move: { emits: 'moved' } },
    }),
    'adds event parcel.moved',
  ],
  'Effects of events: ends': [event('noted', { ends: true }), 'breaks event parcel.noted effect'],
  'Options of events: carries': [
    event('changed', { carries: undefined }),
    'breaks event parcel.changed weight',
  ],
  'Options of events: subscribe': [
    event('sent', { subscribe: undefined }),
    'breaks graphql Subscription.parcelSent',
  ],
  'Options of events: hidden': [event('lost', { hidden: true }), 'breaks event parcel.lost visibility'],
  'Options of events: upcasts': [
    event('sent', { upcasts: [(data: object) => data] }),
    'adds event parcel.sent version',
  ],
  'Options of events: example': 'a text',
  'Options of events: sets': [
    // Only an edit can give files.
    parcel({
      fields: { proof: undefined },
      events: { changed: { changes: ['thing', 'wrapping'], sets: { status: 'open' } } },
    }),
    'breaks operation PUT /parcels/{parcelId}',
  ],
  'Options of events: computes': [
    parcel({
      events: { changed: { computes: ['weight'], carries: undefined } },
      commands: { change: { decide: () => [] } },
    }),
    'breaks event parcel.changed effect',
  ],
  'Events of items: adds': [event('taskMade', { adds: 'tasks' }), 'adds event parcel.taskMade'],
  'Events of items: updates': [
    event('taskDone', { updates: undefined, removes: 'tasks', sets: undefined }),
    'breaks event parcel.taskDone effect',
  ],
  'Events of items: moves': [event('taskMoved', { removes: 'tasks' }), 'adds event parcel.taskMoved'],
  'Events of items: removes': [event('taskRemoved', { removes: 'tasks' }), 'adds event parcel.taskRemoved'],
  'Events of items: fields': [
    event('taskDone', { fields: ['points'] }),
    'breaks body POST /parcels/{parcelId}/tasks/{taskId}/finish',
  ],
  'Events of items: also': [
    event('taskAdded', { also: { status: 'sent' } }),
    'breaks event parcel.taskAdded sets status',
  ],
  'Commands: when': [command('change', { when: 'open' }), 'breaks command parcel.change when'],
  'Commands: whenItem': [
    command('finishTask', { whenItem: { state: 'todo', by: 'caller' } }),
    'breaks command parcel.finishTask whenItem',
  ],
  'Commands: requires': [command('place', { requires: ['weight'] }), 'breaks body POST /parcels weight'],
  'Commands: internal': [
    command('remove', { internal: true }),
    'breaks operation DELETE /parcels/{parcelId}',
  ],
  'Commands: confirm': [command('send', { confirm: 'person' }), 'warns command parcel.send confirm'],
  'Commands: signed.meaning': [
    command('send', { signed: { meaning: 'approval' } }),
    'breaks command parcel.send signed',
  ],
  'Commands: reads': 'it keeps the decision from racing; requests and answers are the same',
  'Commands: also': [
    command('weigh', { also: { depot: ['closed'] } }),
    'adds change elsewhere parcel weigh depot',
  ],
  'Commands: reason': [command('send', { reason: 'required' }), 'breaks command parcel.send reason'],
  'Commands: next': [command('place', { next: ['send'] }), 'adds operation POST /parcels parcel_not_open'],
  'Commands: emits': [
    command('remove', { emits: ['removed', 'lost'], decide: () => ['removed'] }),
    'warns command parcel.remove emits',
  ],
  'Commands: refuses': [
    command('weigh', { refuses: { tooLight: 'It is too light.' } }),
    'adds operation POST /parcels/{parcelId}/weigh parcel_too_light',
  ],
  'Commands: decide': 'code',
  'Rights: read': [parcel({ rights: { read: { clerk: 'open' } } }), 'warns right parcel.read clerk'],
  'Rights: write': [parcel({ rights: { write: { buyer: undefined } } }), 'warns right parcel.place buyer'],
  'Rights: forOthers': [parcel({ rights: { forOthers: undefined } }), 'warns right parcel.for_others'],
  'Rights: a command': [parcel({ rights: { send: { clerk: true } } }), 'adds right parcel.send clerk'],
  'Limits: max': [parcel({ limits: { open: { max: 2 } } }), 'breaks limit parcel open max'],
  'Limits: per': [parcel({ limits: { open: { per: 'depot' } } }), 'breaks limit parcel open'],
  'Limits: when': [parcel({ limits: { open: { when: 'sent' } } }), 'breaks limit parcel open'],
  'Limits: says': 'a text',
  'Reactions: run': [
    parcel({ reactions: { depot: { closed: { run: 'lose' } } } }),
    'warns reaction parcel depot closed',
  ],
  'Timers: after': [parcel({ timers: { late: { after: ['placed', 'sent'] } } }), 'warns timer parcel late'],
  'Timers: wait': [parcel({ timers: { late: { wait: '4 days' } } }), 'warns timer parcel late'],
  'Timers: pause': [parcel({ timers: { late: { pause: undefined } } }), 'warns timer parcel late'],
  'Schedules: cron': [nightly({ cron: '0 3 * * *' }), 'warns schedule parcel nightly'],
  'Schedules: timeZone': [nightly({ timeZone: 'Europe/Berlin' }), 'warns schedule parcel nightly'],
  'Schedules: run': [nightly({ run: 'remove' }), 'warns schedule parcel nightly'],
  'Schedules: when': [nightly({ when: 'lost' }), 'warns schedule parcel nightly'],
  'Schedules: form': [
    nightly({ run: 'change', form: () => ({ thing: 'Old' }) }),
    'warns schedule parcel nightly',
  ],
  'Schedules: missed': [nightly({ missed: { catchUp: 2 } }), 'warns schedule parcel nightly'],
  'Timers: at': [
    parcel({ timers: { late: { after: undefined, wait: undefined, pause: undefined, at: 'sentAt' } } }),
    'warns timer parcel late',
  ],
  'Timers: before': [
    parcel({
      timers: {
        late: { after: undefined, wait: undefined, pause: undefined, at: 'sentAt', before: '1 day' },
      },
    }),
    'warns timer parcel late',
  ],
  'Views: of': 'it names the aggregates in `from`, which are compared',
  'Views: key': [
    view({ key: { month: undefined }, from: { parcel: { by: { month: undefined } } } }),
    'breaks operation GET /load/{depotId}/{month}',
  ],
  'Views: values': [view({ values: { weight: avg() } }), 'breaks graphql Load.weight'],
  'Views: from': [view({ from: { parcel: { on: { lost: undefined } } } }), 'warns view load of parcel'],
  'Views: read': [view({ read: { clerk: undefined, buyer: true } }), 'warns right load.read clerk'],
  'Sources of views: by': [
    view({ from: { parcel: { by: { month: 'sentAt' } } } }),
    'warns view load of parcel',
  ],
  'Sources of views: on': [
    view({ from: { parcel: { on: { sent: { gives: null } } } } }),
    'warns view load of parcel',
  ],
  "Shares in views: { gives: { approved: 'total' } }": [
    view({ from: { parcel: { on: { placed: { gives: { parcels: 2 } } } } } }),
    'warns view load parcels',
  ],
  "Shares in views: { changes: { approved: 'total' } }": [
    view({ from: { parcel: { on: { changed: { changes: { thing: undefined, weight: 'weight' } } } } } }),
    'warns view load weight',
  ],
  'Shares in views: { adds: { reminders: 1 } }': [
    view({ from: { parcel: { on: { changed: { adds: { parcels: 1 } } } } } }),
    'warns view load parcels',
  ],
};

/** Words whose row is in an earlier section, and second meanings. */
const AGAIN: typeof WORDS = {
  'Aggregate: reactions by code': [
    parcel({ reactions: { sent: undefined, lost: () => [] } }),
    'warns reaction parcel sent',
  ],
  'Events of items: sets': [
    event('taskDone', { sets: { state: 'todo' } }),
    'warns event parcel.taskDone sets tasks.state',
  ],
  'Events of items: computes': [
    parcel({ events: { taskAdded: { computes: ['points'] } }, commands: { addTask: { decide: () => [] } } }),
    'breaks body POST /parcels/{parcelId}/tasks points',
  ],
  'Reactions: when': [
    parcel({ reactions: { depot: { closed: { when: 'sent' } } } }),
    'warns reaction parcel depot closed',
  ],
  'Timers: when': [parcel({ timers: { late: { when: undefined } } }), 'warns timer parcel late'],
  'Timers: run': [parcel({ timers: { late: { run: 'remove' } } }), 'warns timer parcel late'],
};

/** Sections whose words are all compared in one form. */
const TOGETHER: Readonly<Record<string, string>> = {
  'Types of fields': 'types of fields are compared as the JSON Schemas of events, forms and answers',
  Decisions: 'they are the arguments of code',
  Conditions: 'conditions are compared by their parts, wherever they are declared',
  'Conditions on fields': 'conditions are compared by their parts, wherever they are declared',
  'Rows of rights': 'rights are compared by role, with their conditions',
  'Reactions by code': 'they are the arguments of code',
  'Values of views': 'views are compared by the sources of their values',
};

const wordsOf = (page: string): readonly string[] => {
  let section = '';
  return page.split('\n').flatMap((text) => {
    if (text.startsWith('## ')) section = text.slice('## '.length);
    const [, word] = /^\| (.+?) \| /.exec(text) ?? [];
    const isHead = word === undefined || /^(?:Name|Written|---)/.test(word);
    return isHead || section in TOGETHER ? [] : [`${section}: ${word.replaceAll('`', '')}`];
  });
};

test('every word of the declaration has an entry', () => {
  const words = new Set(wordsOf(referenceOf(readDeclarations())));
  expect([...words].filter((word) => !(word in WORDS))).toEqual([]);
  expect(Object.keys(WORDS).filter((word) => !words.has(word))).toEqual([]);
});

const CHANGES = Object.entries({ ...WORDS, ...AGAIN }).flatMap(([word, entry]) =>
  typeof entry === 'string' ? [] : [[word, ...entry] as const],
);

test.each(CHANGES)('%s is compared', (_, change, finding) => {
  expect(findingsAfter(change)).toContain(finding);
});

const size = { size: integer(1, 9).optional() };

/** Everything that can be added without a break. */
const ADDITIONS: Readonly<Record<string, Parts>> = {
  'an aggregate with limits and invariants': {
    crate: {
      parent: 'depot',
      fields: { depot: ref('depot'), sign: line(9).unique(), size: integer(1, 9).optional() },
      events: { built: { creates: ['sign'] }, sized: { changes: ['size'] } },
      commands: { build: { emits: 'built' }, size: { emits: 'sized', when: { size: null } } },
      invariants: { small: [{ size: null }, { size: { max: 5 } }] },
      limits: { all: { max: 9, per: 'depot', says: 'Enough.' } },
      rights: { read: { anyone: true }, write: { clerk: true } },
    },
  },
  'an optional field': parcel({
    fields: size,
    events: {
      placed: { creates: ['depot', 'thing', 'note', 'wrapping', 'weight', 'size'] },
      changed: { changes: ['thing', 'wrapping', 'size', 'proof'] },
    },
  }),
  'an optional field of users': { domain: { user: { fields: size } } },
  'an optional field of items': field('tasks', list({ ...TASKS, ...size }, { max: 9 })),
  'an event': event('found', { sets: { status: 'open' } }),
  'a command': parcel({
    events: { found: { sets: { status: 'open' } } },
    commands: { find: { emits: 'found', when: 'lost' } },
  }),
  'a command on items': parcel({
    events: { taskGone: { removes: 'tasks' } },
    commands: { dropTask: { emits: 'taskGone', whenItem: { state: 'done' } } },
  }),
  'a list': field('marks', list({ text: line(9) }, { max: 3 })),
  'a value of a view': view({ values: { placed: sum() } }),
  'a role': { domain: { roles: ['buyer', 'clerk', 'guest'] } },
  'a filter': field('weight', integer(1, 99).optional().filter()),
  'a timer': parcel({ timers: { later: { after: 'sent', wait: '9 days', run: 'lose' } } }),
  'a reaction': parcel({ reactions: { depot: { opened: { run: 'send', when: 'lost' } } } }),
  'a wider condition': command('send', { when: [{ open: true, ready: true }, 'lost'] }),
};

test.each(Object.entries(ADDITIONS))('%s is no break', (_, change) => {
  const found = findingsAfter(change);
  expect(found.filter((finding) => finding.startsWith('breaks'))).toEqual([]);
  expect(found.filter((finding) => finding.startsWith('adds'))).not.toEqual([]);
});

test('a new view is no break', () => {
  const without = contractOf(declared({ load: undefined }));
  const found = compareContracts(without, BEFORE).map(({ weight }) => weight);
  expect(found).toContain('adds');
  expect(found).not.toContain('breaks');
});
