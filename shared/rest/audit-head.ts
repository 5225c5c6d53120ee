import * as z from 'zod';
import { timestamp } from '#kernel/base/values.ts';

export const count = z.int().nonnegative();
export const hash = z.string().regex(/^[0-9a-f]{64}$/);

export const AuditHead = z
  .strictObject({
    count: count.meta({ description: 'The number of events that it covers.' }),
    at: timestamp.meta({ description: 'When it was signed.' }),
    head: hash.meta({ description: 'The head of the hash chain after `count` events.' }),
    key: z.string().meta({ description: 'The `kid` of the key that signed it.' }),
    statement: z.string().meta({ description: 'The signed text, byte by byte.' }),
    signature: z.string().meta({ description: 'Ed25519, in base64url.' }),
  })
  .meta({ id: 'AuditHead' });
export type AuditHead = Readonly<z.infer<typeof AuditHead>>;
