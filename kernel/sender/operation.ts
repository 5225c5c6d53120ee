import * as z from 'zod';
import { capital } from '../base/names.ts';
import type { RestOperation } from '../base/rest/operation.ts';
import type { SenderInfo, Signature } from '../registry/sender-info.ts';

/** The media types of a JWS that is the body, and of a security event (RFC 8417). */
const JWS_TYPES = ['application/jose', 'application/jwt', 'application/secevent+jwt'];
const JSON_TYPES = ['application/json', 'application/*+json'];

/** The media types of the messages. */
export const typesTaken = (signature: Signature): readonly string[] =>
  signature.scheme === 'jws' && signature.header === undefined ? JWS_TYPES : JSON_TYPES;

/** For example `receiveBank`. */
export const operationIdOf = (name: string): string =>
  `receive${name
    .split('-')
    .map((word) => capital(word))
    .join('')}`;

const pathOfSender = (name: string): string => `/inbox/${name}`;

const InboxAnswer = z
  .strictObject({
    outcome: z.enum(['done', 'repeated', 'ignored', 'refused']).meta({
      description:
        '`done`: the command was carried out. `repeated`: an earlier delivery of this message did it. `ignored`: nothing follows from this message. `refused`: the state of the item refuses it, and the sender need not retry.',
    }),
    id: z
      .int()
      .positive()
      .exactOptional()
      .meta({ description: 'The item that the command created or changed.' }),
    code: z.string().exactOptional().meta({ description: 'Of the refusal.' }),
    title: z.string().exactOptional().meta({ description: 'Of the refusal.' }),
  })
  .meta({ id: 'InboxAnswer' });

const SIGNED: Readonly<Record<Signature['scheme'], string>> = {
  'standard-webhooks': 'Signed as Standard Webhooks specifies, in `webhook-signature`.',
  github: 'Signed by GitHub, in `X-Hub-Signature-256`.',
  stripe: 'Signed by Stripe, in `Stripe-Signature`.',
  hmac: 'Signed by a keyed digest',
  jws: 'Signed by a JSON Web Signature',
};

const signedIn = (signature: Signature): string => {
  const { scheme } = signature;
  if (scheme === 'hmac') return `${SIGNED.hmac} in \`${signature.header}\`.`;
  if (scheme !== 'jws') return SIGNED[scheme];
  return `${SIGNED.jws}${signature.header === undefined ? ', which is the body' : ` in \`${signature.header}\``}.`;
};

/** A message of the sender, as the OpenAPI document describes it. */
export const operationOfSender = ({
  name,
  says,
  signature,
  on,
}: Pick<SenderInfo, 'name' | 'says' | 'signature' | 'on'>): RestOperation => ({
  method: 'POST',
  path: pathOfSender(name),
  role: 'command',
  summary: `Receive a message from ${name}`,
  right: null,
  body: Object.fromEntries(
    typesTaken(signature).flatMap((type) => (type.includes('*') ? [] : [[type, bodyOf(type)]])),
  ),
  bodySays: [
    ...(says === undefined ? [] : [says]),
    signedIn(signature),
    `Types with a command: ${Object.entries(on)
      .map(([type, { kind, command }]) => `\`${type}\` (${command} ${kind})`)
      .join(', ')}. Others are acknowledged and ignored.`,
  ].join(' '),
  answer: { status: 200, description: 'Received.', kind: 'nothing', schema: InboxAnswer },
  refusals: [
    ...['invalid_signature', 'malformed_body', 'invalid_request', 'body_too_large'],
    ...['unsupported_media_type', 'forbidden', 'idempotency_key_reused'],
  ] as RestOperation['refusals'] & {},
});

const bodyOf = (type: string): z.ZodType =>
  JWS_TYPES.includes(type)
    ? z.string().meta({ description: 'A JWS in its compact form.' })
    : z.looseObject({}).meta({ id: 'InboxMessage', description: 'The message, as its sender defines it.' });
