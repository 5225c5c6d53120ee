import { hash } from 'node:crypto';
import * as z from 'zod';
import { HttpProblem } from '#shared/http/http-problem.ts';
import type { Gap } from './walk.ts';

const IDENTITY_CHARACTERS = 8;

/** Tells a list from all others: its path, filters and order, without what only says how to page it. */
export const listIdentity = (list: Readonly<Record<string, unknown>>): string =>
  hash(
    'sha256',
    JSON.stringify(Object.entries(list).toSorted(([one], [other]) => (one < other ? -1 : 1))),
    'base64url',
  ).slice(0, IDENTITY_CHARACTERS);

/** Opaque to clients; it is good for the one list that it is a place in. */
export const formatListCursor = (identity: string, { atMs, id, side }: Gap): string =>
  Buffer.from(JSON.stringify([identity, atMs, id, side])).toString('base64url');

/** The end of the year 9999, beyond which times have another spelling. */
const AT_MS_MAX = 253_402_300_799_999;

const ListCursor = z.tuple([
  z.string(),
  z.int().min(0).max(AT_MS_MAX),
  z.int().positive(),
  z.enum(['before', 'after']),
]);

export const parseListCursor = (identity: string, text: string): Gap => {
  const result = ListCursor.safeParse(decodeCursor(text));
  if (!result.success || result.data[0] !== identity) throw new HttpProblem('unknown_cursor');
  const [, atMs, id, side] = result.data;
  return { atMs, id, side };
};

const BASE64URL = /^[\w-]+$/;

/** What a client sent for a cursor, if it is one of ours. */
export const decodeCursor = (text: string): unknown => {
  if (!BASE64URL.test(text)) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    // Not one of ours, as the schema is about to say.
    return undefined;
  }
};
