import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';

/**
 * One text for each event, whatever engine stored it: RFC 8785 over what was decided, with personal fields
 * still sealed. Positions and the server's time are left out, because a copy of the log into another engine
 * has others.
 */
export const canonicalForm = ({ stream, version, id, type, metadata, data }: Canonical): string => {
  const event = { stream, version, id, type, metadata, data };
  try {
    const form = canonicalize(event);
    if (form !== undefined) return form;
  } catch {
    // Half of a surrogate pair, or a number beyond all numbers, which no codec writes: damage is to be proven
    // like anything else.
  }
  return JSON.stringify(event, withSortedNames);
};

/**
 * As RFC 8785 would have it, except that halves of surrogate pairs are escaped, and numbers beyond all
 * numbers are null.
 */
const withSortedNames = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value;

export type Canonical = Omit<RecordedEvent, 'position' | 'recordedAt'>;

/** The SHA-256 of the canonical form: what the hash chain is made of. */
export const hashOf = (event: Canonical): Buffer =>
  createHash('sha256').update(canonicalForm(event)).digest();
