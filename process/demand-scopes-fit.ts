import { SCOPES_MAX } from '#kernel/base/events/fields.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import { ATTRIBUTE_LENGTH_MAX } from '#kernel/conditions/comparison.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { policyOf } from '#shared/policy.ts';

/** The request line, other headers, and a proof of possession. */
const OTHER_BYTES = 2_048;
/** The other claims and the signature of an access token, or of the assertion of a caller. */
const CLAIMS_BYTES = 900;
/** A token is sent in base64. */
const BASE64 = 4 / 3;
/** An escaped certificate with a key of RSA of 4096 bits, and the headers beside it. */
const CERTIFICATE_BYTES = 4_096;

type Limits = {
  readonly headerBytesMax: number;
  /** With it, an ingress sends the certificates of clients in a header. */
  readonly ingressSecret?: string | undefined;
};

/**
 * A request with a token of all scopes must fit, and the assertion of its caller that goes to the command
 * role; otherwise the console would be dead without a reason. Everything whose size the domain decides is
 * counted here.
 */
export const demandScopesFit = (domain: Domain, { headerBytesMax, ingressSecret }: Limits): void => {
  const { scopes } = policyOf(domain);
  const remedy = 'or let several aggregates share a scope (`scope` in their rights)';
  if (scopes.length > SCOPES_MAX)
    throw new StartRefused(
      `${domain.name} has ${scopes.length} scopes, but a token can have at most ${SCOPES_MAX}: use fewer aggregates, ${remedy}.`,
    );
  const attributes = attributesOf(domain).map(({ name, def }) => `"${name}":,`.length + bytesOf(def));
  const claims = attributes.reduce((sum, bytes) => sum + bytes, CLAIMS_BYTES);
  const certificate = ingressSecret === undefined ? 0 : CERTIFICATE_BYTES;
  const token = OTHER_BYTES + certificate + Math.ceil((scopes.join(' ').length + claims) * BASE64);
  const assertion = OTHER_BYTES + Math.ceil((JSON.stringify(scopes).length + claims) * BASE64);
  const needed = Math.max(token, assertion);
  if (needed <= headerBytesMax) return;
  const what = [
    `all ${scopes.length} scopes`,
    ...(attributes.length > 0 ? [`${attributes.length} attributes of its user`] : []),
    ...(certificate > 0 ? ['a client certificate'] : []),
  ];
  const last = what.at(-1);
  const listed = what.length > 1 ? `${what.slice(0, -1).join(', ')} and ${last}` : last;
  throw new StartRefused(
    `HEADER_BYTES_MAX is ${headerBytesMax}, but a request with a token of ${listed} of ${domain.name} may have ${needed} bytes in its headers: raise it, ${remedy}.`,
  );
};

const NUMBER_BYTES = 20;
/** Of one UTF-16 unit in UTF-8. */
const UNIT_BYTES = 3;
const QUOTES = 2;

/** The longest JSON of an attribute. */
const bytesOf = ({ kind, values, recorded }: FieldDef): number => {
  if (values !== undefined) return Math.max(...values.map((value) => value.length)) + QUOTES;
  if (kind !== 'text') return NUMBER_BYTES;
  let length = ATTRIBUTE_LENGTH_MAX;
  while (length > 0 && !recorded.safeParse('a'.repeat(length)).success) length -= 1;
  return (length === 0 ? ATTRIBUTE_LENGTH_MAX : length) * UNIT_BYTES + QUOTES;
};
