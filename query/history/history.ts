// Over 200 lines, because it is one answer: the history of a stream, as each reader may see it.

import type { Position, UserId, Version } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import type { HistoryEntry } from '#kernel/base/rest/history.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { membershipsOf } from '#kernel/decide/memberships.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { visibilityOf } from '#kernel/visibility/visibility.ts';
import { createChangeReader } from '#shared/change-stream/changes.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { cursorOf, type NamingLog } from '#shared/event-log/own-cursor.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { type Caller, may, mayByFacts } from '#shared/policy.ts';
import { noteOf } from '#shared/read-log/noted.ts';
import { readReached } from '#shared/read-model/read-position.ts';
import { demandTable } from '#shared/read-model/tables.ts';
import { createPresentRights, type IsReadable } from '#shared/visibility/present-rights.ts';
import { lackedBy, partsIn, rightToField } from '#shared/visibility/visible-data.ts';
import { visibleOrigin } from '#shared/visibility/visible-origin.ts';
import { type Charge, createMeter } from '../rest/meter.ts';
import { runPrepared } from '../rows/statement.ts';
import type { Kind } from '../time-travel/aggregates.ts';
import { createExceptionsFinder } from '../time-travel/exceptions.ts';
import { foldRow } from '../time-travel/fold-stream.ts';
import type { PastOptions } from '../time-travel/options.ts';
import { type Described, describe } from './describe.ts';
import { fieldChange, type ShownColumns, shownColumnsOf } from './fields.ts';
import { findEntries, type Stretch } from './find-entries.ts';
import { knownVersion, lastVersion } from './versions.ts';

export type HistoryOptions = Pick<PastOptions, 'pool' | 'codec' | 'tables' | 'snapshots'> & {
  readonly eventLog: Pick<EventLog, 'identity' | 'namesEvents' | 'read'>;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly domain: Domain;
};

/** An aggregate that the caller may read now, or that an auditor asks for. */
type Asked = {
  readonly kind: Kind;
  readonly id: number;
  readonly caller: Caller;
  readonly charge: Charge;
  /** Only entries up to this position; by default, up to the position of the read model. */
  readonly upTo?: Position | undefined;
};

/** Exclusive bounds, as versions. */
type Places = {
  readonly below: number | undefined;
  readonly above: number | undefined;
  readonly isUpward: boolean;
  readonly limit: number;
};

export type HistoryPage = {
  /** The latest first. */
  readonly entries: readonly HistoryEntry[];
  /** True if there may be more in the direction of reading, beyond the version `lookedAt`. */
  readonly hasMore: boolean;
  readonly lookedAt: number;
  /** True if it has as many entries as asked for. */
  readonly isFull: boolean;
};

export type ReadHistory = (asked: Asked, places: Places) => Promise<HistoryPage>;

/**
 * The history of one aggregate, from its stream: the changes and their actors, as far as the caller would see
 * them in the feed.
 */
export const createHistory = (options: HistoryOptions): ReadHistory => {
  const { pool, eventLog, codec, tables, snapshots } = options;
  const catalogue = catalogueOf(options.domain);
  const exceptionsOf = createExceptionsFinder(pool);
  const linksOf = createLinks(options.domain);
  const departedAmong = createDepartures(options);
  const shownColumns = shownColumnsOf(options.domain);
  // Its cache of former states lasts from page to page; the client whose request fills it is charged.
  const reader = createChangeReader(options);
  const isReadable = createPresentRights({
    domain: options.domain,
    run: (text, values) => runPrepared(pool, text, values),
  });
  return async (
    { kind, id, caller, charge, upTo = Number.MAX_SAFE_INTEGER as Position },
    { below, above = 0, isUpward, limit },
  ) => {
    const stream = streamName(kind, id);
    const table = demandTable(tables, kind);
    const declared = options.domain.kinds[kind];
    const note = declared && noteOf(declared);
    const metered = createMeter(charge).metered(eventLog);
    const reached = (await readReached(pool, eventLog)) ?? 0;
    const source = { eventLog: metered, stream, upTo: Math.min(upTo, reached) as Position };
    const end = await lastVersion(source, upTo < reached ? 0 : await knownVersion(pool, table, id));
    if (end === 0) throw new Rejection(notFound(kind));
    const stretch: Stretch = { below: Math.min(below ?? end + 1, end + 1), above, isUpward, limit };
    const { changes, ...found } = await findEntries({ source, reader, caller }, stretch);
    const { skipped } = await exceptionsOf(stream);
    const entries: HistoryEntry[] = [];
    const columns = shownColumns.get(kind) ?? new Map();
    const foldUpTo = (position: Position) =>
      foldRow(
        { eventLog: metered, codec, tables, snapshots, exceptionsOf, onRead: paidFor },
        { kind, stream, upTo: position },
      );
    const describing = { catalogue, shown: columns, table, source, codec, skipped, departedAmong, foldUpTo };
    const path = `/${declared?.path ?? table.name}/${id}`;
    const shown = { domain: options.domain, linksOf, path, columns, kind, caller, log: eventLog, isReadable };
    for await (const described of describe(describing, changes))
      entries.push(await entryOf(shown, described));
    note?.(id, fieldsOfChanges(entries));
    return { entries: entries.toReversed(), ...found, isFull: entries.length === limit };
  };
};

/** A change of a part of a field, as `limits.concurrency`, is one of the field. */
const fieldsOfChanges = (entries: readonly HistoryEntry[]): readonly string[] => [
  ...new Set(entries.flatMap(({ changes }) => changes.map(({ field }) => field.split('.', 1)[0] ?? field))),
];

/** The metered log has charged it already. */
const paidFor = async (): Promise<void> => {};

/** A deleted user may still have a key for a moment, but their personal data is no longer shown. */
const createDepartures =
  ({ pool }: HistoryOptions) =>
  async (userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> => {
    if (userIds.length === 0) return new Set();
    const rows = await runPrepared<{ id: UserId }>(
      pool,
      'select user_id as id from read_model.departed where user_id = any($1::bigint[])',
      [userIds],
    );
    return new Set(rows.map(({ id }) => id));
  };

type Shown = {
  readonly domain: Domain;
  readonly linksOf: ReturnType<typeof createLinks>;
  readonly path: string;
  readonly columns: ShownColumns;
  readonly kind: Kind;
  readonly caller: Caller;
  readonly log: NamingLog;
  readonly isReadable: IsReadable;
};

const entryOf = async (shown: Shown, described: Described): Promise<HistoryEntry> => {
  const { columns, caller, log } = shown;
  const { change, isReadable, isErased } = described;
  const { version, id, type, at, importedAt, reason, signature, position, origin } = change;
  const seen = (await visibleIn(shown, described)).map(({ column, from, to }) => ({
    column: columns.get(column) ?? { field: column },
    from,
    to,
  }));
  return {
    version: version as Version,
    id,
    type,
    at,
    ...(importedAt !== undefined && { importedAt }),
    ...(reason !== undefined && { reason }),
    ...(signature !== undefined && { signature }),
    cursor: cursorOf(log, position, id),
    ...(origin ? visibleOrigin(caller, origin) : { actor: null }),
    changes: seen.map(({ column, from, to }) => fieldChange(column, { from, to }, log.identity)),
    ...(isErased && { erased: true as const }),
    ...(!isReadable && { unreadable: true as const }),
    _links: shown.linksOf(shown, described),
  };
};

/** The effects of an event, except on parts that the caller may not read. */
const visibleIn = async (
  { domain, kind, columns, caller, isReadable }: Shown,
  { change, touched, data }: Described,
) => {
  const parts = partsIn(domain, change, data);
  const guarded = touched.map((each) => {
    const field = columns.get(each.column)?.name;
    const rights =
      field === undefined ? parts.map(({ operation }) => operation) : [rightToField(domain, kind, field)];
    return { ...each, rights: rights.filter((right) => right !== undefined) };
  });
  const lacked = await lackedBy(
    { domain, caller, isReadable },
    change,
    guarded.flatMap(({ rights }) => rights),
  );
  return guarded.filter(({ rights }) => !rights.some((right) => lacked.has(right)));
};

type Of = { readonly path: string; readonly caller: Caller };

/** Links to the item at that version, if the caller could read it, and to the cause of the event. */
const createLinks = (domain: Domain) => {
  const { types } = visibilityOf(domain);
  const causeOf = createCauseOf(domain);
  return ({ path, caller }: Of, { change, isReadable, data }: Described): HistoryEntry['_links'] => {
    const { version, type, at, origin, resource } = change;
    const known = types.get(type);
    const cause = origin?.causation ? causeOf(type, data) : undefined;
    const isThere = known === undefined ? !type.endsWith('.deleted') : known.event.effect !== 'ends';
    const mayRead =
      known === undefined ||
      (origin !== null &&
        mayByFacts(
          caller,
          operationOf(known.of.kind, 'read'),
          known.factsAfter(resource, { data, at, origin }),
        ));
    return {
      ...(isReadable && isThere && mayRead && { self: { href: `${path}?at=v${version}` } }),
      ...(cause !== undefined && may(caller, 'events.trace', {}) && { cause: { href: cause } }),
    };
  };
};

/** Events that have consequences for other aggregates: deleting a user ends their drafts. */
const createCauseOf = (domain: Domain): ((type: string, data: Described['data']) => string | undefined) => {
  const causes = new Map(
    membershipsOf(domain).map(({ end, parentKind, parentKey }) => [
      end,
      { path: domain.kinds[parentKind]?.path, parentKey },
    ]),
  );
  return (type, data) => {
    const cause = causes.get(type);
    return cause && `/${cause.path}/${data[cause.parentKey]}/history`;
  };
};
