import * as z from 'zod';
import { PAGE } from '../base/rest/lists.ts';
import type { RestOperation } from '../base/rest/operation.ts';
import { timestamp } from '../base/values.ts';

/** More than the name of any sender. */
const SENDER_LENGTH_MAX = 100;

const RefusedMessage = z
  .strictObject({
    id: z.uuid(),
    at: timestamp,
    sender: z.string().meta({ description: 'The sender to whose address it was sent.', examples: ['bank'] }),
    code: z.string().meta({ description: 'The code of the refusal.', examples: ['invalid_signature'] }),
    reason: z.string().meta({ description: 'The reason, as the sender got it.' }),
    messageId: z
      .string()
      .nullable()
      .meta({
        description: 'The id that the sender gave the message; null if the message was not verified.',
        examples: ['msg_2KWPBgLlAfxdpx2AI54pPJ85f4W'],
      }),
    messageType: z
      .string()
      .nullable()
      .meta({
        description: 'The type of the message; null if it has none, or was not verified.',
        examples: ['transfer.settled'],
      }),
    bytes: z.int().min(0).nullable().meta({ description: 'The size of the body; null if it is unknown.' }),
    sha256: z.string().nullable().meta({
      description:
        'The SHA-256 of the body in hex, to compare with what the sender has; null if the body was not read.',
    }),
    request: z.string().meta({ description: 'The id of the request, as in the log of the process.' }),
  })
  .meta({ id: 'RefusedMessage' });
export type ListedRefusal = Readonly<z.infer<typeof RefusedMessage>>;

/** The list of refused messages of all senders. */
export const REFUSED_MESSAGES: RestOperation = {
  role: 'query',
  method: 'GET',
  path: '/operations/inbox',
  summary: 'Refused messages of senders, for administrators',
  right: 'operations.read',
  refusals: ['forbidden'],
  query: z.strictObject({
    ...PAGE,
    sender: z
      .string()
      .max(SENDER_LENGTH_MAX)
      .optional()
      .meta({ description: 'Only messages to the address of this sender.' }),
  }),
  answer: {
    status: 200,
    description:
      'A page of refused messages without their content, the latest first. The latest 200 of each sender and code are kept for 30 days.',
    kind: 'list',
    schema: RefusedMessage,
  },
};
