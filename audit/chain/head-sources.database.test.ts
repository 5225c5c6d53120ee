import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readChainEnd } from '#shared/audit/blocks.ts';
import { insertHead, writeStatement } from '#shared/audit/signed-head.ts';
import { openSigner, rotateAuditKey, type Signer } from '#shared/audit/signing-keys.ts';
import { type AuditedLog, createAuditedLog } from '../../test/engines/audited-log.ts';
import { readKeyFile } from '../heads/head-files.ts';
import type { Given } from './head-sources.ts';
import { beginChainCheck } from './verify-chain.ts';

let audited: AuditedLog;
beforeEach(async () => {
  audited = await createAuditedLog();
  for (let heads = 0; heads < 3; heads += 1) await addHead();
});
afterEach(() => audited?.[Symbol.asyncDispose]());

const addHead = async () => {
  await audited.append(2);
  await audited.prove();
};
const lines = async () => (await readFile(audited.files.heads, 'utf8')).trim().split('\n');
const findings = async (given?: Given) => {
  const checking = await beginChainCheck({
    pool: audited.pool,
    auditDir: audited.auditDir,
    ...(given && { given }),
  });
  await checking.take(await audited.events());
  return (await checking.end({ isWhole: true })).findings;
};
const missing = (...counts: readonly number[]) =>
  counts.map((count) => ({ kind: 'head_missing', count, source: 'file' }));

/** Extends the chain, and signs its end with a key. */
const signEnd = async (signer: Signer) => {
  await audited.append(2);
  await using _chain = await audited.startChain();
  await audited.untilChained();
  const { count, position, head } = await readChainEnd(audited.pool);
  const statement = writeStatement({
    ...{ v: 1, log: audited.eventLog.identity, count, position, head: head.toString('hex') },
    ...{ at: new Date().toISOString(), readModel: null, key: signer.key },
  });
  const signed = { count, statement, signature: signer.sign(statement) };
  await insertHead(audited.pool, signed, signer.key);
  return signed;
};

test('only the newest head may be missing outside the database', async () => {
  await signEnd(await openSigner(audited));
  expect(await findings()).toEqual([]);
  const [first] = await lines();
  await writeFile(audited.files.heads, `${first}\n`);
  expect(await findings()).toEqual(missing(4, 6));
});

test('an emptied or removed file of heads is found, even if the database has lost its heads too', async () => {
  await truncate(audited.files.heads, 0);
  const all = missing(2, 4, 6);
  expect(new Set(await findings())).toEqual(new Set(all));
  await rm(audited.files.heads);
  expect(await findings()).toHaveLength(3);
  await audited.tamper('truncate audit.head');
  expect(await findings()).toEqual(missing(6));
});

test('a duplicate line is no contradiction', async () => {
  const [, second] = await lines();
  await appendFile(audited.files.heads, `${second}\n`);
  expect(await findings()).toEqual([]);
});

test('a key signs nothing after its successor has', async () => {
  const old = await openSigner(audited);
  await rotateAuditKey(audited);
  await addHead();
  expect(await findings()).toEqual([]);
  const { count, statement, signature } = await signEnd(old);
  await appendFile(audited.files.heads, `${JSON.stringify({ statement, signature })}\n`);
  const forged = ['file', 'database'].map((source) =>
    expect.objectContaining({ kind: 'head_signature_wrong', count, source }),
  );
  expect(await findings()).toEqual(forged);
});

test('an auditor who knows only the second key accepts heads that the first one signed', async () => {
  await rotateAuditKey(audited);
  await addHead();
  const [, second] = await readKeyFile(audited.files);
  expect(await findings({ heads: await lines(), keys: second ? [second] : [] })).toEqual([]);
});
