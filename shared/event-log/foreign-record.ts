import { hash } from 'node:crypto';
import type { Json, JsonObject } from '#kernel/base/json.ts';

/** The content of a record, as its engine returns it. */
type StoredContent = { readonly data: unknown; readonly metadata: unknown };

/** The content of an event. */
type Content = { readonly data: JsonObject; readonly metadata: JsonObject };

/**
 * The content of an event. A record that Annals has not written may have any: it becomes an event that no
 * codec accepts, so that its stream is parked, and whatever follows the log goes on.
 */
export const contentOf = ({ data, metadata }: StoredContent): Content =>
  isObject(data) && isObject(metadata) ? { data, metadata } : foreignContent({ data, metadata });

/**
 * Stands for content that is no JSON object: its form, length and hash, which the hash chain then covers. The
 * content itself may be personal data of other people, and stays where it is.
 */
export const foreignContent = ({ data, metadata }: StoredContent): Content => {
  const found = { [FOREIGN]: { data: described(data), metadata: described(metadata) } };
  made.add(found);
  return { data: {}, metadata: found };
};

const FOREIGN = 'foreign';

/** The metadata that stand for content, which a record cannot claim to have. */
const made = new WeakSet<JsonObject>();

/** The type of a record with the form of an event that no command wrote: nothing takes it for one by its type. */
export const NOT_AUTHENTIC = 'event.not_authentic';

/** Stands for an event without the right MAC, whose data and metadata are JSON text: its type, and what is above. */
export const refusedContent = ({
  type,
  data,
  metadata,
}: {
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}): Refused => ({
  type: NOT_AUTHENTIC,
  data: {},
  metadata: {
    [FOREIGN]: {
      type,
      data: { form: 'a JSON object', ...measured(Buffer.from(data)) },
      metadata: { form: 'a JSON object', ...measured(Buffer.from(metadata)) },
    },
  },
});

/** The type of a record that needs a MAC, has none, and has not even the form of an event. */
const FOREIGN_RECORD = 'event.foreign_record';

type Refused = Content & { readonly type: string };

/** Stands for such a record: some readers go by the type alone, and must not take it for an event. */
export const foreignRecord = (
  { type, metadata }: Refused,
  text: { readonly data: string; readonly metadata: string },
): Refused => {
  const content = made.has(metadata)
    ? (metadata[FOREIGN] as JsonObject)
    : {
        data: { form: 'a JSON object', ...measured(Buffer.from(text.data)) },
        metadata: {
          form: 'a JSON object without the fields of all events',
          ...measured(Buffer.from(text.metadata)),
        },
      };
  return { type: FOREIGN_RECORD, data: {}, metadata: { [FOREIGN]: { type, ...content } } };
};

/** The type that such a record claims; undefined for any other event. */
export const foreignType = ({ type, metadata }: { readonly type: string; readonly metadata: JsonObject }) => {
  const found = metadata[FOREIGN];
  return type === FOREIGN_RECORD && isObject(found) ? String(found.type) : undefined;
};

/** The type that a record without the right MAC claims; undefined for any other event. */
export const refusedType = ({ type, metadata }: { readonly type: string; readonly metadata: JsonObject }) => {
  const found = metadata[FOREIGN];
  return type === NOT_AUTHENTIC && isObject(found) ? String(found.type) : undefined;
};

/** The reason why a record is foreign, in one clause; undefined if its content was JSON objects. */
export const foreignForm = (metadata: JsonObject): string | undefined => {
  const found = metadata[FOREIGN];
  if (!isObject(found)) return undefined;
  const formOf = (part: 'data' | 'metadata'): string => {
    const { form, bytes } = (isObject(found[part]) ? found[part] : {}) as Partial<Described>;
    return form === 'missing' ? `no ${part}` : `${part} in the form of ${form} (${bytes} bytes)`;
  };
  return `it has ${formOf('data')} and ${formOf('metadata')}, not JSON objects of Annals`;
};

type Described = { readonly form: string; readonly bytes: number; readonly sha256: string };

const described = (value: unknown): Described => {
  const bytes = value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value) ?? '');
  return { form: formOf(value), ...measured(bytes) };
};

const measured = (bytes: Uint8Array): Omit<Described, 'form'> => ({
  bytes: bytes.length,
  sha256: hash('sha256', bytes, 'hex'),
});

const formOf = (value: unknown): string => {
  if (value === undefined) return 'missing';
  if (value instanceof Uint8Array) return 'bytes';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a JSON object' : `a ${typeof value}`;
};

const isObject = (value: unknown): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

/** Far longer than any name of ours, and short enough for every index of PostgreSQL. */
const NAME_CHARACTERS_MAX = 500;

/** A name of a stream or type as every table can store it; a longer one ends with its hash. */
export const storableName = (name: string): string => {
  const whole = name.includes('\u0000') ? name.replaceAll('\u0000', '\ufffd') : name;
  if (whole.length <= NAME_CHARACTERS_MAX) return whole;
  return `${whole.slice(0, NAME_CHARACTERS_MAX)}…${hash('sha256', whole, 'hex')}`.toWellFormed();
};
