import { KeyObject } from 'node:crypto';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { SenderInfo } from '#kernel/registry/sender-info.ts';
import { verifyGithub } from './signatures/github.ts';
import { verifyHmac } from './signatures/hmac.ts';
import { standardKey, verifyStandard } from './signatures/standard-webhooks.ts';
import { verifyStripe } from './signatures/stripe.ts';
import type { Verify } from './signatures/verifier.ts';

type ReadSetting = (name: string) => string | undefined;

/** More than any rotation needs. */
const SECRETS_MAX = 10;
/** A shorter secret could be guessed from one message. */
const SECRET_BYTES_MIN = 16;

/** Reads the secrets of a sender from its setting. Throws `StartRefused` if they are missing or malformed. */
export const openVerifier = async (sender: SenderInfo, readSetting: ReadSetting): Promise<Verify> => {
  const { name, signature } = sender;
  switch (signature.scheme) {
    case 'stripe':
      return verifyStripe(rawSecrets(name, signature.secrets, readSetting));
    case 'github':
      return verifyGithub(rawSecrets(name, signature.secrets, readSetting));
    case 'hmac':
      return verifyHmac(rawSecrets(name, signature.secrets, readSetting), signature);
    case 'standard-webhooks':
      return verifyStandard(standardKeys(name, signature.secrets, readSetting), signature.type);
    case 'jws': {
      const text = demandSetting(name, signature.keys, readSetting);
      // Only its users load it.
      const { jwsKeys, verifyJws } = await import('./signatures/jws.ts');
      const keys = jwsKeys(text);
      if (keys === undefined)
        throw new StartRefused(
          `${signature.keys} must be the public keys of the sender ${name}: a JWK set without private or shared keys, or its https URL.`,
        );
      return verifyJws(keys, signature);
    }
  }
};

const demandSetting = (sender: string, setting: string, readSetting: ReadSetting): string => {
  const text = readSetting(setting);
  if (text === undefined)
    throw new StartRefused(
      `${setting} is not set, and the inbox cannot verify the messages of ${sender} without it: set it, or name its file in ${setting}_FILE.`,
    );
  return text;
};

/** One secret, or several with spaces or line breaks between them while they are rotated. */
const wordsIn = (sender: string, setting: string, readSetting: ReadSetting): readonly string[] => {
  const words = demandSetting(sender, setting, readSetting).split(/\s+/).filter(Boolean);
  if (words.length === 0 || words.length > SECRETS_MAX)
    throw new StartRefused(`${setting} must have 1 to ${SECRETS_MAX} secrets, with spaces between them.`);
  return words;
};

const tooShort = (setting: string): StartRefused =>
  new StartRefused(`${setting} has a secret of less than ${SECRET_BYTES_MIN} bytes: use a longer one.`);

const rawSecrets = (sender: string, setting: string, readSetting: ReadSetting): readonly Buffer[] => {
  const secrets = wordsIn(sender, setting, readSetting).map((word) => Buffer.from(word, 'utf8'));
  if (secrets.some(({ length }) => length < SECRET_BYTES_MIN)) throw tooShort(setting);
  return secrets;
};

const standardKeys = (sender: string, setting: string, readSetting: ReadSetting) => {
  const keys = wordsIn(sender, setting, readSetting).map(standardKey);
  if (keys.includes(undefined))
    throw new StartRefused(
      `${setting} must have secrets as Standard Webhooks writes them: whsec_ and base64, or whpk_ for a public key.`,
    );
  const secrets = keys.filter((key) => Buffer.isBuffer(key));
  if (secrets.some(({ length }) => length < SECRET_BYTES_MIN)) throw tooShort(setting);
  return { secrets, publicKeys: keys.filter((key) => key instanceof KeyObject) };
};
