import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { type AuditedLog, freshTest } from '../../test/engines/audited-log.ts';
import { readKeyFile } from '../heads/head-files.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { insertHead, writeStatement } from '../stored/signed-head.ts';
import { openSigner, rotateAuditKey, type Signer } from '../stored/signing-keys.ts';
import type { GivenHeads } from './head-sources.ts';
import { beginChainCheck } from './verify-chain.ts';

const addHead = async (audited: AuditedLog) => {
  await audited.append(2);
  await audited.prove();
};
const test = freshTest.extend('fill', { scope: 'file' }, () => async (audited) => {
  for (let heads = 0; heads < 3; heads += 1) await addHead(audited);
});

const lines = async (audited: AuditedLog) => (await readFile(audited.files.heads, 'utf8')).trim().split('\n');
const findings = async (audited: AuditedLog, given?: GivenHeads) => {
  const checking = await beginChainCheck({ ...audited, ...(given && { given }) });
  await checking.take(await audited.events());
  return (await checking.end({ isWhole: true })).findings;
};
const missing = (...counts: readonly number[]) =>
  counts.map((count) => ({ kind: 'head_missing', count, source: 'file' }));

/** Extends the chain, and signs its end with a key. */
const signEnd = async (audited: AuditedLog, signer: Signer) => {
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

test('only the newest head may be missing outside the database', async ({ audited }) => {
  await signEnd(audited, await openSigner(audited));
  expect(await findings(audited)).toEqual([]);
  const [first] = await lines(audited);
  await writeFile(audited.files.heads, `${first}\n`);
  expect(await findings(audited)).toEqual(missing(4, 6));
});

test('an emptied or removed file of heads is found, even if the database has lost its heads too', async ({
  audited,
}) => {
  await truncate(audited.files.heads, 0);
  const all = missing(2, 4, 6);
  expect(new Set(await findings(audited))).toEqual(new Set(all));
  await rm(audited.files.heads);
  expect(await findings(audited)).toHaveLength(3);
  await audited.tamper('truncate audit.head');
  expect(await findings(audited)).toEqual(missing(6));
});

test('a duplicate line is no contradiction', async ({ audited }) => {
  const [, second] = await lines(audited);
  await appendFile(audited.files.heads, `${second}\n`);
  expect(await findings(audited)).toEqual([]);
});

test('a key signs nothing after its successor has', async ({ audited }) => {
  const old = await openSigner(audited);
  await rotateAuditKey(audited);
  await addHead(audited);
  expect(await findings(audited)).toEqual([]);
  const { count, statement, signature } = await signEnd(audited, old);
  await appendFile(audited.files.heads, `${JSON.stringify({ statement, signature })}\n`);
  const forged = ['file', 'database'].map((source) =>
    expect.objectContaining({ kind: 'head_signature_wrong', count, source }),
  );
  expect(await findings(audited)).toEqual(forged);
});

const REPLACED: readonly (readonly [string, string])[] = [
  ['no JSON', 'replaced'],
  ['another object', '{"kty":"RSA"}'],
  ['another key', '{"crv":"Ed25519","kty":"OKP","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}'],
];
test.for(REPLACED)('a public key that was replaced by %s is found', async ([_what, text], { audited }) => {
  const [key] = await readKeyFile(audited.files);
  await audited.tamper('update audit.signing_key set public_key = $1', [text]);
  const database = { kind: 'key_not_endorsed', key: key?.id, source: 'database' };
  expect(await findings(audited)).toEqual([database]);
  await writeFile(audited.files.keys, `${text}\n`);
  const found = await findings(audited);
  expect(found).toContainEqual(database);
  expect(found).toContainEqual({ kind: 'head_unreadable', line: 1, source: 'file' });
});

test('an auditor who knows only the second key accepts heads that the first one signed', async ({
  audited,
}) => {
  await rotateAuditKey(audited);
  await addHead(audited);
  const [, second] = await readKeyFile(audited.files);
  expect(await findings(audited, { heads: await lines(audited), keys: second ? [second] : [] })).toEqual([]);
});
