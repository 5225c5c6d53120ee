import type { Domain } from '#kernel/registry/registry.ts';
import { SCOPES_MAX } from '#shared/events/fields.ts';
import { policyOf } from '#shared/policy.ts';
import { StartRefused } from './start-refused.ts';

/** The request line, other headers, and a proof of possession. */
const OTHER_BYTES = 2_048;
/** The other claims and the signature of an access token. */
const CLAIMS_BYTES = 900;
/** A token is sent in base64. */
const BASE64 = 4 / 3;

/** A request with a token of all scopes must fit; otherwise the console would be dead without a reason. */
export const demandScopesFit = (domain: Domain, headerBytesMax: number): void => {
  const { scopes } = policyOf(domain);
  const remedy = 'or let several aggregates share a scope (`scope` in their rights)';
  if (scopes.length > SCOPES_MAX)
    throw new StartRefused(
      `${domain.name} has ${scopes.length} scopes, but a token can have at most ${SCOPES_MAX}: use fewer aggregates, ${remedy}.`,
    );
  const needed = OTHER_BYTES + Math.ceil((scopes.join(' ').length + CLAIMS_BYTES) * BASE64);
  if (needed <= headerBytesMax) return;
  throw new StartRefused(
    `HEADER_BYTES_MAX is ${headerBytesMax}, but a request with a token of all ${scopes.length} scopes of ${domain.name} may have ${needed} bytes in its headers: raise it, ${remedy}.`,
  );
};
