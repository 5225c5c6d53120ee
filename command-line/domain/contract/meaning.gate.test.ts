// Over 200 lines, because it is one table: each part of a declaration that gives recorded events their
// meaning.
import { describe, expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, flag, instant, integer, line, list, ref, states } from '#kernel/declare/fields.ts';
import { latest, sum } from '#kernel/declare/view.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { readDefinition } from '#shared/projection/definition.ts';
import { isMadeBy, rowsMark } from '#shared/projection/fingerprint.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { compareContracts } from './compare.ts';
import { contractOf } from './contract.ts';

type Change = {
  readonly fields?: object;
  readonly events?: object;
  /** Other parts of the aggregate. */
  readonly more?: object;
  readonly view?: object;
};

const listed = { max: 3 } as const;
const items = { weight: integer(1, 9), price: integer(1, 9), fragile: flag().default(false), code: line(9) };
const commandOf = {
  placed: 'place',
  changed: 'change',
  sent: 'send',
  weighed: 'weigh',
  partAdded: 'addPart',
  lost: 'lose',
};
const created = ['buyer', 'depot', 'thing', 'note', 'wrapping'];

const shop = ({ fields, events, more, view }: Change = {}): Domain => {
  const base = domain({ name: 'shop', roles: ['buyer', 'clerk'] });
  const { user } = base;
  const depot = base.aggregate('depot', {
    owner: 'head',
    fields: { head: ref(user), name: line(60) },
    events: { opened: { creates: ['name'] } },
    commands: { open: { emits: 'opened' } },
    rights: { read: { anyone: true } },
  } as never);
  const declared = {
    placed: { creates: created },
    changed: { changes: ['thing', 'rated'] },
    sent: { sets: { status: 'sent' } },
    weighed: { sets: { weighedAt: 'now' } },
    partAdded: { adds: 'parts' },
    lost: { ends: true },
    ...events,
  };
  const parcel = base.aggregate('parcel', {
    fields: {
      buyer: ref(user),
      payer: ref(user).optional(),
      depot: ref(depot as never),
      thing: line(100),
      note: line(100).optional().personal({ of: 'buyer' }),
      wrapping: choice('plain', 'gift').default('plain'),
      rated: line(30).optional(),
      weighedAt: instant().optional(),
      tag: line(100).optional(),
      nags: integer(0, 9).default(0),
      status: states('open', 'sent'),
      parts: list(items, listed),
      ...fields,
    },
    derived: { total: { sum: 'parts.weight' } },
    events: declared,
    commands: Object.fromEntries(
      Object.keys(declared).map((event) => [commandOf[event as 'placed'] ?? event, { emits: event }]),
    ),
    rights: { read: { anyone: true } },
    limits: { open: { max: 3, per: 'buyer', when: 'open', says: 'Enough.' } },
    timers: { late: { after: 'placed', wait: '3 days', run: 'lose', when: 'open' } },
    ...more,
  } as never);
  const sums = base.view('load', {
    of: [parcel],
    key: { depot: ref(depot as never) },
    values: { parcels: sum(), nags: sum(), thing: latest(line(100)) },
    from: {
      parcel: {
        by: { depot: 'depot' },
        on: { placed: { gives: { parcels: 1, nags: 'nags' } }, changed: { changes: { thing: 'thing' } } },
      },
    },
    read: { clerk: true },
    ...view,
  } as never);
  return assemble(base as never, [depot, parcel] as never, [sums] as never);
};

const from = (on: object, by: object = { depot: 'depot' }) => ({ from: { parcel: { by, on } } });
const upcast = (value: string) => ({
  changed: { changes: ['thing', 'rated'], upcasts: [() => ({ thing: value })] },
});

const SHOP = shop();
const CONTRACT = contractOf(SHOP);
const findingsOf = (before: Domain, after: Domain) =>
  compareContracts(before === SHOP ? CONTRACT : contractOf(before), contractOf(after)).map(
    ({ weight, what }) => `${weight} ${what}`,
  );
const rowsOf = async (before: Domain, after: Domain) => {
  const [was, is] = [await readDefinition(tablesOf(before)), await readDefinition(tablesOf(after))];
  const marks = { schema: was.fingerprint.schema, rows: rowsMark(was.fingerprint, undefined) };
  return isMadeBy(is.fingerprint, marks) ? 'the same rows' : 'other rows';
};

describe('a change to the meaning of recorded events is reported, and changes the read model', () => {
  test.each<[string, Change, string]>([
    [
      'the initial state',
      { fields: { status: states('sent', 'open') } },
      'breaks event parcel.placed initial status',
    ],
    [
      'a default that no event holds',
      { fields: { nags: integer(0, 9).default(5) } },
      'breaks event parcel.placed initial nags',
    ],
    [
      'a default where there was none',
      { fields: { payer: ref('user').optional().default(7) } },
      'breaks event parcel.placed initial payer',
    ],
    [
      'a default that the creation holds',
      { fields: { wrapping: choice('plain', 'gift').default('gift') } },
      'breaks event parcel.placed wrapping absent',
    ],
    [
      'a default of items',
      { fields: { parts: list({ ...items, fragile: flag().default(true) }, listed) } },
      'breaks event parcel.partAdded fragile absent',
    ],
    [
      'a creation that sets what began otherwise',
      { events: { placed: { creates: created, sets: { nags: 2 } } } },
      'breaks event parcel.placed initial nags',
    ],
    [
      'what an event sets',
      { events: { sent: { sets: { status: 'open' } } } },
      'breaks event parcel.sent sets status',
    ],
    [
      'an event that sets more',
      { events: { sent: { sets: { status: 'sent', nags: 1 } } } },
      'warns event parcel.sent sets nags',
    ],
    [
      'an event that does something else',
      { events: { weighed: { ends: true } } },
      'breaks event parcel.weighed effect',
    ],
    [
      'a list in an order of its own',
      { fields: { parts: list(items, { ...listed, ordered: true }) } },
      'breaks event parcel.partAdded rank',
    ],
    [
      'the key of a list',
      { fields: { parts: list(items, { ...listed, key: 'code' }) } },
      'breaks event parcel.partAdded partId',
    ],
    [
      'a number of items',
      { more: { derived: { total: { sum: 'parts.price' } } } },
      'warns derived parcel total',
    ],
    ['how many items', { more: { derived: { total: { count: 'parts' } } } }, 'warns derived parcel total'],
    [
      'whose a personal field is',
      { fields: { note: line(100).optional().personal({ of: 'depot.head' }) } },
      'breaks event parcel.placed key',
    ],
    [
      'what an event gives a view',
      {
        view: from({
          placed: { gives: { parcels: 1, nags: 'nags' } },
          changed: { changes: { thing: 'thing' } },
          sent: { gives: null },
        }),
      },
      'warns view load of parcel',
    ],
    [
      'the value of a view',
      {
        view: from({ placed: { gives: { parcels: 1, nags: 3 } }, changed: { changes: { thing: 'thing' } } }),
      },
      'warns view load nags',
    ],
    [
      'the kind of a value of a view',
      { view: { values: { parcels: sum(), nags: latest(integer(0, 9)), thing: latest(line(100)) } } },
      'warns view load nags',
    ],
  ])('%s', async (_, change, finding) => {
    const [before, after] = [SHOP, shop(change)];
    expect(findingsOf(before, after)).toContain(finding);
    expect(await rowsOf(before, after)).toBe('other rows');
  });

  test('a new version of an event', async () => {
    const [before, after] = [SHOP, shop({ events: upcast('a') })];
    expect(findingsOf(before, after)).toContain('adds event parcel.changed version');
    expect(await rowsOf(before, after)).toBe('other rows');
  });
});

describe('a change that keeps the meaning of recorded events is reported as such, and needs no rebuild', () => {
  test.each<[string, Change, readonly string[]]>([
    [
      'a limit',
      { more: { limits: { open: { max: 2, per: 'buyer', when: 'open', says: 'Enough.' } } } },
      ['breaks limit parcel open max'],
    ],
    [
      'a timer',
      { more: { timers: { late: { after: 'placed', wait: '2 days', run: 'lose', when: 'open' } } } },
      ['warns timer parcel late'],
    ],
    [
      'how many items there may be',
      { fields: { parts: list(items, { max: 2 }) } },
      ['breaks list parcel parts max'],
    ],
    ['another event', { events: { found: { sets: { status: 'open' } } } }, []],
    [
      'a field more that an event can change',
      { events: { changed: { changes: ['thing', 'rated', 'wrapping'] } } },
      ['warns body PUT /parcels/{parcelId} wrapping'],
    ],
    ['the order of words', { fields: { wrapping: choice('gift', 'plain').default('plain') } }, []],
  ])('%s', async (_, change, findings) => {
    const [before, after] = [SHOP, shop(change)];
    expect([...new Set(findingsOf(before, after).filter((each) => !each.startsWith('adds')))]).toEqual(
      findings,
    );
    expect(await rowsOf(before, after)).toBe('the same rows');
  });

  // Its text differs between compilers, so it is not compared: whoever changes it must give the event a new
  // version.
  test('the code of an upcast', async () => {
    const [before, after] = [shop({ events: upcast('a') }), shop({ events: upcast('b') })];
    expect(findingsOf(before, after)).toEqual([]);
    expect(await rowsOf(before, after)).toBe('the same rows');
  });
});

test('a contract of an earlier release without initial values and views does not conflict with them', () => {
  const { events, rights, ...others } = CONTRACT;
  const earlier = {
    ...others,
    events: Object.fromEntries(
      Object.entries(events).map(([type, { does, ...event }]) => {
        const { initial: _, ...effect } = does ?? {};
        return [type, does === undefined ? event : { ...event, does: effect }];
      }),
    ),
    rights: { ...rights, views: undefined, conditions: undefined },
  };
  const now = shop({
    fields: { status: states('sent', 'open') },
    view: from({ placed: { gives: { parcels: 1, nags: '-nags', thing: 'thing' } } }),
  });
  expect(compareContracts(earlier as never, contractOf(now))).toEqual([]);
});

test('the upcast supplies an initial value that the creation contains from its next version on', () => {
  const held = shop({
    fields: { nags: integer(0, 9).default(5) },
    events: {
      placed: {
        creates: [...created, 'nags'],
        upcasts: [(data: object) => ({ nags: 0, ...data })],
      },
    },
  });
  const findings = findingsOf(SHOP, held);
  expect(findings).toContain('warns event parcel.placed initial nags');
  expect(findings.filter((each) => each.startsWith('breaks event'))).toEqual([]);
});

test('the order of parts does not matter', async () => {
  const reversed = (names: readonly string[]) => names.toReversed();
  const [before, after] = [SHOP, shop({ events: { placed: { creates: reversed(created) } } })];
  expect(await rowsOf(before, after)).toBe('the same rows');
});
