import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';

/**
 * One text for each event, whatever engine stored it: RFC 8785 over what was decided, with personal fields still sealed.
 * Positions and the server's time are left out, because a copy of the log into another engine has others.
 */
export const canonicalForm = ({ stream, version, id, type, metadata, data }: Canonical): string => {
  const form = canonicalize({ stream, version, id, type, metadata, data });
  if (form === undefined) throw new TypeError('An object has a canonical form');
  return form;
};

export type Canonical = Omit<RecordedEvent, 'position' | 'recordedAt'>;

/** The SHA-256 of the canonical form: what the hash chain is made of. */
export const hashOf = (event: Canonical): Buffer => createHash('sha256').update(canonicalForm(event)).digest();
