import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { withParts } from '#kernel/registry/parts.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { MessageInfo, SenderInfo } from '#kernel/registry/sender-info.ts';
import { type AnySender, message, sender } from '#kernel/sender/sender.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { nginxFor } from '../../command-line/domain/nginx.ts';
import { openApiDocument } from '../../query/openapi/document.ts';
import { SEED } from '../../testing/seed.ts';
import { grow } from './grow.ts';

const DOMAINS = Number(process.env.DOMAINS_COUNT ?? 8);

const anyPayload = { '~standard': { version: 1, validate: (value: unknown) => ({ value }) } } as const;
/** The compiler knows nothing of a generated domain. */
const untyped = message as unknown as (aggregate: object, command: string, more: object) => MessageInfo;

const senderOf = (domain: Domain, role: string, kind: Kind, command: string): AnySender =>
  sender({ name: domain.name, roles: ['any'] as readonly [string, ...string[]] }, 'service', {
    signature: { scheme: 'standard-webhooks', secrets: 'SERVICE_SECRETS' },
    as: role,
    on: { happened: untyped({ kind: kind.name }, command, { payload: anyPayload, given: () => undefined }) },
  });

test.each(Array.from({ length: DOMAINS }, (_, index) => SEED + index))(
  'each command of a generated domain follows from a message, or is refused in one sentence, with seed %i',
  async (seed) => {
    const { domain } = grow(seed);
    const accepted: SenderInfo[] = [];
    for (const kind of Object.values(domain.kinds))
      for (const command of Object.keys(kind.commands))
        for (const role of domain.roles)
          try {
            const resolved = senderOf(domain, role, kind, command).resolve(domain);
            accepted.push({ ...resolved, operationId: `${resolved.operationId}${accepted.length}` });
          } catch (error) {
            if (!(error instanceof StartRefused)) throw error;
            expect(error.message).toMatch(/^the sender service\b.*\.$/s);
          }
    for (const { on, role } of accepted) {
      const { kind, command } = on.happened as MessageInfo;
      expect(domain.kinds[kind]?.commands[command]?.internal).toBe(false);
      expect(['anonymous', 'admin']).not.toContain(role);
    }
    const [one] = accepted;
    if (one === undefined) return;
    const served = withParts({ ...domain, senders: [one] }, ['inbox']);
    expect(Object.keys(operationsOf(served))).toContain(one.operationId);
    expect(Object.keys(operationsOf({ ...domain, senders: [one] }))).not.toContain(one.operationId);
    expect(nginxFor(served)).toMatch(/location ~\* \^\(\?:\/api\)\?\/\S*\binbox\b/);
    const urls = { publicUrl: 'https://annals.example', issuerUrl: 'https://issuer.example' };
    const document = openApiDocument({ domain: served, ...urls, requireIfMatch: false });
    const { valid, errors } = await new Validator().validate(
      structuredClone(document) as Record<string, unknown>,
    );
    expect([errors, valid]).toEqual([undefined, true]);
  },
);
