import * as z from 'zod';
import { timestamp } from './values.ts';

/** The name of its argument in GraphQL. */
export const SIGNATURE = 'signature';

/** The header of requests in REST. `Signature` belongs to HTTP Message Signatures (RFC 9421). */
export const SIGNATURE_HEADER = 'Electronic-Signature';

/** Of a signature that a person is asked for: only they can sign it, and only for the command that asked. */
export const signatureId = z
  .string()
  .regex(/^[\w-]{43}$/, { error: 'Must be the `request` of the refusal that asked for a signature.' });

export const MEANING_CHARACTERS_MAX = 100;
/** Values of a form that are longer are in the statement by their hash. */
export const STATED_CHARACTERS_MAX = 500;
const STATEMENT_CHARACTERS_MAX = 100_000;
const BYTES_MAX = 6_000;

const bytes = z.base64url().max(BYTES_MAX);
/** The public key as JWK (RFC 7517). */
const key = z.record(z.string().max(10), z.string().max(BYTES_MAX));

/** How the person has proved again who they are, in a form that anybody can verify. */
export const signatureProof = z.discriminatedUnion('means', [
  // An assertion (WebAuthn, 7.2), whose challenge is the hash of the statement.
  z.strictObject({
    ...{
      means: z.literal('passkey'),
      key,
      authenticatorData: bytes,
      clientDataJSON: bytes,
      signature: bytes,
    },
  }),
  // The authorization server has checked password and code, and signs the hash of the statement (RFC 7515).
  z.strictObject({ means: z.literal('password'), key, token: z.string().max(BYTES_MAX) }),
]);
export type SignatureProof = Readonly<z.infer<typeof signatureProof>>;

const statement = z.object({ user: z.int().positive(), meaning: z.string().min(1) });

const statedIn = (text: string): z.infer<typeof statement> | undefined => {
  try {
    return statement.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

/** As the metadata of an event has it: the text that was signed, when, and the proof. */
export const recordedSignature = z.strictObject({
  statement: z
    .string()
    .max(STATEMENT_CHARACTERS_MAX)
    .refine((text) => statedIn(text) !== undefined),
  at: timestamp,
  proof: signatureProof,
});
export type RecordedSignature = Readonly<z.infer<typeof recordedSignature>>;

export const shownSignature = z
  .strictObject({
    by: z
      .string()
      .regex(/^user:\d+$/)
      .meta({ description: 'The person who signed.', examples: ['user:7001'] }),
    meaning: z
      .string()
      .meta({ description: 'The meaning, as the domain declares it.', examples: ['approval'] }),
    at: timestamp.meta({ description: 'When they signed.' }),
    means: z.enum(['passkey', 'password']).meta({
      description: 'How they proved who they are: with a passkey, or with their password and a code.',
    }),
  })
  .meta({ id: 'Signature' });
export type ShownSignature = Readonly<z.infer<typeof shownSignature>>;

/** The part that readers of the event see; the proof is in exports of the log. */
export const signatureOf = ({ statement: text, at, proof: { means } }: RecordedSignature): ShownSignature => {
  const stated = statedIn(text);
  if (stated === undefined) throw new RangeError('the statement of a signature is malformed');
  return { by: `user:${stated.user}`, meaning: stated.meaning, at, means };
};
