import { isFileField } from '#kernel/decide/accepted-files.ts';
import type { Member } from '../../query/rows/source.ts';
import type { Resolve } from './graphql-nodes.ts';

/** The details of files, read from their addresses without the kernel’s own code. */
export const detailsIn = (
  type: string,
  members: readonly Member[],
): readonly (readonly [field: string, Resolve])[] =>
  members
    .filter(({ def }) => isFileField(def))
    .map(({ name, column }) => [`${type}.${name}Details`, ({ row }) => detailsOf(row[column])]);

const detailsOf = (address: unknown) => {
  if (typeof address !== 'string') return null;
  const query = Object.fromEntries(new URLSearchParams(address.split('?', 2)[1]));
  return { name: null, ...query, bytes: Number(query.bytes) };
};
