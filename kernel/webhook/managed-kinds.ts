import { serves } from '../registry/parts.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { webhookOf } from './webhook.ts';

/** The kinds that the kernel itself manages for an installation; those of an absent part are not among them. */
export const managedKindsOf = (domain: Domain): readonly Kind[] =>
  serves(domain, 'webhooks') ? [webhookOf(domain)] : [];

/** The kinds of which an installation has rows, rights and histories. */
export const servedKindsOf = (domain: Domain): readonly Kind[] => [
  ...Object.values(domain.kinds),
  ...managedKindsOf(domain),
];

/** The kinds of parts that an installation does not serve. */
export const absentKindsOf = (domain: Domain): readonly Kind[] => {
  const served = servedKindsOf(domain);
  return recordedKindsOf(domain).filter((kind) => !served.includes(kind));
};

/**
 * The kinds whose events a log may have, also from a time when their part was served: they remain readable, and
 * end with their parents.
 */
export const recordedKindsOf = (domain: Domain): readonly Kind[] => [
  ...Object.values(domain.kinds),
  webhookOf(domain),
];
