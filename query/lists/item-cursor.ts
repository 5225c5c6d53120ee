import * as z from 'zod';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { decodeCursor } from './cursor.ts';

/** A place in the list of an aggregate: where an item is or was, by its rank and what tells it apart. */
export type ItemGap = { readonly place: string; readonly id: number | string };

export const formatItemCursor = (identity: string, { place, id }: ItemGap): string =>
  Buffer.from(JSON.stringify([identity, place, id])).toString('base64url');

const storable = z.string().refine((text) => text.isWellFormed() && !text.includes('\u0000'));
const OF_NUMBERS = z.tuple([z.string(), storable, z.int().positive()]);
const OF_TEXTS = z.tuple([z.string(), storable, storable]);

export const parseItemCursor = (identity: string, text: string, idType: string): ItemGap => {
  const result = (idType === 'text' ? OF_TEXTS : OF_NUMBERS).safeParse(decodeCursor(text));
  if (!result.success || result.data[0] !== identity) throw new HttpProblem('unknown_cursor');
  const [, place, id] = result.data;
  return { place, id };
};
