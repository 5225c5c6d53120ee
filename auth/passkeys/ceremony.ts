import { isIP } from 'node:net';
import type { PublicKeyCredentialCreationOptionsJSON, WebAuthnCredential } from '@simplewebauthn/server';
import * as z from 'zod';

/** The relying party: passkeys work only under this name and on pages of this origin. */
export type RelyingParty = { readonly id: string; readonly origin: string };

export const relyingPartyOf = (issuerUrl: string): RelyingParty => {
  const { hostname, origin } = new URL(issuerUrl);
  return { id: hostname, origin };
};

/** Browsers make passkeys for host names only, not for IP addresses. */
export const isOffered = (issuerUrl: string): boolean =>
  isIP(new URL(issuerUrl).hostname.replaceAll(/[[\]]/g, '')) === 0;

const TIMEOUT_MS = 5 * 60_000;
const ALGORITHMS = { ed25519: -8, es256: -7, rs256: -257 } as const;
/** Just below the limit of a form. */
export const CREDENTIAL_MAX = 6_000;

/** Loaded on demand: hundreds of modules that a start does not need. */
const load = () => import('@simplewebauthn/server');

const bytes = z.base64url().max(CREDENTIAL_MAX);
const credential = { id: bytes, rawId: bytes, type: z.literal('public-key') };

/** The JSON that the page's script sends in a field of the form. */
const Registration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: z.array(z.string().max(20)).max(10).default([]),
  }),
});
const Authentication = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: bytes,
  }),
});
type Authentication = z.infer<typeof Authentication>;

type Owner = { readonly handle: Buffer; readonly email: string; readonly name: string };

/** The options for a new passkey. An authenticator that holds one of `known` refuses. */
export const registrationOptions = async (
  rp: RelyingParty,
  { owner, challenge, known }: { owner: Owner; challenge: string; known: readonly WebAuthnCredential[] },
): Promise<PublicKeyCredentialCreationOptionsJSON> => {
  const { generateRegistrationOptions } = await load();
  return generateRegistrationOptions({
    rpName: 'Annals',
    rpID: rp.id,
    userID: new Uint8Array(owner.handle),
    userName: owner.email,
    userDisplayName: owner.name,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: known.map(({ id, transports }) => ({ id, ...(transports && { transports }) })),
    // The passkey is found without a user name, and verifies the person, not only the device.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: Object.values(ALGORITHMS),
  });
};

/** The same for everybody, so that it does not reveal who has a passkey. */
export const authenticationOptions = (rp: RelyingParty, challenge: string) =>
  ({ challenge, rpId: rp.id, timeout: TIMEOUT_MS, userVerification: 'required' }) as const;

type Registered = { readonly credential: WebAuthnCredential; readonly isSynced: boolean };

/** Undefined unless it is a new passkey, made for this challenge on this origin. */
export const verifyRegistration = async (
  rp: RelyingParty,
  text: string,
  challenge: string,
): Promise<Registered | undefined> => {
  const parsed = Registration.safeParse(jsonIn(text));
  if (!parsed.success) return undefined;
  const { verifyRegistrationResponse } = await load();
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { ...parsed.data, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: rp.origin,
    expectedRPID: rp.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: Object.values(ALGORITHMS),
  }).catch(unverified);
  if (!verified || registrationInfo === undefined) return undefined;
  const { transports } = parsed.data.response;
  return {
    credential: { ...registrationInfo.credential, transports },
    isSynced: registrationInfo.credentialDeviceType === 'multiDevice',
  };
};

export const parseAuthentication = (text: string): Authentication | undefined =>
  Authentication.safeParse(jsonIn(text)).data;

type Expected = { readonly challenge: string; readonly credential: Omit<WebAuthnCredential, 'counter'> };

/**
 * Returns the counter; undefined unless it is a signature of this passkey over this challenge, on this
 * origin, with user verification.
 */
export const verifyAuthentication = async (
  rp: RelyingParty,
  response: Authentication,
  { challenge, credential }: Expected,
): Promise<number | undefined> => {
  const { verifyAuthenticationResponse } = await load();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: rp.origin,
    expectedRPID: rp.id,
    // The database compares the counter, so that of two parallel uses only one counts.
    credential: { ...credential, counter: 0 },
    requireUserVerification: true,
  }).catch(unverified);
  return verified ? authenticationInfo?.newCounter : undefined;
};

/** The library throws for everything that does not verify, and a browser can send anything. */
const unverified = (): {
  readonly verified: false;
  readonly registrationInfo?: never;
  readonly authenticationInfo?: never;
} => ({
  verified: false,
});

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
