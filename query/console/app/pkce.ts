const VERIFIER_BYTES = 32;

export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

export const randomText = (): string => base64url(crypto.getRandomValues(new Uint8Array(VERIFIER_BYTES)));

/** RFC 7636, section 4.2. */
export const challengeOf = async (verifier: string): Promise<string> =>
  base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
