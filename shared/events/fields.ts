import * as z from 'zod';
import type { ArticleId, CommentId, LogIdentity, Position, UserId, Version, WebhookId } from '#shared/brands.ts';

/**
 * What every value of the domain must satisfy, once for events and commands.
 * An event's rule may be loosened later and never tightened: what was recorded must stay readable.
 */

/** The brand is given here, where the number has just been checked. */
export const userId = z.int().positive() as unknown as z.ZodType<UserId, number>;
export const articleId = z.int().positive() as unknown as z.ZodType<ArticleId, number>;
export const commentId = z.int().positive() as unknown as z.ZodType<CommentId, number>;
export const webhookId = z.int().positive() as unknown as z.ZodType<WebhookId, number>;

/** A version of a stream; 0 is the version of a stream without events. */
export const version = z.int().nonnegative() as unknown as z.ZodType<Version, number>;

/** A place in the log; 0 is the place before the first event. */
export const position = z.int().nonnegative() as unknown as z.ZodType<Position, number>;

/**
 * A place for events to hold, which are copied from log to log: it says in which log it is that. Nothing means the log that the event is
 * in, because the first release did not say. Where a span ends is told from where one begins, because of what either is in another log.
 */
const place = { log: (z.uuid() as unknown as z.ZodType<LogIdentity, string>).nullable(), position };
export const beginning = z.strictObject(place);
export const end = z.strictObject(place);

const NUL = '\u0000';

/** Characters are code points, as PostgreSQL and JSON Schema count them, not the UTF-16 units of `length`. */
const hasAtMost = (charactersMax: number) => (value: string) => {
  if (value.length <= charactersMax) return true;
  if (value.length > 2 * charactersMax) return false;
  let characters = 0;
  for (const _ of value) characters += 1;
  return characters <= charactersMax;
};

const isStorable = (value: string) => value.isWellFormed() && !value.includes(NUL);
const isNotBlank = (value: string) => /\S/.test(value);

/** Text that PostgreSQL can hold; it has no U+0000 and no encoding of lone surrogates. */
export const text = (charactersMax: number) =>
  z
    .string()
    .refine(hasAtMost(charactersMax), { error: `Must have at most ${charactersMax} characters.`, abort: true })
    .refine(isStorable, { error: 'Must be well-formed Unicode without U+0000.', abort: true })
    .meta({ maxLength: charactersMax, pattern: '^[^\\u0000]*$' });

/** Text is kept as it was given, white space included, but there must be something to see. */
export const visibleText = (charactersMax: number) =>
  text(charactersMax)
    .refine(isNotBlank, { error: 'Must not be blank.', abort: true })
    .meta({ minLength: 1, maxLength: charactersMax, pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$' });

const EMAIL_CHARACTERS_MAX = 254;
/** Shaped like an address, also beyond ASCII (RFC 6531); only a message that arrives proves one. */
const EMAIL = /^[^\s@"<>(),:;[\]\\\p{C}]{1,64}@(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*\.)+[\p{L}\p{N}][\p{L}\p{M}\p{N}-]+$/u;

export const email = text(EMAIL_CHARACTERS_MAX)
  .refine((value) => EMAIL.test(value), { error: 'Must be an e-mail address.' })
  .meta({ minLength: 3, maxLength: EMAIL_CHARACTERS_MAX, format: 'email', pattern: undefined });

export const ROLES = ['reader', 'author', 'admin'] as const;
export const role = z.enum(ROLES);
export type Role = z.infer<typeof role>;

export const name = visibleText(100);
export const title = visibleText(200);
export const body = text(100_000);
export const commentText = visibleText(5_000);

const TAGS_MAX = 10;
const tag = z.string().regex(/^[a-z0-9-]{1,40}$/, { error: 'Must be 1 to 40 of a–z, 0–9 and the hyphen.' });
export const tags: z.ZodType<readonly string[], readonly string[]> = z
  .array(tag)
  .max(TAGS_MAX)
  .refine((values) => new Set(values).size === values.length, { error: 'Must not repeat a tag.' })
  .meta({ uniqueItems: true });

/** An uploaded file by its path, or a picture elsewhere; never another scheme, because browsers are shown this. */
export const cover = text(2_048)
  .refine((value) => /^(?:https?:\/\/|\/uploads\/)[^\s\p{C}]+$/u.test(value), {
    error: 'Must be an http(s) URL or a path under /uploads/.',
  })
  .meta({ maxLength: 2_048, pattern: '^(https?://|/uploads/)[^\\s]+$' });

/** RFC 3339 in UTC with milliseconds, one spelling for each moment, so that texts order as times do. */
export const timestamp = z.iso.datetime({ precision: 3 });

/** A name made by a machine: a digest, a stream, a process. */
export const token = z.string().regex(/^[\x21-\x7e]{1,200}$/, { error: 'Must be 1 to 200 visible ASCII characters.' });
