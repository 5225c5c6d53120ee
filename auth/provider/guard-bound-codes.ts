import { calculateJwkThumbprint, decodeProtectedHeader, type JWK } from 'jose';
import Provider, { errors } from 'oidc-provider';

type Code = { readonly dpopJkt?: string | undefined };
type Consume = (this: Code) => Promise<void>;

/**
 * A code that was bound to a key beforehand (RFC 9449, section 10) is of use with that key only. oidc-provider says so after it has
 * spent the code, so that whoever has a code and not its key could take it from its owner.
 */
export const guardBoundCodes = (provider: Provider): void => {
  const codes = provider.AuthorizationCode.prototype as unknown as { consume: Consume };
  const { consume } = codes;
  codes.consume = async function () {
    if (this.dpopJkt !== undefined && (await thumbprintOfProof()) !== this.dpopJkt) {
      throw new errors.InvalidGrant('the code is bound to another key');
    }
    return consume.call(this);
  };
};

/** The key of the proof, which has just been verified. */
const thumbprintOfProof = async (): Promise<string | undefined> => {
  const proof = Provider.ctx?.get('DPoP') ?? '';
  return proof === '' ? undefined : calculateJwkThumbprint(decodeProtectedHeader(proof).jwk as JWK);
};
