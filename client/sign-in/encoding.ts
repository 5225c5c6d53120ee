/** Base64url (RFC 4648, section 5). */
export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

export const textBytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

export const sha256 = async (text: string): Promise<string> =>
  base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', textBytes(text))));

/** The claims of a JWT, unverified; empty if it is not a JWT. */
export const claimsIn = (jwt: string): Readonly<Record<string, unknown>> => {
  try {
    const [, claims = ''] = jwt.split('.');
    return Object(JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))));
  } catch {
    return {};
  }
};
