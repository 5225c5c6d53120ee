import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';

/**
 * One text for each event, whatever engine stored it: RFC 8785 over the decided content, with personal fields
 * still sealed. Positions and the server’s time are left out, because they differ in a copy of the log.
 */
export const canonicalForm = ({ stream, version, id, type, metadata, data }: Canonical): string => {
  const event = { stream, version, id, type, metadata, data };
  try {
    const form = canonicalize(event);
    if (form !== undefined) return form;
  } catch {
    // Half of a surrogate pair, or an infinite number, which no codec writes: damaged events are part of the
    // proof like any other.
  }
  return JSON.stringify(event, withSortedNames);
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

export const hashOfCanonical = (form: string): Buffer => createHash('sha256').update(form).digest();
