import { createHash, createHmac, randomBytes } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { UserId, Version } from '#kernel/base/brands.ts';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import { capital, oneOf, spaced, wire } from '#kernel/base/names.ts';
import { STATED_CHARACTERS_MAX } from '#kernel/base/signature.ts';
import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import { type AskedSignature, SIGNED_WITHIN_MS } from '#shared/signatures/signatures.ts';
import type { Looked } from './looking.ts';

/** A command of which its person must sign what it decides. */
export type Signing = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly meaning: string;
  readonly given: JsonObject;
  /** Of an approval: the command that it lets happen. */
  readonly approves?: JsonObject | undefined;
};

type Asking = { readonly userId: UserId; readonly at: string; readonly looked: Looked };

const SALT_BYTES = 32;

/** The text to sign: by whom, what, on which version of which item, with which meaning, and until when. */
export const askedSignature = (signing: Signing, { userId, at, looked }: Asking): AskedSignature => {
  const { kind, command, meaning, given } = signing;
  const salt = randomBytes(SALT_BYTES).toString('base64url');
  const statement = {
    annals: 'signature',
    ...{ user: userId, meaning, command: String(given.type), ...itemOf(kind, looked) },
    form: statedForm(signing, salt),
    nonce: randomBytes(SALT_BYTES).toString('base64url'),
    from: at,
    until: new Date(Date.parse(at) + SIGNED_WITHIN_MS).toISOString(),
  };
  return {
    ...{ userId, statement: canonical(statement), salt, meaning },
    says: command.says ?? `${capital(spaced(command.name))} ${oneOf(kind.name)}`,
    item: nameOf(kind, looked),
    form: Object.entries({ ...formOf(signing), ...signing.approves }).map(([name, value]) => [
      spaced(name),
      (typeof value === 'string' ? value : JSON.stringify(value)).replace(TURNING, codePointOf),
    ]),
  };
};

/** Characters by which a value would read otherwise than it is stored. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/gu;
const codePointOf = (character: string): string =>
  `[U+${character.codePointAt(0)?.toString(HEXADECIMAL).toUpperCase()}]`;
const HEXADECIMAL = 16;

export type Stated = {
  readonly user: number;
  readonly meaning: string;
  readonly command: string;
  readonly item: string;
  readonly version: Version | null;
  readonly form: JsonObject;
};

/** Returns the statement if it is about this command. Its version is checked with the state. */
export const statedFor = (
  signing: Signing,
  {
    userId,
    asked: { statement, salt, userId: of },
  }: { readonly userId: UserId; readonly asked: AskedSignature },
): Stated | undefined => {
  const stated = JSON.parse(statement) as Stated;
  const isSame =
    of === userId &&
    stated.user === userId &&
    stated.meaning === signing.meaning &&
    stated.command === signing.given.type &&
    canonical(stated.form) === canonical(statedForm(signing, salt));
  return isSame ? stated : undefined;
};

const itemOf = (kind: Kind, { stream, version }: Looked) =>
  stream === undefined ? { item: kind.name, version: null } : { item: stream, version };

const nameOf = ({ name, label }: Kind, { state, stream }: Looked): string | null => {
  if (stream === undefined) return null;
  const value = label === undefined || state.status !== 'present' ? undefined : state.fields[label];
  const id = stream.slice(stream.lastIndexOf('-') + 1);
  return typeof value === 'string'
    ? `${capital(spaced(name))} ${id}: ${value}`
    : `${capital(spaced(name))} ${id}`;
};

const formOf = ({ given }: Signing): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      name === 'type' || value === undefined ? [] : [[name, value]],
    ),
  );

/**
 * The form, in which a personal value is only a keyed hash: the log keeps the statement for ever, and the key
 * is thrown away. A long value is its hash, which anybody can compare with that of the event.
 */
const statedForm = (signing: Signing, salt: string): JsonObject => {
  const personal = personalIn(signing);
  const form = formOf(signing);
  const charactersMax =
    canonical(form).length > FORM_CHARACTERS_MAX ? HASH_CHARACTERS : STATED_CHARACTERS_MAX;
  return {
    ...Object.fromEntries(
      Object.entries(form).map(([name, value]) => [
        name,
        personal === 'all' || personal.has(name)
          ? { hmac: keyed(salt, value) }
          : stated(value, charactersMax),
      ]),
    ),
    ...(signing.approves !== undefined && { approves: approvedForm(signing.approves, salt) }),
  };
};

/** The form of the approved command may have personal values. */
const approvedForm = ({ form = null, ...of }: JsonObject, salt: string): Json => ({
  ...of,
  form: { hmac: keyed(salt, form) },
});

/** A form that is longer states each of its values by a hash, unless it is shorter than one. */
const FORM_CHARACTERS_MAX = 20_000;
const HASH_CHARACTERS = 64;

const stated = (value: Json, charactersMax: number): Json => {
  const text = canonical(value);
  return text.length <= charactersMax ? value : { sha256: createHash('sha256').update(text).digest('hex') };
};

/** A patch may contain any field. */
const personalIn = ({
  kind,
  command: { list, form, itemForm },
  given,
}: Signing): 'all' | ReadonlySet<string> => {
  const defs = list === undefined ? kind.fields : list.fields;
  const names = (list === undefined ? form : itemForm).filter((name) => defs[name]?.personal !== undefined);
  if (names.length > 0 && Object.hasOwn(given, 'patch')) return 'all';
  return new Set(names.map((name) => wire(name, defs[name])));
};

const keyed = (salt: string, value: Json): string =>
  createHmac('sha256', Buffer.from(salt, 'base64url')).update(canonical(value)).digest('hex');

/** RFC 8785. */
const canonical = (value: unknown): string => canonicalize(value) ?? '';
