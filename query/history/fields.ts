import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { column, wire } from '#kernel/base/names.ts';
import type { FieldChange } from '#kernel/base/rest/history.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { labelOf } from '#kernel/rest/schemas.ts';
import { servedKindsOf } from '#kernel/webhook/managed-kinds.ts';
import { diffLines } from '#shared/line-diff.ts';
import type { Kind } from '../time-travel/aggregates.ts';
import { missedSince } from './missed-since.ts';

/** How clients see a column of the read model; `isText` if it is compared by line. */
type Shown = {
  /** Its name in the declaration; undefined for the items of lists. */
  readonly name?: string;
  readonly field: string;
  readonly isText?: boolean;
};
/** By column. The others repeat what the entry of the history says itself. */
export type ShownColumns = ReadonlyMap<string, Shown>;

export const shownColumnsOf = (domain: Domain): ReadonlyMap<Kind, ShownColumns> =>
  new Map(servedKindsOf(domain).map((kind) => [kind.name, columnsOf(domain, kind)]));

const columnsOf = (domain: Domain, { fields, parent, isManaged }: Domain['kinds'][string]): ShownColumns =>
  new Map(
    Object.entries(fields).flatMap(([name, def]): readonly (readonly [string, Shown])[] => {
      if (def.parts)
        return def.parts.flatMap(({ column, shown }) =>
          shown === undefined ? [] : [[column, { name, field: shown }]],
        );
      // The item names its parent by the id alone.
      const label = isManaged || name === parent ? undefined : labelOf(domain, def);
      const isText = def.kind === 'text' && def.recorded.safeParse('two\nlines').success;
      return [
        [column(name, def), { name, field: label === undefined ? wire(name, def) : `${name}.id`, isText }],
      ];
    }),
  );

/**
 * The values that an event set in those columns. A position of the log is given together with the identity of
 * its log.
 */
export const valuesIn = (
  shown: ShownColumns,
  row: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, unknown> =>
  new Map(
    [...shown.keys()]
      .filter((column) => column in row)
      .map((column) => [
        column,
        column === 'missed_since' && row[column] !== null
          ? { log: row.missed_log, position: row[column] }
          : row[column],
      ]),
  );

type ClientValue = NonNullable<FieldChange['from']> | null;
type Values = { readonly from: unknown; readonly to: unknown };

/** Shorter texts are shown as their old and new values, longer ones as a difference. */
const SHORT_CHARACTERS = 200;

export const fieldChange = (
  { field, isText = false }: Shown,
  { from, to }: Values,
  identity: LogIdentity,
): FieldChange => {
  const isLong = [from, to].some(
    (text) => typeof text === 'string' && (text.length > SHORT_CHARACTERS || text.includes('\n')),
  );
  if (!isText || !isLong)
    return { field, from: clientValue(field, from, identity), to: clientValue(field, to, identity) };
  const { text, isTruncated } = diffLines(String(from ?? ''), String(to ?? ''));
  return { field, diff: text, ...(isTruncated && { truncated: true }) };
};

/** Positions of the log become cursors for clients; everything else is the JSON of the event. */
const clientValue = (field: string, value: unknown, log: LogIdentity): ClientValue => {
  if (field !== 'missedSince' || (value ?? null) === null) return (value ?? null) as ClientValue;
  const place = value as { readonly log: LogIdentity | null; readonly position: Position };
  return missedSince({ missed_log: place.log, missed_since: place.position }, log);
};
