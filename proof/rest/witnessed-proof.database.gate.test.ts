import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { AUDIT_OPERATIONS } from '#shared/rest/audit.ts';
import { test as base } from '../../test/engines/backend.ts';
import { startTestWitness } from '../../test/engines/test-witness.ts';
import { witnessedSide } from '../../test/engines/witnessed-log-side.ts';
import { until } from '../../testing/until.ts';
import { byPolicy } from '../tree/check-cosignatures.ts';
import { parseNote, parseVerifierKey } from '../tree/note.ts';
import { parsePolicy } from '../tree/policy.ts';
import { checkProof } from '../tree/proof-file.ts';

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('witness', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'annals-witnesses-'));
    const witness = await startTestWitness(folder, 'w1.example');
    onCleanup(async () => {
      await witness[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    });
    return witness;
  })
  .extend('side', { scope: 'file' }, ({ backend }) => witnessedSide({ ...backend.side, ...backend }))
  .extend('prove', { scope: 'file' }, ({ admin, author, backend, write }) => async (title: string) => {
    const article = await write(author, 'POST', '/articles', { title, body: '', tags: [] });
    const { body } = await backend.ask(`/events?subject=article-${article}&limit=1`, { by: admin });
    const [{ id }] = body as readonly [{ readonly id: string }];
    const ask = async () => (await backend.ask(`/events/${id}/proof`, { by: admin })).body;
    return until(
      async () => AUDIT_OPERATIONS.getEventProof.answer.schema.safeParse(await ask()).data,
      (proof) => proof !== undefined,
    );
  });

test('a proof says whether enough witnesses have cosigned its head, and is there in any case', async ({
  admin,
  backend,
  prove,
  side,
  witness,
}) => {
  const policy = `${witness.line('w1')}\nquorum w1\n`;
  witness.knows(side.origin, side.vkey);
  const keys = [parseVerifierKey(side.vkey)].filter((key) => key !== undefined);
  await using _running = await side.start(policy);

  const first = await prove('The first');
  await until(side.heads, ({ witnessed }) => (witnessed?.size ?? 0) >= (first?.size ?? 0));
  const witnessed = await prove('The second');
  await witness.stop();
  const alone = await prove('The third');
  expect(alone).toMatchObject({ isWitnessed: false });
  expect(checkProof(alone?.proof ?? '', keys)).toMatchObject({ isProven: true });
  expect(checkProof(alone?.proof ?? '', keys, byPolicy(parsePolicy(policy)))).toMatchObject({
    isProven: false,
    reason: expect.stringContaining('Not enough witnesses'),
  });

  const { body: status } = await backend.ask('/audit/status', { by: admin });
  expect(status).toMatchObject({
    witnessed: { count: expect.any(Number) },
    witnesses: [{ names: ['w1'], url: witness.url, isRefusing: false }],
  });
  await witness.restart();
  const { event = '' } = witnessed ?? {};
  const { body } = await backend.ask(`/events/${event}/proof`, { by: admin });
  const { proof } = AUDIT_OPERATIONS.getEventProof.answer.schema.parse(body);
  const later = await until(
    async () => (await backend.ask(`/events/${alone?.event}/proof`, { by: admin })).body,
    (found) => AUDIT_OPERATIONS.getEventProof.answer.schema.parse(found).isWitnessed === true,
  );
  for (const text of [proof, AUDIT_OPERATIONS.getEventProof.answer.schema.parse(later).proof])
    expect(checkProof(text, keys)).toMatchObject({ isProven: true });
  expect(
    checkProof(
      AUDIT_OPERATIONS.getEventProof.answer.schema.parse(later).proof,
      keys,
      byPolicy(parsePolicy(policy)),
    ),
  ).toMatchObject({ isProven: true, witnessed: { cosigned: [{ name: 'w1' }] } });

  const checkpoint = await (await fetch(`${backend.url}/audit/log/checkpoint`)).text();
  expect(parseNote(checkpoint)?.signatures.map(({ name }) => name)).toEqual([side.origin, 'w1.example']);
});
