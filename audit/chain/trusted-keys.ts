import { type AuditKey, endorsementText, isSignedBy, thumbprint } from '#shared/audit/signing-keys.ts';
import type { Findings, HeadSource } from './findings.ts';

/** Keys by where they are kept, in the order in which those places are believed. */
type KeyPlaces = { readonly given: readonly AuditKey[]; readonly file: readonly AuditKey[]; readonly database: readonly AuditKey[] };

/**
 * The keys whose signatures count: the first one of the most trusted place that has any, and each that one of these has endorsed.
 * Heads that another has signed are told as signed by nobody known.
 */
export const trustedKeys = ({ given, file, database }: KeyPlaces, findings: Findings): ReadonlyMap<string, AuditKey> => {
  const trusted = new Map<string, AuditKey>();
  const places: readonly (readonly [HeadSource, readonly AuditKey[]])[] = [
    ['given', given],
    ['file', file],
    ['database', database],
  ];
  for (const [source, keys] of places) {
    for (const key of keys) {
      if (trusted.has(key.id) && thumbprint(key.publicKey) === key.id) continue;
      if (isRoot(key, trusted) || isEndorsed(key, trusted)) trusted.set(key.id, key);
      else findings.add({ kind: 'key_not_endorsed', key: key.id, source });
    }
  }
  return trusted;
};

/** Nothing can be said against the very first, except by whoever has kept it. An auditor may begin in the middle. */
const isRoot = (key: AuditKey, trusted: ReadonlyMap<string, AuditKey>): boolean =>
  trusted.size === 0 && thumbprint(key.publicKey) === key.id;

const isEndorsed = (key: AuditKey, trusted: ReadonlyMap<string, AuditKey>): boolean => {
  const before = trusted.get(key.endorsedBy ?? '');
  if (!before || key.endorsement === null || thumbprint(key.publicKey) !== key.id) return false;
  return isSignedBy(before.publicKey, endorsementText(key), key.endorsement);
};
