import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** The input of a page's script: the options, and the ticket beside them. */
export type Asked = { readonly challenge: string; readonly user?: { readonly id: string } };

/** Deviations from a correct answer. */
type Twist = {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  /** Bits of the authenticator data: present 1, verified 4. */
  readonly flags?: number;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly key?: KeyObject;
};

/**
 * An authenticator in software (WebAuthn, level 3), with one passkey. Its options may ask for what no real
 * one does.
 */
export type Authenticator = {
  readonly credentialId: string;
  create(asked: Asked, twist?: Twist): string;
  get(asked: Asked, twist?: Twist): string;
};

const PRESENT_AND_VERIFIED = 0x05;
const HAS_CREDENTIAL = 0x40;

export const openAuthenticator = (
  origin: string,
  { counts = true }: { counts?: boolean } = {},
): Authenticator => {
  const rpId = new URL(origin).hostname;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  let counter = 0;
  let handle = '';
  const clientData = (type: string, asked: Asked, twist: Twist) =>
    Buffer.from(
      JSON.stringify({
        type: twist.type ?? type,
        challenge: twist.challenge ?? asked.challenge,
        origin: twist.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const authData = (flags: number, twist: Twist, rest: Buffer = Buffer.alloc(0)) => {
    if (counts) counter += 1;
    const head = Buffer.alloc(5);
    head.writeUInt8(flags);
    head.writeUInt32BE(twist.counter ?? counter, 1);
    return Buffer.concat([sha256(twist.rpId ?? rpId), head, rest]);
  };
  const answer = (response: Readonly<Record<string, Buffer | string>>) => {
    const encoded = Object.entries(response).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.toString('base64url'),
    ]);
    const credentialId = id.toString('base64url');
    return JSON.stringify({
      id: credentialId,
      rawId: credentialId,
      type: 'public-key',
      response: Object.fromEntries(encoded),
    });
  };
  return {
    credentialId: id.toString('base64url'),
    create(asked, twist = {}) {
      handle = asked.user?.id ?? '';
      const length = Buffer.from([0, id.length]);
      const data = authData(
        (twist.flags ?? PRESENT_AND_VERIFIED) | HAS_CREDENTIAL,
        twist,
        Buffer.concat([Buffer.alloc(16), length, id, coseOf(publicKey)]),
      );
      return answer({
        clientDataJSON: clientData('webauthn.create', asked, twist),
        attestationObject: attestationOf(data),
      });
    },
    get(asked, twist = {}) {
      const client = clientData('webauthn.get', asked, twist);
      const data = authData(twist.flags ?? PRESENT_AND_VERIFIED, twist);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), twist.key ?? privateKey);
      return answer({
        clientDataJSON: client,
        authenticatorData: data,
        signature,
        userHandle: twist.userHandle ?? handle,
      });
    },
  };
};

const sha256 = (value: string | Buffer): Buffer => createHash('sha256').update(value).digest();

/** CBOR by hand: `{1: 2, 3: -7, -1: 1, -2: x, -3: y}`. */
const coseOf = (key: KeyObject): Buffer => {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const point = (text: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, 'base64url')]);
  return Buffer.concat([
    Buffer.from('a5010203262001', 'hex'),
    Buffer.from([0x21]),
    point(x),
    Buffer.from([0x22]),
    point(y),
  ]);
};

/** `{fmt: "none", attStmt: {}, authData}`. */
const attestationOf = (data: Buffer): Buffer => {
  const text = (value: string) => Buffer.concat([Buffer.from([0x60 | value.length]), Buffer.from(value)]);
  const length = Buffer.from([0x59, data.length >> 8, data.length & 0xff]);
  return Buffer.concat([
    Buffer.from([0xa3]),
    text('fmt'),
    text('none'),
    text('attStmt'),
    Buffer.from([0xa0]),
    text('authData'),
    length,
    data,
  ]);
};

/** The form for passkeys in a page. */
export const passkeyFormIn = (
  body: string,
): { readonly action: string; readonly options: Asked; readonly fields: Record<string, string> } => {
  const form = /<form[^>]* data-passkey="[\s\S]*?<\/form>/.exec(body)?.[0] ?? '';
  const attribute = (name: string) => plain(new RegExp(` ${name}="([^"]*)"`).exec(form)?.[1] ?? '');
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, value],
  );
  return {
    action: attribute('action'),
    options: JSON.parse(attribute('data-options') || '{}'),
    fields: Object.fromEntries(fields),
  };
};

const plain = (markup: string): string =>
  markup.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
