import { execFile, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { EventProof } from '#shared/rest/audit.ts';
import { byPolicy } from '../proof/tree/check-cosignatures.ts';
import { cosignatureIn, parseWitnessKey } from '../proof/tree/cosignature.ts';
import { keyIdOf, parseNote, parseVerifierKey, verifierKeyOf } from '../proof/tree/note.ts';
import { parsePolicy } from '../proof/tree/policy.ts';
import { checkProof } from '../proof/tree/proof-file.ts';
import { scaled } from '../testing/load.ts';
import { until } from '../testing/until.ts';
import { test as base } from './engines/backend.ts';
import { buildOther, startLitewitness } from './engines/litewitness.ts';
import { startTestWitness } from './engines/test-witness.ts';
import { witnessedSide } from './engines/witnessed-log-side.ts';

/** Witnesses and logs that share no code with Annals: those of torchwood and of Tessera, in Go. */
const run = promisify(execFile);
const PROGRAM = join(import.meta.dirname, 'engines/transparency');
const isThere = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, [...args]).error === undefined;
const hasGo = isThere('go', 'version') && isThere('ssh-agent', '-h');
if (!hasGo) console.warn('Witnesses of others are not asked: that takes Go and ssh-agent.');

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('folder', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'annals-others-'));
    onCleanup(() => rm(folder, { recursive: true, force: true }));
    return folder;
  })
  .extend('witness', { scope: 'file' }, async ({ folder }, { onCleanup }) => {
    const witness = await startTestWitness(folder, 'w1.example');
    onCleanup(() => witness[Symbol.asyncDispose]());
    return witness;
  });

test.skipIf(!hasGo)(
  'a witness of others cosigns our log beside ours, and others verify the proof by the policy',
  { timeout: scaled(300_000) },
  async ({ admin, author, backend, folder, witness, write }) => {
    await using lite = await startLitewitness(folder, 'lite.example/w2');
    const side = await witnessedSide({ ...backend.side, ...backend });
    lite.knows(side.origin, side.vkey);
    witness.knows(side.origin, side.vkey);
    const witnesses = [
      witness.line('ours'),
      `witness lite ${lite.vkey} ${lite.url}`,
      'group both all ours lite',
    ];
    const policy = [`log ${side.vkey}`, ...witnesses, 'quorum both', ''].join('\n');
    await using _running = await side.start(policy);
    const article = await write(author, 'POST', '/articles', { title: 'On witnesses', body: '', tags: [] });
    for (let at = 0; at < 300; at += 1)
      await write(author, 'PATCH', `/articles/${article}`, { title: `On witnesses, ${at}` });
    const { body: events } = await backend.ask(`/events?subject=article-${article}&limit=1`, { by: admin });
    const [{ id }] = events as readonly [{ readonly id: string }];
    const { proof } = (await until(
      async () => (await backend.ask(`/events/${id}/proof`, { by: admin })).body,
      (body) => (body as Partial<EventProof>).isWitnessed === true,
    )) as EventProof;
    expect(checkProof(proof, [], byPolicy(parsePolicy(policy))).isProven).toBe(false);
    const keys = [parseVerifierKey(side.vkey)].filter((key) => key !== undefined);
    expect(checkProof(proof, keys, byPolicy(parsePolicy(policy)))).toMatchObject({
      isProven: true,
      witnessed: { cosigned: expect.toSatisfy((all: readonly unknown[]) => all.length === 2) },
    });

    const program = join(folder, 'check-log');
    await run('go', ['build', '-o', program, '.'], { cwd: PROGRAM });
    const [proofPath, policyPath] = [join(folder, 'event.tlog-proof'), join(folder, 'witnesses.policy')];
    await writeFile(proofPath, proof);
    await writeFile(policyPath, policy);
    const args = [`${backend.url}/audit/log/`, side.vkey, proofPath, policyPath];
    expect(Number((await run(program, args)).stdout)).toBeGreaterThan(300);
    // Without one of the cosignatures, the policy is not met.
    const [line = ''] = /^— w1\.example .*\n/m.exec(proof) ?? [];
    await writeFile(proofPath, proof.replaceAll(/^— w1\.example .*\n/gm, ''));
    expect(line).not.toBe('');
    await expect(run(program, args)).rejects.toThrow();
  },
);

test.skipIf(!hasGo)(
  'our witness cosigns the log of others, and no other history of it',
  { timeout: scaled(300_000) },
  async ({ folder, witness }) => {
    const program = await buildOther(
      folder,
      'github.com/transparency-dev/tessera/cmd/examples/posix-oneshot',
    );
    const pair = generateKeyPairSync('ed25519');
    const { x, d } = pair.privateKey.export({ format: 'jwk' });
    const key = { name: 'others.example/log', publicKey: Buffer.from(String(x), 'base64url') };
    const secret = Buffer.concat([Buffer.of(1), Buffer.from(String(d), 'base64url')]).toString('base64');
    const [keyPath, policyPath] = [join(folder, 'other-log.key'), join(folder, 'other-log.policy')];
    await writeFile(keyPath, `PRIVATE+KEY+${key.name}+${keyIdOf(key).toString('hex')}+${secret}`);
    const line = witness.line('ours');
    await writeFile(policyPath, `${line}\nquorum ours\n`);
    witness.knows(key.name, verifierKeyOf(key));
    const add = async (storage: string, entry: string): Promise<string> => {
      const path = join(folder, `${entry}.txt`);
      await writeFile(path, entry);
      const flags = {
        storage_dir: storage,
        entries: path,
        private_key: keyPath,
        witness_policy_file: policyPath,
      };
      await run(program, [
        ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
        '--witness_timeout=10s',
      ]);
      return readFile(join(storage, 'checkpoint'), 'utf8');
    };
    const vkey = line.split(' ')[2] ?? '';
    const cosigner = parseWitnessKey(vkey);
    for (const [at, entry] of ['one', 'two', 'three'].entries()) {
      const note = parseNote(await add(join(folder, 'log'), entry));
      expect(note?.text.split('\n')[1]).toBe(`${at + 1}`);
      expect(note && cosigner && cosignatureIn(note, cosigner).is).toBe('right');
    }
    expect(witness.sizeOf(key.name)).toBe(3);
    await expect(add(join(folder, 'forked'), 'un')).rejects.toThrow();
    expect(witness.sizeOf(key.name)).toBe(3);
  },
);
