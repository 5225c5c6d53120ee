import * as z from 'zod';
import { nearest } from '#kernel/base/nearest.ts';
import { parsePlainly } from '#kernel/base/plain-issues.ts';
import { reason } from '#kernel/base/reason.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';

/** Names an aggregate or a user: the id here, or the key of the line that created it. */
const name = z.union([z.int().positive(), z.string().min(1).max(200)]);
export type Name = z.infer<typeof name>;

/** The key is part of the metadata of events, as the request that caused them. */
const KEY_CHARACTERS_MAX = 190;
const ofAggregate = z
  .string()
  .regex(/^\w+\.\w+$/, { error: 'Must be one of an aggregate, such as “ticket.open”.' });

const Line = z.strictObject({
  key: z
    .string()
    .max(KEY_CHARACTERS_MAX)
    .regex(/^[\x21-\x7e]+$/, { error: 'Must be visible ASCII characters.' }),
  at: z.iso.datetime({ offset: true }),
  actor: name.optional(),
  command: ofAggregate.optional(),
  event: ofAggregate.optional(),
  of: name.optional(),
  item: name.optional(),
  reason: reason.optional(),
  form: z.record(z.string(), z.json()).default({}),
});

/** A command or an event of an import: its claimed time and author, and a key that no other line has. */
export type ImportLine = z.infer<typeof Line> & { readonly number: number };

export const lineOf = (text: string, number: number): ImportLine => {
  const { data, error } = parsePlainly(Line, parseJson(text, number));
  if (data === undefined) throw refusedLine({ number }, faultIn(error, 'the line', Object.keys(Line.shape)));
  if ((data.command === undefined) === (data.event === undefined))
    throw refusedLine({ number, key: data.key }, 'it needs either a command or an event');
  const at = new Date(data.at).toISOString();
  if (!YEARS.test(at)) throw refusedLine({ number, key: data.key }, 'at: Must be in the years 1 to 9999');
  return { ...data, at, number };
};

/** The first fault of an input, by its place: a misspelt name rather than the field that is missing then. */
export const faultIn = ({ issues }: z.ZodError, whole: string, names: readonly string[]): string => {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue?.code !== 'unrecognized_keys') return `${issue?.path.join('.') || whole}: ${issue?.message}`;
  const [typed = ''] = issue.keys;
  const meant = issue.path.length === 0 ? nearest(typed, names) : undefined;
  return `${[...issue.path, typed].join('.')}: ${issue.message}${meant === undefined ? '' : ` Did you mean “${meant}”?`}`;
};

/** Its offset may move a time to other years. */
const YEARS = /^(?!0000)\d{4}-/;

const parseJson = (text: string, number: number): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw refusedLine({ number }, 'it is not JSON');
  }
};

/** Names the line; every line before it is imported. */
export const refusedLine = (
  { number, key }: { readonly number: number; readonly key?: string },
  why: string,
  cause?: unknown,
): StartRefused =>
  new StartRefused(
    `Line ${number}${key === undefined ? '' : ` (${key})`}: ${why.replace(/(?<![.?])$/, '.')}`,
    cause === undefined ? {} : { cause },
  );
