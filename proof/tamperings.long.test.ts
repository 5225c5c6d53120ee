import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { type ClaimsDesk, createClaimsDesk, type StoppedInstallation } from '../test/engines/claims-desk.ts';
import type { Tampering } from '../test/tamperings/tampering.ts';
import { TAMPERINGS } from '../test/tamperings/tamperings.ts';
import { verify } from './verify/verify.ts';
import { step } from './watch/step.ts';

const signal = new AbortController().signal;

/** Nothing but the edit: no trigger of ours takes part. */
const editBy =
  ({ sql, file }: Tampering) =>
  async ({ pool, auditDir }: Pick<StoppedInstallation, 'pool' | 'auditDir'>): Promise<void> => {
    if (sql !== undefined)
      await inTransaction(pool, async (connection) => {
        await connection.query(`set local session_replication_role = replica; ${sql}`);
      });
    if (file === undefined) return;
    const path = join(auditDir, file.name);
    const text = await readFile(path, 'utf8');
    const edited = file.edit(text);
    expect(edited).not.toBe(text);
    await writeFile(path, edited);
  };

/** The verification says in one sentence why it does not begin. */
const REFUSED = 'refused';

/** The installation has stopped. */
const STANDS_STILL = 'read_model_stands_still';

const kindsOf = (found: readonly { readonly kind: string }[]): readonly string[] =>
  [...new Set(found.map(({ kind }) => kind))].filter((kind) => kind !== STANDS_STILL).toSorted();

const verifyOf = async (installation: StoppedInstallation): Promise<readonly string[]> => {
  try {
    const { findings } = await verify({
      ...installation,
      ...{ isOfReadModel: true, showPersonal: false, signal, onProgress() {} },
    });
    return kindsOf(findings.listed);
  } catch {
    return [REFUSED];
  }
};

const watchOf = async (installation: StoppedInstallation): Promise<readonly string[]> => {
  try {
    const found = [];
    for (;;) {
      const { differences, isEnd } = await step({ ...installation, signal });
      found.push(...differences);
      if (isEnd) return kindsOf(found);
    }
  } catch {
    return [REFUSED];
  }
};

const foundIn = async (desk: ClaimsDesk, tampering: Tampering) => {
  try {
    await using copy = await desk.copy(editBy(tampering));
    return { verify: await verifyOf(copy), watch: await watchOf(copy) };
  } catch (error) {
    // No process starts.
    if (error instanceof StartRefused) return { verify: [REFUSED], watch: [REFUSED] };
    throw error;
  }
};

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('desk', { scope: 'file' }, async ({}, { onCleanup }) => {
    const desk = await createClaimsDesk();
    onCleanup(() => desk[Symbol.asyncDispose]());
    return desk;
  });

test('an installation that nobody has tampered with is proven', async ({ desk }) => {
  await using copy = await desk.copy();
  expect([await verifyOf(copy), await watchOf(copy)]).toEqual([[], []]);
});

test.for(TAMPERINGS)('$name', async (tampering, { desk }) => {
  const found = await foundIn(desk, tampering);
  if (process.env.WRITE_TAMPERINGS !== undefined)
    await appendFile(process.env.WRITE_TAMPERINGS, `${JSON.stringify([tampering.name, found])}\n`);
  for (const by of ['verify', 'watch'] as const) {
    expect(found[by]).toEqual(expect.arrayContaining([...tampering[by]]));
    expect({ by, isFound: found[by].length > 0 }).toEqual({ by, isFound: tampering[by].length > 0 });
  }
});
