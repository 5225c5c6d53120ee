import type { Pool } from '#shared/database/pool.ts';

export type Head = { readonly size: number; readonly note: string };

export type PublicHeads = {
  /** The newest head, with the cosignatures that it has so far. */
  readonly newest: Head | undefined;
  /** The newest one that enough witnesses have cosigned. */
  readonly witnessed: Head | undefined;
  readonly hasWitnesses: boolean;
};

type Row = {
  readonly size: number;
  readonly note: string | null;
  readonly cosignatures: string | null;
  readonly witnesses: number;
  readonly witnessedSize: number | null;
  readonly witnessedNote: string | null;
};

/** A note begins with the name of its log, by which witnesses are known. */
const HEADS = `
  select head.size, head.note, asked.cosignatures, asked.witnesses,
    witnessed.size as "witnessedSize", witnessed.note as "witnessedNote"
  from audit.tree_head head
  cross join lateral (
    select string_agg(cosignatures, '' order by url) filter (where witness.size = head.size) as cosignatures,
      count(*) as witnesses
    from audit.witness where log = split_part(head.note, e'\\n', 1)
  ) asked
  left join audit.witnessed_head witnessed
    on witnessed.log = split_part(head.note, e'\\n', 1) and witnessed.size <= head.size`;

/** The heads as everybody may see them. */
export const readPublicHeads = async (pool: Pool): Promise<PublicHeads> => {
  const { rows } = await pool.query<Row>({ name: 'tree-public-heads', text: HEADS });
  const [row] = rows;
  if (row === undefined) return { newest: undefined, witnessed: undefined, hasWitnesses: false };
  const { size, note, cosignatures, witnesses, witnessedSize, witnessedNote } = row;
  return {
    newest: note === null ? undefined : { size, note: `${note}${cosignatures ?? ''}` },
    witnessed:
      witnessedSize === null || witnessedNote === null
        ? undefined
        : { size: witnessedSize, note: witnessedNote },
    hasWitnesses: witnesses > 0,
  };
};

/**
 * The head that proves the event that `count` events end with: the newest one that enough witnesses have cosigned, or
 * until then the newest one of all.
 */
export const provingHeadIn = (
  { newest, witnessed, hasWitnesses }: PublicHeads,
  count: number,
): { readonly head: Head | undefined; readonly isWitnessed: boolean | null } =>
  hasWitnesses && witnessed !== undefined && witnessed.size >= count
    ? { head: witnessed, isWitnessed: true }
    : { head: newest, isWitnessed: hasWitnesses ? false : null };
