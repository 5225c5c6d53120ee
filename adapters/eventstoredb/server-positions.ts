import type { Position, Version } from '#kernel/base/brands.ts';
import { START } from '#shared/event-log/event-log.ts';

/** The position of a record in the server’s log. */
type ServerPosition = { readonly commit: bigint; readonly prepare: bigint };

/**
 * Our positions are numbers, and never a bigint, which JSON cannot represent. The two parts are equal except in
 * a record of an explicit transaction, which is no event of ours.
 */
export const positionAt = ({ commit }: Pick<ServerPosition, 'commit'>): Position =>
  safe(commit, 'position') as Position;

export const serverPositionOf = (position: Position): ServerPosition | 'start' => {
  if (position === START) return 'start';
  return { commit: BigInt(position), prepare: BigInt(position) };
};

/** Revisions count from 0, versions from 1. */
export const versionAt = (revision: bigint): Version => (safe(revision, 'revision') + 1) as Version;

export const revisionOf = (version: Version): bigint => BigInt(version - 1);

const safe = (value: bigint, what: string): number => {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 0)
    throw new Error(`EventStoreDB returned the ${what} ${value}, which is not a safe integer`);
  return number;
};
