import * as z from 'zod';
import type { EventId, UserId } from '#kernel/base/brands.ts';
import { attributes, roleName, SCOPES_MAX, version } from '#kernel/base/events/fields.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { parsePlainly } from '#kernel/base/plain-issues.ts';
import { reason } from '#kernel/base/reason.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { signatureId } from '#kernel/base/signature.ts';
import { token } from '#kernel/base/values.ts';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { CommandContext } from '#shared/command-gateway/command-gateway.ts';
import { type Command, commandsOf } from '#shared/commands/command.ts';
import { fieldErrorsOf } from '#shared/json-pointers.ts';
import { type Caller, type Policy, senderCaller } from '#shared/policy.ts';
import { Withheld } from '#shared/rest/withheld.ts';

const VERSIONS_MAX = 100;
const versions = z.array(version).min(1).max(VERSIONS_MAX);

/** The message between the roles: the command and its context; the caller is only in the signed assertion. */
const context = {
  requestId: token,
  correlationId: token.optional(),
  causationId: z.uuid().optional(),
  idempotencyKey: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: 'Must be 1 to 255 visible ASCII characters.' })
    .optional(),
  reason: reason.optional(),
  signature: signatureId.optional(),
  content: z.string().max(200).optional(),
  ifVersion: z.union([version, versions]).optional(),
  unlessVersion: z.union([z.literal('any'), versions]).optional(),
};
type SentContext = z.infer<z.ZodObject<typeof context>>;
type SentCommand = SentContext & { readonly command: Command };

const sentCommand = oncePer(
  (domain: Domain): z.ZodType<SentCommand> => z.strictObject({ command: commandsOf(domain), ...context }),
);

/** Checks a message; refuses a malformed one with pointers to the faults. */
export const parseSent = (domain: Domain, sent: unknown): SentCommand => {
  const parsed = parsePlainly(sentCommand(domain), sent);
  if (parsed.success) return parsed.data;
  throw new Rejection('invalid_command', { errors: fieldErrorsOf(parsed.error, sent) });
};

export const contextOf = (sent: SentContext, caller: Caller): CommandContext => ({
  caller,
  requestId: sent.requestId,
  correlationId: sent.correlationId,
  causationId: sent.causationId as EventId | undefined,
  idempotencyKey: sent.idempotencyKey,
  reason: sent.reason,
  signature: sent.signature,
  content: sent.content,
  ifVersion: sent.ifVersion,
  unlessVersion: sent.unlessVersion,
});

/** Sent by roles that know `withheld`: those of the first release refuse a response with unknown fields. */
export const TAKES_WITHHELD = 'x-annals-takes-withheld';

export const CommandAnswer = z.strictObject({
  id: z.int().positive(),
  version: z.int().nonnegative(),
  cursor: z.string().max(100),
  secret: z.string().max(200).exactOptional(),
  eventId: z.uuid().exactOptional(),
  withheld: z.array(Withheld).exactOptional(),
  itemId: z.union([z.int().positive(), z.string().max(1_000)]).exactOptional(),
  isRepeat: z.boolean().exactOptional(),
});

/** The caller as the assertion holds it. */
export const AssertedCaller = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('anonymous') }),
  z.strictObject({
    kind: z.literal('user'),
    userId: z.int().positive(),
    role: roleName,
    attributes: attributes.optional(),
    scopes: z.array(z.string().max(100)).max(SCOPES_MAX),
    client: z.string().max(200).nullable(),
    by: z.enum(['tool', 'agent', 'service']).optional(),
  }),
  z.strictObject({ kind: z.literal('sender'), name: z.string().max(100), role: roleName }),
  z.strictObject({ kind: z.literal('system'), name: z.string().regex(/^[a-z0-9-]{1,100}$/) }),
]);

/** Each role has a policy of its own. */
export const assertCaller = (caller: Caller): z.infer<typeof AssertedCaller> => {
  switch (caller.kind) {
    case 'anonymous':
      return { kind: caller.kind };
    case 'user': {
      const { policy: _, ...asserted } = caller;
      return { ...asserted, scopes: [...caller.scopes] };
    }
    case 'sender':
      return { kind: caller.kind, name: caller.name, role: caller.role };
    case 'system':
      return caller;
  }
};

export const readCaller = (asserted: z.infer<typeof AssertedCaller>, policy: Policy): Caller => {
  switch (asserted.kind) {
    case 'anonymous':
      return { ...asserted, policy };
    case 'user':
      // A role with another declaration does not know the attributes that rights compare here.
      if (attributesOf(policy.domain).some(({ name }) => asserted.attributes?.[name] === undefined))
        throw new Error('the assertion lacks attributes of the caller that rights compare');
      return { ...asserted, policy, userId: asserted.userId as UserId, scopes: new Set(asserted.scopes) };
    case 'sender':
      return senderCaller(policy, asserted);
    case 'system':
      return asserted;
  }
};
