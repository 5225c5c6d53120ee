import { createHash, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type AuthByHttp, CALLBACK, ISSUER, type TestPerson } from './auth-database.ts';
import { continueSignIn, openBrowser, signInAndAllow } from './browser.ts';

export const newVerifier = (): { verifier: string; challenge: string } => {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
};

export const authorizeUrl = (parameters: Readonly<Record<string, string>>): string =>
  `${ISSUER}/authorize?${new URLSearchParams(parameters)}`;

/** A code that a person has just given to a client, with its verifier. */
export const obtainCode = async (
  instance: AuthByHttp,
  person: TestPerson,
  parameters: { readonly client_id: string } & Readonly<Record<string, string>>,
): Promise<{ code: string; verifier: string }> => {
  const { verifier, challenge } = newVerifier();
  const url = authorizeUrl({ redirect_uri: CALLBACK, code_challenge: challenge, ...parameters });
  const { url: end } = await signInAndAllow(openBrowser(instance), url, person);
  const code = end.searchParams.get('code');
  if (code === null) throw new Error(`there is no code: ${end.href}`);
  return { code, verifier };
};

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
};

/** Posts a form like a client. */
export const post = async (
  instance: AuthByHttp,
  path: string,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const response = await instance.fetch(`${ISSUER}${path}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text.startsWith('{') ? JSON.parse(text) : { text },
  };
};

/** Signs a person in at a web client, and exchanges the code for tokens. */
export const tokensByCode = async (
  instance: AuthByHttp,
  person: TestPerson,
  client: { readonly client_id: string; readonly scope: string; readonly redirect_uri?: string },
): Promise<Answer['body']> => {
  const { code, verifier } = await obtainCode(instance, person, client);
  const form = {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    client_id: client.client_id,
    redirect_uri: client.redirect_uri ?? CALLBACK,
  };
  return (await post(instance, '/token', form)).body;
};

export const basic = ({
  clientId,
  secret,
}: {
  clientId: string;
  secret: string;
}): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(secret)}`).toString('base64')}`,
});

/** A key of a client, and proofs of its possession (RFC 9449). */
export const newDpopKey = async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const jkt = await calculateJwkThumbprint(jwk);
  const proof = (
    claims: Readonly<Record<string, unknown>> = {},
    header: Readonly<Record<string, unknown>> = {},
  ): Promise<string> =>
    new SignJWT({
      jti: randomBytes(16).toString('hex'),
      htm: 'POST',
      htu: `${ISSUER}/token`,
      iat: Math.floor(Date.now() / 1_000),
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
      .sign(privateKey);
  return { jkt, proof };
};

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

type DeviceCodes = { readonly device_code: string; readonly user_code: string };

export const startDevice = async (instance: AuthByHttp, clientId: string): Promise<DeviceCodes> => {
  const { status, body } = await post(instance, '/device_authorization', { client_id: clientId });
  if (status !== 200) throw new Error(`no device code: ${JSON.stringify(body)}`);
  return body as DeviceCodes;
};

/** Enters a user code like a person; ends with the resulting page. */
export const enterUserCode = async (
  instance: AuthByHttp,
  person: TestPerson,
  userCode: string,
  decision: 'confirm' | 'abort' = 'confirm',
) => {
  const browser = openBrowser(instance);
  const confirm = await browser.submit(await browser.visit(`${ISSUER}/device`), { user_code: userCode });
  const page = await browser.submit(confirm, { [decision]: 'yes' });
  return continueSignIn(browser, page, person);
};

/** Sends the same request to each instance in turn, all in parallel. */
export const allAtOnce = <Instance extends AuthByHttp, Result>(
  instances: readonly Instance[],
  count: number,
  send: (instance: Instance) => Promise<Result>,
): Promise<Result[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) => send(instances[index % instances.length] as Instance)),
  );
