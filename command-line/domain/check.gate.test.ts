// Over 200 lines, because it is one table: every kind of change, with the finding about it.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, type Fields, integer, line, list, ref, states } from '#kernel/declare/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { callAt } from '../../test/engines/call-line.ts';
import { helpdesk } from '../../test/toy/helpdesk.ts';
import { contractOf } from './contract/contract.ts';

type Change = {
  readonly roles?: readonly [string, ...string[]];
  readonly fields?: Fields;
  readonly events?: object;
  readonly commands?: object;
  readonly rights?: object;
  /** Other parts of the aggregate. */
  readonly more?: object;
};

/** A shop with parcels, changed by the test; a field that is undefined is omitted. */
const shop = ({ roles = ['buyer', 'seller'], ...change }: Change = {}): Domain => {
  const base = domain({ name: 'shop', roles });
  const without = (whole: object): object =>
    Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
  const parcel = base.aggregate('parcel', {
    owner: 'buyer',
    fields: without({
      buyer: ref(base.user),
      thing: line(100),
      note: line(100).optional().personal(),
      pieces: integer(1, 99),
      wrapping: choice('plain', 'gift').default('plain'),
      status: states('open', 'sent'),
      ...change.fields,
    }),
    events: without({
      placed: { creates: ['thing', 'note', 'pieces', 'wrapping'] },
      changed: { changes: ['thing', 'pieces'] },
      sent: { sets: { status: 'sent' } },
      withdrawn: { ends: true },
      ...change.events,
    }),
    commands: without({
      place: { emits: 'placed' },
      change: { emits: 'changed' },
      send: { emits: 'sent' },
      withdraw: { emits: 'withdrawn' },
      ...change.commands,
    }),
    rights: without({
      read: { buyer: 'own', seller: true },
      write: { buyer: 'own' },
      send: { scope: 'send', seller: true },
      ...change.rights,
    }),
    ...change.more,
  } as never);
  return assemble(base as never, [parcel] as never);
};

const SHOP = shop();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'annals-contract-'));
});
afterEach(() => rm(folder, { recursive: true }));

const call = (domainNow: Domain, ...args: readonly string[]) =>
  callAt({ domain: domainNow }, ['domain', ...args, '--contract', folder]);

/** Records a contract, the next time by copying the recorded files. */
const record = async (domainNow: Domain): Promise<void> => {
  const known = recorded.get(domainNow);
  if (known !== undefined)
    return void (await Promise.all(known.map(([file, text]) => writeFile(join(folder, file), text))));
  expect(await call(domainNow, 'record')).toMatchObject({ exit: 0 });
  const files = await readdir(folder);
  recorded.set(
    domainNow,
    await Promise.all(files.map(async (file) => [file, await readFile(join(folder, file), 'utf8')] as const)),
  );
};
const recorded = new Map<Domain, readonly (readonly [file: string, text: string])[]>();

test('the same declaration meets its recorded contract', async () => {
  expect(await call(SHOP, 'check')).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('There is no contract in'),
  });
  expect(await call(SHOP, 'record')).toMatchObject({
    exit: 0,
    output: expect.stringMatching(/records \d+ event types, \d+ operations, \d+ rights/),
  });
  expect((await readdir(folder)).sort()).toEqual([
    'events.json',
    'operations.json',
    'rights.json',
    'schema.graphql',
  ]);
  expect(await call(SHOP, 'check', '--exact')).toMatchObject({
    exit: 0,
    output: `The domain matches the contract in ${folder}.`,
    complaint: '',
  });
});

const checked = async (change: Change, ...args: readonly string[]) => {
  await record(SHOP);
  return call(shop(change), 'check', ...args);
};
const carrying = {
  sets: { status: 'sent' },
  carries: ['thing'],
  upcasts: [(data: object) => ({ thing: 'a thing', ...data })],
};
const created = ['thing', 'note', 'pieces', 'wrapping'];

describe('breaks', () => {
  test.each<[string, Change, readonly string[]]>([
    [
      'an event that is gone',
      { events: { withdrawn: undefined }, commands: { withdraw: undefined } },
      ['event parcel.withdrawn', 'operation DELETE /parcels/{parcelId}', 'graphql Mutation.withdrawParcel'],
    ],
    [
      'an event that is hidden',
      { events: { sent: { sets: { status: 'sent' }, hidden: true } } },
      ['event parcel.sent visibility'],
    ],
    [
      'a field of an event that is gone',
      { events: { placed: { creates: ['thing', 'note', 'pieces'] } } },
      ['event parcel.placed wrapping', 'body POST /parcels wrapping'],
    ],
    [
      'a field that must be there now',
      { fields: { size: integer(1, 9) }, events: { placed: { creates: [...created, 'size'] } } },
      ['event parcel.placed size', 'body POST /parcels size', 'graphql ParcelInput.size'],
    ],
    [
      'a field of another type',
      { fields: { pieces: line(9) } },
      [
        'event parcel.placed pieces',
        'event parcel.changed pieces',
        'answer GET /parcels/{parcelId} pieces',
        'graphql Parcel.pieces',
      ],
    ],
    [
      'a tighter limit',
      { fields: { thing: line(50) } },
      ['event parcel.placed thing', 'body POST /parcels thing'],
    ],
    [
      'a word that is gone',
      { fields: { wrapping: choice('plain', 'none').default('plain') } },
      ['event parcel.placed wrapping', 'graphql ParcelWrapping.gift'],
    ],
    [
      'a field that may be null',
      { fields: { thing: line(100).optional() } },
      ['answer GET /parcels thing', 'graphql Parcel.thing'],
    ],
    [
      'another effect',
      { events: { changed: { sets: { status: 'open' } } } },
      ['event parcel.changed effect', 'event parcel.changed thing'],
    ],
    ['another value', { events: { sent: { sets: { status: 'open' } } } }, ['event parcel.sent sets status']],
    [
      'a personal field that is not any more',
      { fields: { note: line(100).optional() } },
      ['event parcel.placed note personal'],
    ],
    [
      'a personal field that was none',
      { fields: { thing: line(100).personal() } },
      ['event parcel.placed thing personal'],
    ],
    [
      'a field of a public event that a new version drops',
      {
        events: {
          changed: {
            changes: ['thing'],
            upcasts: [({ pieces: _, ...data }: object & { pieces?: number }) => data],
          },
        },
      },
      ['event parcel.changed pieces', 'Instead: Keep the field, or declare an event with another name.'],
    ],
    [
      'another default for what was stored before',
      { fields: { wrapping: choice('plain', 'gift').default('gift') } },
      [
        'event parcel.placed wrapping absent',
        'Events stored without wrapping had the value "plain"; now they have "gift".',
      ],
    ],
    [
      'no default any more for what was stored before',
      { fields: { wrapping: choice('plain', 'gift') } },
      [
        'event parcel.placed wrapping absent',
        'Events stored without wrapping had the value "plain"; now they cannot be read.',
      ],
    ],
    [
      'a field that a whole must bring, and that was not sent back',
      {
        fields: { size: integer(1, 9) },
        events: {
          placed: { creates: [...created, 'size'] },
          changed: { changes: ['thing', 'pieces', 'size'] },
        },
      },
      ['body PUT /parcels/{parcelId} size'],
    ],
    ['a scope that is gone', { rights: { send: { seller: true } } }, ['scope send:parcels']],
    [
      'a role that is gone',
      { roles: ['buyer', 'vendor'], rights: { read: { buyer: 'own' }, send: { scope: 'send' } } },
      ['event user.registered role', 'graphql Role.seller'],
    ],
    ['persons shown to more', { rights: { read: { signedIn: true } } }, ['personal parcel.note buyer']],
  ])('%s', async (_, change, whats) => {
    const { exit, output, complaint } = await checked(change);
    expect(exit).toBe(1);
    expect(complaint).toMatch(/changes? breaks? the contract in .*\n.* domain record --accept/);
    const [breaking = ''] = output.split(/^(?:Warnings|New)$/m);
    const lines = breaking.split('\n').map((line) => line.trim());
    for (const what of whats) expect(lines).toContain(what);
    expect(breaking).toMatch(/^ {4}Instead: \S.*\.$/m);
  });
});

describe('is reported, and breaks nothing', () => {
  test.each<[string, Change, readonly string[]]>([
    [
      'an event and a command',
      { events: { kept: { sets: { status: 'open' } } }, commands: { keep: { emits: 'kept' } } },
      [
        'New',
        'event parcel.kept',
        'operation POST /parcels/{parcelId}/keep',
        'graphql Mutation.keepParcel',
        'right parcel.keep',
      ],
    ],
    [
      'an optional field',
      { fields: { colour: line(9).optional() }, events: { placed: { creates: [...created, 'colour'] } } },
      [
        'event parcel.placed colour',
        'colour is new and required. Events stored before have the value null.',
        'graphql Parcel.colour',
      ],
    ],
    [
      'a wider limit',
      { fields: { thing: line(200) } },
      ['maxLength was 100 and is 200.'].map((each) => `thing ${each}`),
    ],
    [
      'a word more',
      { fields: { wrapping: choice('plain', 'gift', 'none').default('plain') } },
      ['wrapping can be "none" now.', 'Warnings', 'graphql ParcelWrapping.none'],
    ],
    [
      'a new version with its upcast',
      { events: { sent: carrying } },
      ['Its version is 2; events stored before are upcast.', 'thing is new and required. That is version 2.'],
    ],
    [
      'another default, with a new version',
      {
        fields: { wrapping: choice('plain', 'gift').default('gift') },
        events: {
          placed: {
            creates: created,
            upcasts: [(data: object) => ({ wrapping: 'plain', ...data })],
          },
        },
      },
      ['Warnings', 'event parcel.placed wrapping absent'],
    ],
    [
      'a narrower right',
      { rights: { read: { buyer: 'own' } } },
      ['Warnings', 'right parcel.read seller', 'Narrower: seller may do it: never; before: always.'],
    ],
    [
      'a wider right',
      { rights: { write: { buyer: 'own', seller: true } } },
      ['New', 'right parcel.change seller', 'Wider: seller may do it: always; before: never.'],
    ],
    [
      'another scope',
      { rights: { withdraw: { scope: 'send', buyer: 'own' } } },
      ['Warnings', 'right parcel.withdraw scope'],
    ],
    [
      'an event that does more',
      { events: { sent: { sets: { status: 'sent', wrapping: 'gift' } } } },
      ['Warnings', 'event parcel.sent sets wrapping'],
    ],
    [
      'a field that can be changed too',
      { events: { changed: { changes: ['thing', 'pieces', 'wrapping'] } } },
      ['event parcel.changed wrapping', 'Warnings', 'body PUT /parcels/{parcelId} wrapping'],
    ],
  ])('%s', async (_, change, lines) => {
    const { exit, output } = await checked(change);
    expect(output).not.toContain('Breaks');
    expect(exit).toBe(0);
    const told = output.split('\n').map((line) => line.trim());
    for (const line of lines) expect(told).toContain(line);
    expect(output).toContain('Nothing breaks the contract');
    expect((await call(shop(change), 'check', '--exact')).exit).toBe(1);
    expect((await call(shop(change), 'record')).exit).toBe(0);
    expect((await call(shop(change), 'check', '--exact')).exit).toBe(0);
  });

  test('text for people only', async () => {
    const { exit, output } = await checked({ commands: { send: { emits: 'sent', says: 'Send it off' } } });
    expect([exit, output]).toEqual([0, expect.stringContaining('schema.graphql')]);
  });
});

test.each<[string, object, object, readonly string[]]>([
  [
    'a part that all may read now',
    { reads: ['pieces', 'note'] },
    { reads: ['note'] },
    ['part parcel.pieces', 'Wider: the right to read the rest'],
  ],
  [
    'a part that fewer may read',
    { reads: ['note'] },
    { reads: ['note', 'pieces'] },
    ['part parcel.pieces', 'Narrower: it now requires the right'],
  ],
])('%s is reported', async (_, was, is, told) => {
  const of = (row: object) => shop({ more: { fieldRights: { readMore: { ...row, seller: true } } } });
  expect((await call(of(was), 'record')).exit).toBe(0);
  const { output } = await call(of(is), 'check');
  for (const text of told) expect(output).toContain(text);
});

test('an earlier version breaks what was recorded since', async () => {
  await call(shop({ events: { sent: carrying } }), 'record');
  const { exit, output } = await call(
    shop({ events: { sent: { sets: { status: 'sent' }, carries: ['thing'] } } }),
    'check',
  );
  expect([exit, output]).toEqual([
    1,
    expect.stringContaining('Its version was 2 and is 1: events recorded since cannot be read.'),
  ]);
});

const BROKEN: Change = { events: { withdrawn: undefined }, commands: { withdraw: undefined } };

test('a break is recorded only if all breaks are accepted, with reasons', async () => {
  await record(SHOP);
  const before = await readFile(join(folder, 'events.json'), 'utf8');
  const refused = await call(
    shop(BROKEN),
    'record',
    '--accept',
    'event parcel.withdrawn',
    '--reason',
    'Nobody withdraws',
  );
  expect(refused).toMatchObject({ exit: 1, complaint: expect.stringContaining('Nothing was recorded') });
  expect(await readFile(join(folder, 'events.json'), 'utf8')).toBe(before);
  const accept = [
    'event parcel.withdrawn',
    'operation DELETE /parcels/{parcelId}',
    'graphql Mutation.withdrawParcel',
  ].flatMap((what) => ['--accept', what]);
  expect(await call(shop(BROKEN), 'record', ...accept)).toMatchObject({
    exit: 64,
    complaint: expect.stringContaining('--accept needs --reason'),
  });
  expect(await call(shop(BROKEN), 'record', ...accept, '--reason', 'Nobody withdraws')).toMatchObject({
    exit: 0,
  });
  expect(await call(shop(BROKEN), 'check', '--exact')).toMatchObject({ exit: 0 });
  const accepted = JSON.parse(await readFile(join(folder, 'accepted.json'), 'utf8'));
  expect(accepted).toContainEqual({
    what: 'event parcel.withdrawn',
    says: 'The event type was removed.',
    reason: 'Nobody withdraws',
  });
  expect(accepted).toHaveLength(3);
});

test('a new version of a hidden event may drop a field', async () => {
  const sent = { ...carrying, hidden: true };
  await call(shop({ events: { sent } }), 'record');
  const drop = ({ thing: _, ...data }: { thing?: string }) => data;
  const dropped = { sets: sent.sets, hidden: true, upcasts: [...sent.upcasts, drop] };
  const { exit, output } = await call(shop({ events: { sent: dropped } }), 'check');
  expect([exit, output]).toEqual([0, expect.stringContaining('thing is gone. That is version 3.')]);
});

test('it shows what it has recorded, and repeats warnings after the counts', async () => {
  await record(SHOP);
  const { exit, output } = await call(shop({ rights: { read: { buyer: 'own' } } }), 'record');
  expect(exit).toBe(0);
  expect(
    output.split(/ records \d+ event types/).map((part) => part.includes('right parcel.read seller')),
  ).toEqual([true, true]);
});

test.each(['event', 'graphql ', 'operation DELETE'])('%s would accept too much', async (accept) => {
  await record(SHOP);
  const { exit, complaint } = await call(shop(BROKEN), 'record', '--accept', accept, '--reason', 'Because');
  expect([exit, complaint]).toEqual([64, expect.stringContaining('accepts too much')]);
});

test('a harmless change cannot be accepted, and words must be whole', async () => {
  await record(SHOP);
  const { exit, complaint } = await call(
    shop(BROKEN),
    'record',
    '--accept',
    'event parcel.with',
    '--reason',
    'Because',
  );
  expect([exit, complaint]).toEqual([
    1,
    expect.stringContaining('No breaking change is called “event parcel.with”'),
  ]);
});

test('the contract of another domain, a partial one, and a badly merged one are refused', async () => {
  await record(SHOP);
  expect(await call(helpdesk, 'check')).toMatchObject({
    exit: 1,
    complaint: `${folder} contains the contract of shop, but this domain is helpdesk: give another folder with --contract.`,
  });
  await writeFile(join(folder, 'rights.json'), '<<<<<<< HEAD');
  expect(await call(SHOP, 'check')).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('rights.json cannot be read'),
  });
  await rm(join(folder, 'rights.json'));
  expect(await call(SHOP, 'record')).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('rights.json is not there'),
  });
});

test.each(['events.json', 'operations.json', 'rights.json'])(
  '%s without what belongs in it is refused',
  async (file) => {
    await record(SHOP);
    for (const text of ['null', '{}', '[]']) {
      await writeFile(join(folder, file), text);
      const { exit, complaint } = await call(SHOP, 'check');
      expect([exit, complaint]).toEqual([
        1,
        expect.stringMatching(`${file} cannot be read: .*Take it from version control again\\.$`),
      ]);
    }
  },
);

test('a contract of a later release is refused, and one without its format is read', async () => {
  await record(SHOP);
  const { format, ...rights } = JSON.parse(await readFile(join(folder, 'rights.json'), 'utf8'));
  await writeFile(join(folder, 'rights.json'), JSON.stringify({ ...rights, format: format + 1 }));
  expect(await call(SHOP, 'check')).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('a later release recorded it'),
  });
  await writeFile(join(folder, 'rights.json'), JSON.stringify(rights));
  expect(await call(SHOP, 'check')).toMatchObject({ exit: 0, complaint: '' });
});

test('unreadable reasons are found before anything is recorded', async () => {
  await record(SHOP);
  const before = await readFile(join(folder, 'events.json'), 'utf8');
  await writeFile(join(folder, 'accepted.json'), '{}');
  const accept = [
    'event parcel.withdrawn',
    'operation DELETE /parcels/{parcelId}',
    'graphql Mutation.withdrawParcel',
  ].flatMap((what) => ['--accept', what]);
  const { exit, complaint } = await call(shop(BROKEN), 'record', ...accept, '--reason', 'Nobody withdraws');
  expect([exit, complaint]).toEqual([1, expect.stringContaining('accepted.json cannot be read')]);
  expect(await readFile(join(folder, 'events.json'), 'utf8')).toBe(before);
  expect((await readdir(folder)).sort()).toEqual([
    'accepted.json',
    'events.json',
    'operations.json',
    'rights.json',
    'schema.graphql',
  ]);
});

const withNew = (kind: string, graphql?: string): Domain => {
  const base = domain({ name: 'shop', roles: ['buyer'] });
  const declared = {
    ...(graphql !== undefined && { names: { graphql } }),
    fields: { text: line(9) },
    events: { made: { creates: ['text'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { anyone: true } },
  };
  return assemble(base as never, [base.aggregate(kind, declared as never)] as never);
};

test('an aggregate whose contract would be that of something else is refused', async () => {
  expect(await call(withNew('release'), 'record')).toMatchObject({
    ...{ exit: 1, output: '' },
    complaint: 'Two schemas are called NewRelease: give the aggregate that brings one of them another name.',
  });
  expect(await readdir(folder)).toEqual([]);
});

test('an aggregate keeps a name of its type in GraphQL that its operations cannot have', () => {
  const { operations, schema } = contractOf(withNew('purchaseOrder', 'Order'));
  expect(operations.operations).toMatchObject({ 'GET /purchase-orders': { id: 'listPurchaseOrders' } });
  expect(schema).toContain('type Order ');
});

const parts = (max: number) => list({ what: line(9) }, { max });
/** With a limit, a list, a reaction and a timer. */
const ruled = (limit = {}, { max = 9, when = 'open', wait = '3 days' } = {}): Change => ({
  fields: { parts: parts(max) },
  events: { partAdded: { adds: 'parts' } },
  commands: { addPart: { emits: 'partAdded' } },
  more: {
    limits: { open: { max: 3, per: 'buyer', when: 'open', says: 'Enough.', ...limit } },
    reactions: { buyer: { deleted: { run: 'withdraw', when } } },
    timers: { late: { after: 'placed', wait, run: 'withdraw', when: 'open' } },
  },
});

const RULED = shop(ruled());

test.each<[string, Change, readonly [weight: string, what: string]]>([
  ['fewer of a limit', ruled({ max: 2 }), ['Breaks', 'limit parcel open max']],
  ['more of a limit', ruled({ max: 4 }), ['New', 'limit parcel open max']],
  ['a limit that counts others', ruled({ when: 'sent' }), ['Breaks', 'limit parcel open']],
  ['fewer items of a list', ruled({}, { max: 8 }), ['Breaks', 'list parcel parts max']],
  ['more items of a list', ruled({}, { max: 10 }), ['New', 'list parcel parts max']],
  ['a reaction in other cases', ruled({}, { when: 'sent' }), ['Warnings', 'reaction parcel buyer deleted']],
  ['a timer of another length', ruled({}, { wait: '2 days' }), ['Warnings', 'timer parcel late']],
])('%s is reported', async (_, change, [weight, what]) => {
  await record(RULED);
  const { exit, output } = await call(shop(change), 'check');
  expect(output.split('\n').map((line) => line.trim())).toEqual(expect.arrayContaining([weight, what]));
  if (weight === 'Breaks') expect(exit).toBe(1);
});

test('a new limit breaks the recorded contract, but not one of an earlier release that recorded none', async () => {
  await record(SHOP);
  const limited = shop({ more: { limits: { open: { max: 3, says: 'Enough.' } } } });
  expect((await call(limited, 'check')).output).toContain('limit parcel open');
  const { rules: _, ...rights } = JSON.parse(await readFile(join(folder, 'rights.json'), 'utf8'));
  await writeFile(join(folder, 'rights.json'), JSON.stringify(rights));
  expect((await call(limited, 'check')).output).not.toContain('limit parcel open\n');
});
