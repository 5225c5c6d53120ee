import canonicalize from 'canonicalize';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { hashOfCanonical } from './chain.ts';

/**
 * One text for each event, whatever engine stored it: RFC 8785 over the decided content, with personal fields
 * still sealed. Positions and the server’s time are left out, because they differ in a copy of the log.
 */
export const canonicalForm = (recorded: Canonical): string => {
  const { stream, version, id } = recorded;
  const { type, metadata, data } = recorded.chained ?? recorded;
  const event = { data, id, metadata, stream, type, version };
  const plain = plainForm(event, DEPTH_MAX);
  if (plain !== undefined) return plain;
  try {
    const form = canonicalize(event);
    if (form !== undefined) return form;
  } catch {
    // Half of a surrogate pair, or an infinite number, which no codec writes: damaged events are part of the
    // proof like any other.
  }
  return JSON.stringify(event, withSortedNames);
};

/** Deeper values take the library, which does not recurse. */
const DEPTH_MAX = 32;

/** Text that JSON writes as it is. */
const AS_IT_IS = /^[ !#-[\]-~]*$/;

/**
 * The same text as the library's, in a third of its time: every event is hashed. Undefined if something is
 * unusual, which the library decides then. A test compares both on any JSON.
 */
const plainForm = (value: unknown, depth: number): string | undefined => {
  if (typeof value === 'string') return plainText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || depth === 0) return undefined;
  if (Array.isArray(value)) {
    const items = value.map((item) => plainForm(item, depth - 1));
    return items.includes(undefined) ? undefined : `[${items.join()}]`;
  }
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === 'function') return undefined;
  let members = '';
  for (const name of sort(Object.keys(value))) {
    const key = plainText(name);
    const member = plainForm((value as Readonly<Record<string, unknown>>)[name], depth - 1);
    if (key === undefined || member === undefined) return undefined;
    members += `${members === '' ? '' : ','}${key}:${member}`;
  }
  return `{${members}}`;
};

const FEW = 32;

/** By UTF-16 code units, as the RFC demands. Few names are sorted in place: `sort` would copy them. */
const sort = (names: string[]): readonly string[] => {
  if (names.length > FEW) return names.sort();
  for (let at = 1; at < names.length; at += 1) {
    const name = names[at] as string;
    let to = at;
    for (; to > 0 && (names[to - 1] as string) > name; to -= 1) names[to] = names[to - 1] as string;
    names[to] = name;
  }
  return names;
};

const plainText = (text: string): string | undefined => {
  if (AS_IT_IS.test(text)) return `"${text}"`;
  return text.isWellFormed() ? JSON.stringify(text) : undefined;
};

/**
 * As RFC 8785 would have it, except that halves of surrogate pairs are escaped, and infinite numbers are
 * null.
 */
const withSortedNames = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value;

export type Canonical = Omit<RecordedEvent, 'position' | 'recordedAt'>;

/** The SHA-256 of the canonical form, which the hash chain consists of. */
export const hashOf = (event: Canonical): Buffer => hashOfCanonical(canonicalForm(event));
