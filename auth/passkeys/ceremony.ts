import { isIP } from 'node:net';
import type { PublicKeyCredentialCreationOptionsJSON, WebAuthnCredential } from '@simplewebauthn/server';
import * as z from 'zod';

/** Whom passkeys are made for: they are good under this name and for pages of this origin only. */
export type RelyingParty = { readonly id: string; readonly origin: string };

export const relyingPartyOf = (issuerUrl: string): RelyingParty => {
  const { hostname, origin } = new URL(issuerUrl);
  return { id: hostname, origin };
};

/** A browser makes passkeys for names only, and for no address of numbers. */
export const isOffered = (issuerUrl: string): boolean =>
  isIP(new URL(issuerUrl).hostname.replaceAll(/[[\]]/g, '')) === 0;

const TIMEOUT_MS = 5 * 60_000;
const ALGORITHMS = { ed25519: -8, es256: -7, rs256: -257 } as const;
/** As long as a form may be, nearly. */
export const CREDENTIAL_MAX = 6_000;

/** Hundreds of modules that a start has no use for. */
const load = () => import('@simplewebauthn/server');

const bytes = z.base64url().max(CREDENTIAL_MAX);
const credential = { id: bytes, rawId: bytes, type: z.literal('public-key') };

/** What the script of the page sends: JSON in a field of the form. */
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
export type Authentication = z.infer<typeof Authentication>;

type Owner = { readonly handle: Buffer; readonly email: string; readonly name: string };

/** What a browser is asked to make; an authenticator that has one of `known` refuses. */
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
    // It is found without a name, and it is the person and not only the device that shows who they are.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: Object.values(ALGORITHMS),
  });
};

/** The same for everybody: it does not tell who has a passkey. */
export const authenticationOptions = (rp: RelyingParty, challenge: string) =>
  ({ challenge, rpId: rp.id, timeout: TIMEOUT_MS, userVerification: 'required' }) as const;

export type Registered = { readonly credential: WebAuthnCredential; readonly isSynced: boolean };

/** Undefined for whatever is not a new passkey made for this challenge, here. */
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
 * Answers the counter; undefined for whatever is not a signature of this passkey over this challenge, here,
 * by its owner.
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
    // The counter is compared where it is kept, so that of two at once one counts.
    credential: { ...credential, counter: 0 },
    requireUserVerification: true,
  }).catch(unverified);
  return verified ? authenticationInfo?.newCounter : undefined;
};

/** The library throws for all that does not verify, and a browser can send anything. */
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
