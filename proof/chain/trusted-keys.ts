import { type AuditKey, endorsementText, isSignedBy, thumbprint } from '../stored/signing-keys.ts';
import type { Findings, HeadSource } from './findings.ts';

/** Keys by source, in order of trust. */
type KeyPlaces = {
  readonly given: readonly AuditKey[];
  readonly file: readonly AuditKey[];
  readonly database: readonly AuditKey[];
};

/**
 * The trusted keys in the order in which they signed: the first key of the most trusted source that has any,
 * its predecessors, because an auditor may start in the middle, and every key endorsed by its predecessor. A
 * key endorses one successor, and signs nothing afterwards. Heads signed by other keys are reported as signed
 * by an unknown key.
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
      // Only an auditor who has kept the very first key can contradict it.
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
