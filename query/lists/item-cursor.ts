import * as z from 'zod';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { decodeCursor } from './cursor.ts';

/**
 * A position in a list of an aggregate: the key of an item that is or was there, and its rank if the list is
 * ordered, or the time that it is sorted by.
 */
export type ItemGap = { readonly rank?: string; readonly id: number | string };

export const formatItemCursor = (identity: string, { rank, id }: ItemGap): string =>
  Buffer.from(JSON.stringify([identity, ...(rank === undefined ? [] : [rank]), id])).toString('base64url');

const storable = z.string().refine((text) => text.isWellFormed() && !text.includes('\u0000'));

export const parseItemCursor = (
  identity: string,
  text: string,
  { order }: { readonly order: readonly { readonly type: string }[] },
): ItemGap => {
  const id = order.at(-1)?.type === 'text' ? storable : z.int().positive();
  const decoded = decodeCursor(text);
  const ranked = z.tuple([
    z.literal(identity),
    order[0]?.type === 'timestamptz' ? z.iso.datetime() : storable,
    id,
  ]);
  const unranked = z.tuple([z.literal(identity), id]);
  const result = order.length > 1 ? ranked.safeParse(decoded) : unranked.safeParse(decoded);
  if (!result.success) throw new HttpProblem('unknown_cursor');
  return result.data.length === 3 ? { rank: result.data[1], id: result.data[2] } : { id: result.data[1] };
};
