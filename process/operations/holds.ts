import type { StreamName } from '#kernel/base/brands.ts';
import { column } from '#kernel/base/names.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { itemTableOf } from '#kernel/rows/items.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';

/** A hold that nobody has released yet. */
export type OpenHold = {
  readonly stream: StreamName;
  readonly hold: number;
  readonly reason: string;
  readonly placedBy: number;
  readonly placedAt: Date;
};

export type ListedHold = OpenHold & { readonly key: string };

/** Sorts as the times do. */
const KEY = `(lpad((extract(epoch from placed_at) * 1000000)::bigint::text, 17, '0') || ' ' || stream || ' ' || hold) collate "C"`;

/** Those of all aggregates, the latest first. */
export const readHolds = async (
  domain: Domain,
  pool: Pick<Pool, 'query'>,
  { after, before, isBackward, rowsMax }: Stretch<string>,
): Promise<readonly ListedHold[]> => {
  const all = Object.values(domain.kinds).flatMap(holdsOf);
  if (all.length === 0) return [];
  const { rows } = await pool.query<ListedHold>(
    `select stream, hold, reason, placed_by as "placedBy", placed_at as "placedAt", ${KEY} as key
     from (${all.join(' union all ')}) as held
     where ($1::text is null or ${KEY} < $1) and ($2::text is null or ${KEY} > $2)
     order by key ${isBackward ? 'asc' : 'desc'} limit $3`,
    [after, before, rowsMax],
  );
  return rows.map((row) => ({ ...row, hold: Number(row.hold), placedBy: Number(row.placedBy) }));
};

const holdsOf = (kind: Kind): readonly string[] => {
  const list = kind.hold ? kind.lists.holds : undefined;
  if (list === undefined) return [];
  const { name, key } = itemTableOf(kind, list);
  const [of, id] = key;
  const by = column('placedBy', list.fields.placedBy);
  return [
    `select '${kind.name}-' || ${of} as stream, ${id} as hold, reason, ${by} as placed_by, placed_at from ${LIVE_SCHEMA}.${name}`,
  ];
};
