// Over 200 lines, because it is one oracle: an independent computation of who may read what.

import fc from 'fast-check';
import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { column, snake, targetOf } from '#kernel/base/names.ts';
import { leadsToUser } from '#kernel/base/users.ts';
import { attributeOf, attributesOf } from '#kernel/conditions/attributes.ts';
import { type Expression, fieldsOfItem } from '#kernel/conditions/expression.ts';
import { type Attributes, anyHoldsOf, type Find, holdsOf, type State } from '#kernel/conditions/holds.ts';
import { partsIn, partsSql } from '#kernel/conditions/parts.ts';
import { partOfItems } from '#kernel/conditions/parts-of.ts';
import { NOTHING, operationOf, type Reach, type Right, rightsOf } from '#kernel/conditions/rights.ts';
import { conditionSql, type Granted, joinedBy, rightSql, type SqlWriter } from '#kernel/conditions/sql.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Domain, Kind, ListInfo } from '#kernel/registry/registry.ts';
import { staysWhenEnded } from '#kernel/registry/stays-when-ended.ts';
import { maySee } from '#kernel/visibility/may-see.ts';
import { visibilityOf } from '#kernel/visibility/visibility.ts';
import { webhookOf } from '#kernel/webhook/webhook.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { createPresentRights } from '#shared/visibility/present-rights.ts';
import { demandEqual } from '../equal.ts';
import type { Host } from './host.ts';

/**
 * The evaluations of a right must agree, for any domain. For every aggregate, role and user, the ids by SQL,
 * by disjoint parts and in memory are the same, whatever is null, absent or ended. Nobody may see an event
 * who could read neither the state before it nor the state after it. A parked aggregate has no row, as if it
 * were absent.
 */
const IDS = 40;
const USERS = [1, 2, 3, 4];
/** Shrinking failed states would take longer than anybody waits. */
const RUNS = { numRuns: 5, endOnFailure: true } as const;
/** Ids beyond the present ones. */
const ABSENT_IDS = 3;

/** Aggregates by their ids; an ended one has no row. */
type States = ReadonlyMap<string, ReadonlyMap<number, State | 'ended'>>;

export const randomOf = (def: FieldDef): fc.Arbitrary<unknown> => {
  if (def.values !== undefined) return fc.constantFrom(...def.values);
  switch (def.kind) {
    case 'ref':
      return leadsToUser(def) ? fc.constantFrom(...USERS) : fc.integer({ min: 1, max: IDS + ABSENT_IDS });
    case 'integer':
      return fc.integer({ min: 0, max: 9 });
    case 'boolean':
      return fc.boolean();
    case 'instant':
      return fc.constantFrom('2026-01-02T03:04:05.678Z', '2026-03-02T03:04:05.678Z');
    case 'date':
      return fc.constantFrom('2026-01-02', '2026-03-02');
    case 'set':
      return fc.constantFrom([], ['a'], ['a', 'b']);
    default:
      return fc.constantFrom('a', 'b');
  }
};

const fieldsOf = (kind: Kind): readonly (readonly [string, FieldDef])[] =>
  Object.entries(kind.fields).filter(([, def]) => def.kind !== 'list' && def.parts === undefined);

/** Includes views, whose keys rights look up, and kernel kinds: their rights are evaluated alike. */
const kindsOf = (domain: Domain): readonly Kind[] => [
  ...Object.values(domain.kinds),
  ...domain.views.map(({ asked }) => asked),
  webhookOf(domain),
];

const itemOf = ({ fields, settled }: ListInfo): fc.Arbitrary<State> =>
  fc.record(
    Object.fromEntries(
      settled.map((name) => [name, fc.option(randomOf(fields[name] as FieldDef), { freq: 5 })]),
    ),
  );

const statesOf = (domain: Domain): fc.Arbitrary<States> => {
  const ofKind = (kind: Kind): fc.Arbitrary<ReadonlyMap<number, State | 'ended'>> => {
    const fields = fieldsOf(kind).map(
      ([name, def]) =>
        [name, def.kind === 'states' ? randomOf(def) : fc.option(randomOf(def), { freq: 8 })] as const,
    );
    const lists = Object.values(kind.lists).map((list) => [list.name, itemsOf(list)] as const);
    const present = fc.record(Object.fromEntries([...fields, ...lists]));
    const one = fc.oneof(
      { weight: 7, arbitrary: present },
      { weight: 1, arbitrary: fc.constant('ended' as const) },
    );
    return fc
      .array(one, { minLength: IDS, maxLength: IDS })
      .map(
        (all) =>
          new Map(
            all.map((state, index) => [index + 1, state === 'ended' ? state : { id: index + 1, ...state }]),
          ),
      );
  };
  const kinds = kindsOf(domain);
  return fc
    .tuple(...kinds.map(ofKind))
    .map((all) => new Map(kinds.map(({ name }, index) => [name, all[index] ?? new Map()])));
};

const ITEMS_MAX = 3;

/** Identified by numbers, or by their key. */
const itemsOf = (list: ListInfo): fc.Arbitrary<readonly State[]> => {
  const fields = Object.entries(list.fields).map(
    ([name, def]) => [name, def.optional ? fc.option(randomOf(def)) : randomOf(def)] as const,
  );
  const item = fc.record({
    id: list.key === undefined ? fc.integer({ min: 1, max: 99 }) : randomOf(list.id.def),
    ...Object.fromEntries(fields),
  });
  const keyed = item.map((each) => (list.key === undefined ? each : { ...each, [list.key]: each.id }));
  return fc.uniqueArray(keyed as fc.Arbitrary<State & { readonly id: unknown }>, {
    maxLength: ITEMS_MAX,
    selector: ({ id }) => id,
  });
};

const findIn =
  (states: States): Find =>
  (kind, id) => {
    const found = states.get(kind)?.get(Number(id));
    return found === 'ended' ? undefined : found;
  };
const presentIn = (states: States, kind: Kind): readonly (State & { readonly id: number })[] =>
  [...(states.get(kind.name)?.values() ?? [])].flatMap((state) =>
    state === 'ended' ? [] : [state as State & { readonly id: number }],
  );

/**
 * Text with placeholders for values; the constants of a declaration are values too, because no statement may
 * depend on them.
 */
type Piece = { readonly text: string; readonly values: readonly unknown[] };
const writerFor = (domain: Domain, viewer: number | null, own: Attributes = {}): SqlWriter<Piece> => {
  const text = (word: string): Piece => ({ text: word, values: [] });
  const value = (of: unknown, type: string): Piece => ({ text: `?::${type}`, values: [of] });
  return {
    sql: (strings, ...holes) => ({
      text: strings.reduce((before, part, index) => before + holes[index - 1]?.text + part),
      values: holes.flatMap(({ values }) => values),
    }),
    name: text,
    constant: (of) => text(typeof of === 'string' ? `'${of}'` : String(of)),
    table: (name) => text(`readings.${name}`),
    viewer: value(viewer, 'bigint'),
    attribute: (of) => value(own[of] ?? null, attributeOf(domain, of).def.column),
  };
};
const rendered = ({ text, values }: Piece): { text: string; values: unknown[] } => {
  let number = 0;
  return { text: text.replaceAll('?::', () => `$${++number}::`), values: [...values] };
};

const createTables = async (pool: Pool, domain: Domain): Promise<void> => {
  await pool.query('create schema readings');
  for (const kind of kindsOf(domain)) {
    const columns = [
      ...fieldsOf(kind).map(([name, def]) => `${column(name, def)} ${def.column}`),
      ...(staysWhenEnded(kind) ? ['deleted_at timestamptz'] : []),
    ];
    await pool.query(
      `create table readings.${kind.table} (${['id bigint primary key', ...columns].join(', ')})`,
    );
    for (const list of Object.values(kind.lists)) {
      const ofItems = [[list.key ?? 'id', list.id.def] as const, ...Object.entries(list.fields)];
      const all = ofItems.map(([name, def]) => `${column(name, def)} ${def.column}`);
      await pool.query(
        `create table readings.${list.table} (${[`${snake(kind.name)}_id bigint`, ...all].join(', ')})`,
      );
    }
  }
};
const fill = async (pool: Pool, domain: Domain, states: States): Promise<void> => {
  for (const kind of kindsOf(domain)) {
    const rows = presentIn(states, kind).map((state) =>
      Object.fromEntries([
        ['id', state.id],
        ...fieldsOf(kind).map(([name, def]) => [column(name, def), state[name] ?? null]),
      ]),
    );
    await pool.query(`truncate readings.${kind.table}`);
    await pool.query(
      `insert into readings.${kind.table} select * from json_populate_recordset(null::readings.${kind.table}, $1::json)`,
      [JSON.stringify(rows)],
    );
    for (const list of Object.values(kind.lists)) {
      const ofItems = [[list.key ?? 'id', list.id.def] as const, ...Object.entries(list.fields)];
      const items = presentIn(states, kind).flatMap((state) =>
        (state[list.name] as readonly State[]).map((item) =>
          Object.fromEntries([
            [`${snake(kind.name)}_id`, state.id],
            ...ofItems.map(([name, def]) => [column(name, def), item[name] ?? null]),
          ]),
        ),
      );
      await pool.query(`truncate readings.${list.table}`);
      await pool.query(
        `insert into readings.${list.table} select * from json_populate_recordset(null::readings.${list.table}, $1::json)`,
        [JSON.stringify(items)],
      );
    }
  }
};

type Asker = { readonly role: string; readonly id: number | null; readonly own?: Attributes };
/** The attributes of a user that rights compare: different for each user, and none for the last. */
const attributesFor = (domain: Domain, id: number): Attributes =>
  Object.fromEntries(
    attributesOf(domain).map(({ name, def }) => {
      const values =
        def.values ??
        (def.kind === 'integer' || def.kind === 'ref'
          ? [3, 5]
          : def.kind === 'boolean'
            ? [true, false]
            : ['a', 'b']);
      return [name, id === USERS.at(-1) ? null : (values[id % values.length] ?? null)] as const;
    }),
  );
export const askersOf = (domain: Domain): readonly Asker[] =>
  domain.roles.flatMap((role): readonly Asker[] =>
    role === 'anonymous'
      ? [{ role, id: null }]
      : USERS.map((id) => ({ role, id, own: attributesFor(domain, id) })),
  );

/** With the scopes of all rights. */
export const callerOf = (domain: Domain, { role, id, own }: Asker): Caller => {
  const policy = policyOf(domain);
  if (id === null) return { kind: 'anonymous', policy };
  const scopes = new Set([...policy.rights.values()].map(({ scope }) => scope));
  return {
    kind: 'user',
    policy,
    userId: id as UserId,
    role: role as Role,
    scopes,
    attributes: own,
    client: null,
  };
};

/** A child ends with its parent. */
const isPlaced = (domain: Domain, states: States, kind: Kind, state: State): boolean => {
  const def = kind.parent === undefined ? undefined : kind.fields[kind.parent];
  if (def === undefined) return true;
  const [parent, found] = [
    domain.kinds[targetOf(def)] as Kind,
    findIn(states)(targetOf(def), state[kind.parent as string]),
  ];
  return found !== undefined && isPlaced(domain, states, parent, found);
};

const inMemory = (right: Right, { role, id, own }: Asker, states: States): readonly number[] => {
  const holds = anyHoldsOf(right.byRole.get(role) ?? NOTHING);
  const find = findIn(states);
  return presentIn(states, right.kind as Kind)
    .filter((state) => holds(state, id, find, own))
    .map((state) => state.id);
};

type Reading = 'whole' | 'parts' | 'parts of the caller';
/** The ids by each evaluation; an id occurs twice if two parts contain it. */
const bySql = async (
  pool: Pool,
  domain: Domain,
  right: Right,
  asker: Asker,
): Promise<ReadonlyMap<Reading, readonly number[]>> => {
  const kind = right.kind as Kind;
  const writer = writerFor(domain, asker.id, asker.own);
  const reach: Reach = right.byRole.get(asker.role) ?? NOTHING;
  const place = { domain, kind, row: writer.name('t') };
  const granted: Granted<Piece> = (condition: Expression) => ({
    text: '?::boolean',
    values: [reach.has(condition)],
  });
  const parts: [Reading, Piece][] = [['whole', rightSql(writer, right, place, granted)]];
  for (const { where } of partsSql(writer, right, place, granted)) parts.push(['parts', where]);
  const [state] = Object.entries(kind.fields).find(([, def]) => def.kind === 'states') ?? [];
  for (const part of partsIn(right, reach)) {
    const isState = writer.sql`t.${writer.name(state ?? '')} = ${writer.constant(part.state)}`;
    parts.push(['parts of the caller', writer.sql`${isState} and ${conditionSql(writer, part.left, place)}`]);
  }
  const readings: readonly Reading[] =
    state === undefined ? ['whole', 'parts'] : ['whole', 'parts', 'parts of the caller'];
  const selects = parts.map(
    ([reading, where]) =>
      writer.sql`select ${writer.constant(reading)} reading, t.id from ${writer.table(kind.table)} t where ${where}`,
  );
  const { text, values } = rendered(joinedBy(writer, selects, writer.sql` union all `));
  const { rows } = await pool.query<{ reading: Reading; id: number }>(`${text} order by id`, values);
  return new Map(
    readings.map((each) => [each, rows.filter(({ reading }) => reading === each).map(({ id }) => id)]),
  );
};

export const describeReadings = (
  { runner, createDatabase }: Pick<Host, 'runner' | 'createDatabase'>,
  domain: Domain,
): void => {
  let open: AsyncDisposableStack;
  let pool: Pool;
  runner.beforeAll(async () => {
    open = new AsyncDisposableStack();
    const { url } = open.use(await createDatabase());
    pool = open.use(openPool({ url, applicationName: 'test', connectionsMax: 2 }));
    await createTables(pool, domain);
  });
  runner.afterAll(async () => open?.disposeAsync());
  const each = (name: string, check: (domain: Domain, pool: Pool) => Promise<void>) =>
    runner.test(`${domain.name}: ${name}`, () => check(domain, pool));
  each('every right gives the same ids by SQL, by disjoint parts and in memory', checkIds);
  each('the events that followers see are those of aggregates they can read now', checkFollowers);
  if (listedIn(domain).length > 0)
    each('the items of a part are the same by SQL, in memory and by their events', checkItems);
  each(
    'an event is visible to those who could read the state before it, or can read the state after it',
    checkKnowledge,
  );
};

const checkIds = async (domain: Domain, pool: Pool): Promise<void> => {
  const reading = [...rightsOf(domain).values()].filter(({ kind }) => kind !== undefined);
  await fc.assert(
    fc.asyncProperty(statesOf(domain), async (states) => {
      await fill(pool, domain, states);
      for (const right of reading)
        for (const asker of askersOf(domain)) {
          const wanted = inMemory(right, asker, states);
          for (const [how, ids] of await bySql(pool, domain, right, asker))
            demandEqual(
              { ids, how, asker, right: right.operation },
              { ids: wanted, how, asker, right: right.operation },
            );
        }
    }),
    RUNS,
  );
};

const checkFollowers = async (domain: Domain, pool: Pool): Promise<void> => {
  await fc.assert(
    fc.asyncProperty(statesOf(domain), async (states) => {
      await fill(pool, domain, states);
      const run = async (text: string, values: readonly unknown[]) =>
        (await pool.query(text, [...values])).rows;
      const isReadable = createPresentRights({ domain, run: run as never, schema: 'readings' });
      for (const kind of Object.values(domain.kinds)) {
        const read = rightsOf(domain).get(`${kind.name}.read`) as Right;
        for (const asker of askersOf(domain)) {
          const caller = callerOf(domain, asker);
          const readable = new Set(inMemory(read, asker, states));
          const asked = [...(states.get(kind.name) ?? [])].map(async ([id, state]) => ({
            id,
            isShown: await isReadable(caller, streamName(kind.name, id)),
            isThere: state !== 'ended' && isPlaced(domain, states, kind, state),
          }));
          for (const { id, isShown, isThere } of await Promise.all(asked))
            demandEqual(
              { isShown, id, asker, kind: kind.name },
              { isShown: isThere && readable.has(id), id, asker, kind: kind.name },
            );
        }
      }
    }),
    RUNS,
  );
};

type Listed = {
  readonly kind: Kind;
  readonly list: ListInfo;
  readonly part: NonNullable<ReturnType<typeof partOfItems>>;
};
const listedIn = (domain: Domain): readonly Listed[] =>
  Object.values(domain.kinds).flatMap((kind) =>
    Object.values(kind.lists).flatMap((list) => {
      const part = partOfItems(kind, list);
      return part === undefined ? [] : [{ kind, list, part }];
    }),
  );

const checkItems = async (domain: Domain, pool: Pool): Promise<void> => {
  const listed = listedIn(domain);
  for (const { kind, list, part } of listed)
    await fc.assert(
      fc.asyncProperty(fc.array(itemOf(list), { minLength: 1, maxLength: IDS }), async (all) => {
        const items = all.map((item, index): State => ({ ...item, id: index + 1 }));
        const columns = list.settled.map(
          (name) => [column(name, list.fields[name]), list.fields[name]?.column, name] as const,
        );
        const rows = items.map((item) =>
          Object.fromEntries([['id', item.id], ...columns.map(([of, , name]) => [of, item[name] ?? null])]),
        );
        const writer = writerFor(domain, null);
        const place = {
          domain,
          kind: { ...kind, fields: fieldsOfItem(list), lists: {} },
          row: writer.name('i'),
        };
        const { text } = rendered(conditionSql(writer, part.of, place));
        const found = await pool.query<{ id: number }>(
          `select i.id::integer from json_to_recordset($1::json) i (${['id bigint', ...columns.map(([of, type]) => `${of} ${type}`)].join(', ')})
             where (${text}) is true order by 1`,
          [JSON.stringify(rows)],
        );
        const inPart = items
          .filter((item) => holdsOf(part.of)(item, null, () => undefined))
          .map(({ id }) => id);
        demandEqual(
          found.rows.map(({ id }) => id),
          inPart,
        );
        for (const event of Object.values(kind.events)) {
          if (event.list !== list) continue;
          const [eventPart] =
            visibilityOf(domain)
              .types.get(event.type)
              ?.parts.filter(({ names }) => names.has(list.id.name)) ?? [];
          demandEqual(
            items.filter((item) => eventPart?.isIn({ ...item })).map(({ id }) => id),
            inPart,
          );
          // An event older than the right does not state the fields that it depends on.
          if (list.settled.length > 0) demandEqual(eventPart?.isIn({ [list.id.name]: 1 }), true);
        }
      }),
      RUNS,
    );
};

const checkKnowledge = async (domain: Domain): Promise<void> => {
  fc.assert(
    fc.property(statesOf(domain), statesOf(domain), (before, after) => {
      for (const kind of Object.values(domain.kinds)) {
        // An item whose event lacks the deciding field counts as belonging to the part that fewer may read.
        const rightTo = ({ list }: Kind['events'][string]) =>
          operationOf(kind, (list && partOfItems(kind, list)?.name) ?? 'read');
        for (const asker of askersOf(domain)) {
          const readableBy = new Map(
            [...new Set(Object.values(kind.events).map(rightTo))].map((operation) => {
              const right = rightsOf(domain).get(operation) as Right;
              const then = inMemory(
                right,
                asker,
                new Map([...before, [kind.name, after.get(kind.name) ?? new Map()]]),
              );
              return [operation, new Set([...inMemory(right, asker, before), ...then])] as const;
            }),
          );
          for (let id = 1; id <= IDS; id += 1) {
            const [was, is] = [before, after].map((states) => findIn(states)(kind.name, id));
            for (const event of Object.values(kind.events)) {
              const { name, spec, effect } = event;
              if (effect === 'changes') continue;
              const isReadable = readableBy.get(rightTo(event))?.has(id) === true;
              const planned = { kind: kind.name, event: name, data: {}, before: was, after: is };
              const isKnown = maySee(domain, planned, asker, findIn(before));
              demandEqual(
                { isKnown, name, id, asker },
                { isKnown: spec.hidden !== true && isReadable, name, id, asker },
              );
            }
            const unknown = { kind: kind.name, event: 'unheard_of', data: {}, before: was, after: is };
            demandEqual(maySee(domain, unknown, asker, findIn(before)), false);
            demandEqual(maySee(domain, { ...unknown, kind: 'unheard_of' }, asker, findIn(before)), false);
          }
        }
      }
    }),
    RUNS,
  );
};
