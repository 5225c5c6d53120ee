import { expect } from 'vitest';
import type { ItemAnswer, ListAnswer } from '#edge/rest/reads/answer.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Caller } from '#shared/policy.ts';
import { createReadModel } from '#shared/projection/schema.ts';
import { AUDIT_OPERATIONS } from '#shared/rest/audit.ts';
import { type AuditedLog, test as base } from '../../test/engines/audited-log.ts';
import { as } from '../../test/engines/command-side.ts';
import { POLICY } from '../../test/engines/policy.ts';
import { tables } from '../../test/engines/tables.ts';
import { isSignedBy, rotateAuditKey } from '../stored/signing-keys.ts';
import { auditReads } from './reads.ts';

/** Six events under three signed heads, and one more. */
const fill = async (audited: AuditedLog): Promise<void> => {
  await migrate(audited.pool, 'follower', new URL('../../shared/follower/', import.meta.url));
  await createReadModel(audited.pool, tables, 'read_model');
  for (let heads = 0; heads < 3; heads += 1) {
    await audited.append(2);
    await audited.prove();
    if (heads === 1) await rotateAuditKey(audited);
  }
  await audited.append(1);
  await using _chain = await audited.startChain();
  await audited.untilChained();
};
const test = base
  .extend('fill', { scope: 'file' }, () => fill)
  .extend('reads', { scope: 'file' }, ({ audited }) => auditReads(audited));

const readerOf = (caller: Caller) => ({ caller, id: '', charge: async () => {} });
const anybody = readerOf({ kind: 'anonymous', policy: POLICY });
const itemOf = (answer: unknown) => (answer as ItemAnswer).item as Record<string, never>;

test('the status shows the progress of every role, and what is not yet proven outside the database', async ({
  reads: { getAuditStatus },
}) => {
  const status = itemOf(await getAuditStatus(readerOf(as(1)), {}));
  expect(status).toMatchObject({ chain: { count: 7 }, signed: { count: 6 }, unproven: { events: 1 } });
  expect(status).not.toHaveProperty('problem');
  const all = itemOf(await getAuditStatus(readerOf(as(1, 'admin')), {}));
  expect(all).toMatchObject({ problem: null, parked: 0, verified: null, differences: [] });
  expect(AUDIT_OPERATIONS.getAuditStatus.answer.schema.parse(all)).toEqual(all);
});

test('heads come in pages, each with its signature and all that verifying it needs', async ({
  reads: { listAuditHeads, listAuditKeys },
}) => {
  const { keys } = itemOf(await listAuditKeys(anybody, {})) as unknown as {
    keys: readonly { kid: string; x: string }[];
  };
  const first = (await listAuditHeads(anybody, { limit: 2 })) as ListAnswer;
  expect(first.links).toEqual({ self: '/audit/heads?after=0&limit=2', next: '/audit/heads?after=4&limit=2' });
  const rest = (await listAuditHeads(anybody, { limit: 2, after: 4 })) as ListAnswer;
  expect(rest.links).not.toHaveProperty('next');
  const heads = [...first.items, ...rest.items].map((item) =>
    AUDIT_OPERATIONS.listAuditHeads.answer.schema.parse(item),
  );
  expect(heads.map(({ count }) => count)).toEqual([2, 4, 6]);
  for (const { key, statement, signature } of heads) {
    const x = keys.find(({ kid }) => kid === key)?.x ?? '';
    expect(isSignedBy({ kty: 'OKP', crv: 'Ed25519', x }, statement, signature)).toBe(true);
  }
});

test('a key names the former key that endorsed it, with the signature', async ({
  reads: { listAuditKeys },
}) => {
  const { keys } = AUDIT_OPERATIONS.listAuditKeys.answer.schema.parse(
    itemOf(await listAuditKeys(anybody, {})),
  );
  const [first, second] = keys;
  expect(second).toMatchObject({ endorsed_by: first?.kid });
  const publicKey = { kty: 'OKP', crv: 'Ed25519', x: first?.x ?? '' } as const;
  expect(isSignedBy(publicKey, second?.endorsement_text ?? '', second?.endorsement ?? '')).toBe(true);
});
