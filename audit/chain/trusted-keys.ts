import { type AuditKey, endorsementText, isSignedBy, thumbprint } from '#shared/audit/signing-keys.ts';
import type { Findings, HeadSource } from './findings.ts';

/** Keys by where they are kept, in the order in which those places are believed. */
type KeyPlaces = {
  readonly given: readonly AuditKey[];
  readonly file: readonly AuditKey[];
  readonly database: readonly AuditKey[];
};

/**
 * The keys whose signatures count, in the order in which they signed: the first one of the most trusted place
 * that has any, those before it, as an auditor may begin in the middle, and each that the one before it has
 * endorsed. A key endorses one, and signs nothing after. Heads that another has signed are told as signed by
 * nobody known.
 */
export const trustedKeys = (
  { given, file, database }: KeyPlaces,
  findings: Findings,
): ReadonlyMap<string, AuditKey> => {
  const trusted: AuditKey[] = [];
  const places: readonly (readonly [HeadSource, readonly AuditKey[]])[] = [
    ['given', given],
    ['file', file],
    ['database', database],
  ];
  for (const [source, keys] of places) {
    const ours = keys.filter(isNamedRightly);
    for (const key of ours.toReversed())
      if (trusted[0] && isEndorsedBy(key, trusted[0])) trusted.unshift(key);
    for (const key of ours) {
      const last = trusted.at(-1);
      // Nothing can be said against the very first, except by whoever has kept it.
      if (!last || isEndorsedBy(last, key)) trusted.push(key);
    }
    for (const key of keys)
      if (!ours.includes(key) || !trusted.some(({ id }) => id === key.id))
        findings.add({ kind: 'key_not_endorsed', key: key.id, source });
  }
  return new Map(trusted.map((key) => [key.id, key]));
};

const isNamedRightly = ({ id, publicKey }: AuditKey): boolean => thumbprint(publicKey) === id;

const isEndorsedBy = (before: AuditKey, key: AuditKey): boolean =>
  key.endorsedBy === before.id &&
  key.endorsement !== null &&
  isSignedBy(before.publicKey, endorsementText(key), key.endorsement);
