import * as z from 'zod';
import { ADDRESS_CHARACTERS_MAX, factsOfFile } from './file-address.ts';
import { isUploadPath, UPLOAD_NAME, UPLOADS } from './upload-name.ts';

/**
 * The rules of values, shared by events and commands. The rule of an event may be loosened later but never
 * tightened, because recorded events must stay readable. Stricter rules for forms are next to it, as
 * `demanded…`.
 */

const NUL = '\u0000';

/** Characters are code points, as in PostgreSQL and JSON Schema, not the UTF-16 units of `length`. */
const hasAtMost = (charactersMax: number) => (value: string) => {
  if (value.length <= charactersMax) return true;
  if (value.length > 2 * charactersMax) return false;
  let characters = 0;
  for (const _ of value) characters += 1;
  return characters <= charactersMax;
};

const isStorable = (value: string) => value.isWellFormed() && !value.includes(NUL);
const isNotBlank = (value: string) => /\S/.test(value);

/** Text that PostgreSQL can store: without U+0000 and lone surrogates. */
export const text = (charactersMax: number) =>
  z
    .string()
    .refine(hasAtMost(charactersMax), {
      error: `Must have at most ${charactersMax} characters.`,
      abort: true,
    })
    .refine(isStorable, { error: 'Must be well-formed Unicode without U+0000.', abort: true })
    .meta({ maxLength: charactersMax, pattern: '^[^\\u0000]*$' });

/** Text is stored unchanged, white space included, but must contain a visible character. */
export const visibleText = (charactersMax: number) =>
  text(charactersMax)
    .refine(isNotBlank, { error: 'Must not be blank.', abort: true })
    .meta({ minLength: 1, maxLength: charactersMax, pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$' });

/** A line break would forge a line, and a change of direction would make the rest of a page run backwards. */
const MISLEADING = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
/** Other format characters stay, because Persian words and many emoji need them. Alone they are invisible. */
const VISIBLE = /[^\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

export const demandedLine = (charactersMax: number) =>
  visibleText(charactersMax)
    .refine((value) => !MISLEADING.test(value), {
      error: 'Must be one line, without control characters or changes of the writing direction.',
      abort: true,
    })
    .refine((value) => VISIBLE.test(value), { error: 'Must not be blank.' });

const EMAIL_CHARACTERS_MAX = 254;
/** Has the form of an address, also beyond ASCII (RFC 6531); only a delivered message proves one. */
const EMAIL =
  /^[^\s@"<>(),:;[\]\\\p{C}]{1,64}@(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*\.)+[\p{L}\p{N}][\p{L}\p{M}\p{N}-]+$/u;

export const email = text(EMAIL_CHARACTERS_MAX)
  .refine((value) => EMAIL.test(value), { error: 'Must be an e-mail address.' })
  .meta({ minLength: 3, maxLength: EMAIL_CHARACTERS_MAX, format: 'email', pattern: undefined });

/** Distinct values; `error` is the message for a repeated one. */
export const different = <Schema extends z.ZodType>(
  of: Schema,
  max: number,
  error: string,
): z.ZodType<readonly z.infer<Schema>[]> =>
  z
    .array(of)
    .max(max)
    .refine((values) => new Set(values).size === values.length, { error })
    .meta({ uniqueItems: true });

/**
 * The path of an upload, or the address of a picture elsewhere. No other scheme, because browsers display it.
 */
export const picture = text(2_048)
  .refine((value) => /^(?:https?:\/\/|\/uploads\/)[^\s\p{C}]+$/u.test(value), {
    error: 'Must be an http(s) URL or a path under /uploads/.',
  })
  .meta({ maxLength: 2_048, pattern: '^(https?://|/uploads/)[^\\s]+$' });

/** The characters of RFC 3986 without the apostrophe, because pages put this into an attribute. */
const URL_CHARACTERS = /^https?:\/\/[A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=%]+$/;

const isUpload = (value: string): boolean =>
  isUploadPath(value) && UPLOAD_NAME.test(value.slice(UPLOADS.length));

const isElsewhere = (value: string): boolean => {
  const url = URL_CHARACTERS.test(value) ? URL.parse(value) : null;
  return url !== null && url.username === '' && url.password === '';
};

export const demandedPicture = picture
  .refine((value) => isUpload(value) || isElsewhere(value), {
    error: 'Must be the path of an upload, or an http(s) URL in ASCII without a user name or password.',
  })
  .meta({
    maxLength: 2_048,
    pattern: `^(https?://[A-Za-z0-9._~:/?#[\\]@!$&()*+,;=%-]+|${UPLOADS}${UPLOAD_NAME.source.slice(1, -1)})$`,
  });

/** The address of an uploaded file, with its type, size, digest and name. */
export const recordedFile = z
  .string()
  .max(ADDRESS_CHARACTERS_MAX)
  .regex(/^\/uploads\/[\w.-]+\?[\w.~%&=!'()*-]+$/);

export const demandedFile = recordedFile.refine((value) => factsOfFile(value) !== undefined, {
  error: 'Must be the address of a file that was uploaded here.',
});

/** RFC 3339 in UTC with milliseconds: one spelling for each time, so that strings sort by time. */
export const timestamp = z.iso.datetime({ precision: 3 });

/** Of a field. PostgreSQL has no year 0. */
export const timestampOfField = timestamp.refine((text) => !text.startsWith('0000'), {
  error: 'Must be a time in the year 1 or later.',
});

/** RFC 3339, full-date. PostgreSQL has no year 0. */
export const day = z.iso
  .date()
  .refine((text) => !text.startsWith('0000'), { error: 'Must be a date in the year 1 or later.' });

export const TOKEN = /^[\x21-\x7e]{1,200}$/;
/** A name made by a machine: of a digest, a stream or a process. */
export const token = z.string().regex(TOKEN, { error: 'Must be 1 to 200 visible ASCII characters.' });
