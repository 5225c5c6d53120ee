import { hash } from 'node:crypto';
import * as z from 'zod';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Gap } from './walk.ts';

const IDENTITY_CHARACTERS = 8;

/** Identifies a list by its path, filters and order, without the parameters that only page it. */
export const listIdentity = (list: Readonly<Record<string, unknown>>): string =>
  hash(
    'sha256',
    JSON.stringify(Object.entries(list).toSorted(([one], [other]) => (one < other ? -1 : 1))),
    'base64url',
  ).slice(0, IDENTITY_CHARACTERS);

/** Opaque to clients, and valid for one list only. */
export const formatListCursor = (identity: string, { atMs, id, side }: Gap): string =>
  Buffer.from(JSON.stringify([identity, atMs, id, side])).toString('base64url');

/** The end of the year 9999; later times have another spelling. */
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

/** The JSON of a client’s cursor; undefined if it is not one of ours. */
export const decodeCursor = (text: string): unknown => {
  if (!BASE64URL.test(text)) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    // Not one of ours.
    return undefined;
  }
};
