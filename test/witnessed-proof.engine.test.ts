// Over 200 lines, because it is one list: every policy and cosignature that the script must refuse.
import { execFile, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test as base, expect } from 'vitest';
import { type CosignatureAlgorithm, cosign, type WitnessKey } from '../proof/tree/cosignature.ts';
import { verifierKeyOf } from '../proof/tree/note.ts';
import { parsePolicy, policyLineOf } from '../proof/tree/policy.ts';
import { ADDRESSES } from './policy-addresses.ts';
import { aKey, aLog, EVENTS } from './proven-log.ts';

/** The script without dependencies checks the cosignatures of a proof by a policy. */
const SCRIPT = join(import.meta.dirname, '../docs/examples/verify-proof.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('docs/examples/verify-proof.py is not run, because there is no python3.');

const aWitness = (name: string, atS: number, algorithm: CosignatureAlgorithm = 'Ed25519') => {
  const pair = algorithm === 'Ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ml-dsa-44');
  const { x, pub } = pair.publicKey.export({ format: 'jwk' });
  const key: WitnessKey = {
    name: `${name}.example`,
    algorithm,
    publicKey: Buffer.from(String(x ?? pub), 'base64url'),
  };
  return {
    line: policyLineOf({ name, key, url: undefined }),
    cosigned: (text: string) => cosign(text, { key, privateKey: pair.privateKey, atS }) ?? '',
  };
};

const signer = aKey();
const vkey = verifierKeyOf(signer.key);
const [W1, W2, W3] = [aWitness('w1', 1_800_000_060), aWitness('w2', 1_800_000_000), aWitness('w3', 1)];
const TIMELESS = aWitness('w5', 0);
const QUANTUM = aWitness('w4', 1_700_000_000, 'ML-DSA-44');
const WITNESSES = `# Of two organisations.\nlog ${vkey}\n\n${W1.line}\n${W2.line}\n${QUANTUM.line}\n`;
const TWO = `${WITNESSES}group some 2 w1 w2 w4\nquorum some\n`;

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('folder', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'annals-witnessed-'));
    onCleanup(() => rm(folder, { recursive: true, force: true }));
    return folder;
  })
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('proof', { scope: 'file' }, async ({}) => {
    const text = await aLog().prove(4, signer);
    const note = text.slice(text.indexOf('\n\n') + 2);
    return { text, head: note.slice(0, note.indexOf('\n\n') + 1) };
  })
  .extend('run', ({ folder }) => async (proof: string, policy: string) => {
    const paths = [join(folder, 'event.tlog-proof'), join(folder, 'witnesses.policy')] as const;
    await writeFile(paths[0], proof);
    await writeFile(paths[1], policy);
    try {
      const { stdout } = await promisify(execFile)('python3', [SCRIPT, paths[0], vkey, paths[1]]);
      return { exit: 0, text: stdout };
    } catch (error) {
      const { code, stderr } = error as { readonly code: number; readonly stderr: string };
      return { exit: code, text: stderr };
    }
  });

test.skipIf(!hasPython)(
  'the script says who has cosigned, and by when enough had',
  async ({ proof, run }) => {
    const cosigned = [W1, W2, QUANTUM].map((each) => each.cosigned(proof.head)).join('');
    const { exit, text } = await run(proof.text + cosigned, TWO);
    expect(exit, text).toBe(0);
    expect(text).toContain(`Proven: event 5 of ${EVENTS.length} in the log.`);
    expect(text).toContain('\nML-DSA-44 is not checked here, and so not the cosignature of w4.\n');
    expect(text).toMatch(
      /\nWitnessed by w2 at 2027-01-15T08:00:00Z\.\nWitnessed by w1 at 2027-01-15T08:01:00Z\.\nWitnessed by enough of them at 2027-01-15T08:01:00Z\.\n$/,
    );
  },
);

test.skipIf(!hasPython)(
  'it knows groups of groups, and a quorum of one or of none',
  async ({ proof, run }) => {
    const cosigned = proof.text + W1.cosigned(proof.head);
    for (const [rule, exit] of [
      ['group any-of any w1 w2\ngroup both all any-of w4\nquorum both', 1],
      ['group any-of any w1 w2\nquorum any-of', 0],
      ['quorum w1', 0],
      ['quorum w2', 1],
      ['quorum none', 0],
    ] as const)
      expect((await run(cosigned, `${WITNESSES}${rule}\n`)).exit, rule).toBe(exit);
    const { text } = await run(cosigned, `${WITNESSES}quorum none\n`);
    expect(text).toContain('Witnessed by w1');
    expect(text).not.toContain('enough of them');
  },
);

test.for([
  [
    'too few',
    (head: string) => W1.cosigned(head),
    TWO,
    'Not enough witnesses of the policy have cosigned: w1.',
  ],
  [
    'one without a time',
    (head: string) => TIMELESS.cosigned(head),
    `${TIMELESS.line}\nquorum w5\n`,
    'cosigned: none.',
  ],
  ['none', () => '', TWO, 'Not enough witnesses of the policy have cosigned: none.'],
  [
    'a foreign one',
    (head: string) => W1.cosigned(head) + W3.cosigned(head),
    TWO,
    'Not enough witnesses of the policy have cosigned: w1.',
  ],
  [
    'a wrong one',
    (head: string) => W1.cosigned(head) + W2.cosigned(head.replace(/^11$/m, '12')),
    TWO,
    'The cosignature of the witness w2 is wrong',
  ],
  [
    'one that it does not check',
    (head: string) => W1.cosigned(head) + QUANTUM.cosigned(head),
    TWO,
    'have cosigned: w1; ML-DSA-44 is not checked here, and so not the cosignature of w4.',
  ],
  ['a threshold of none', () => '', `${WITNESSES}group some 0 w1 w2\nquorum some\n`, 'the policy is none'],
  ['more than all', () => '', `${WITNESSES}group some 3 w1 w2\nquorum some\n`, 'the policy is none'],
  ['a group of nobody', () => '', `${WITNESSES}group some all\nquorum some\n`, 'the policy is none'],
  ['any of nobody', () => '', `${WITNESSES}group some any\nquorum some\n`, 'the policy is none'],
  ['a member twice', () => '', `${WITNESSES}group some 2 w1 w1\nquorum some\n`, 'the policy is none'],
  [
    'a member of two groups',
    () => '',
    `${WITNESSES}group one any w1 w2\ngroup both 2 one w1\nquorum both\n`,
    'the policy is none',
  ],
  ['nobody as a member', () => '', `${WITNESSES}group some any none w1\nquorum some\n`, 'the policy is none'],
  [
    'a key twice',
    () => '',
    `${WITNESSES}${W1.line.replace('w1 ', 'w9 ')}\nquorum w9\n`,
    'the policy is none',
  ],
  [
    'a name twice',
    () => '',
    `${WITNESSES}${W3.line.replace('w3 ', 'w1 ')}\nquorum w1\n`,
    'the policy is none',
  ],
  [
    'a witness named none',
    () => '',
    `${W1.line.replace('w1 ', 'none ')}\nquorum none\n`,
    'the policy is none',
  ],
  ['two quorums', () => '', `${WITNESSES}quorum w1\nquorum w1\n`, 'the policy is none'],
  ['a quorum of two', () => '', `${WITNESSES}quorum w1 w2\n`, 'the policy is none'],
  ['another address', () => '', `${W1.line} ftp://w1.example\nquorum w1\n`, 'the policy is none'],
  ['two addresses', () => '', `${W1.line} https://a https://b\nquorum w1\n`, 'the policy is none'],
  ['control characters', () => '', `${WITNESSES}quorum w1\r\n`, 'the policy is none'],
  ['a space of another kind', () => '', `${WITNESSES}quorum\u00a0w1\n`, 'the policy is none'],
  ['a broken key of a log', () => '', `log ${W1.line.split(' ')[2]}\nquorum none\n`, 'the policy is none'],
  ['a policy without a quorum', () => '', WITNESSES, 'the policy is none'],
  ['a policy with another word', () => '', 'witnes a\nquorum none\n', 'the policy is none'],
  ['a policy with a broken key', () => '', TWO.replace('+B', '+C'), 'the policy is none'],
] as const)(
  'it refuses %s, in one sentence',
  { skip: !hasPython },
  async ([, lines, policy, reason], { proof, run }) => {
    const { exit, text } = await run(proof.text + lines(proof.head), policy);
    expect(exit).toBe(1);
    expect(text).toMatch(/^Not proven\. [^\n]*\.\n$/);
    expect(text).toContain(reason);
  },
);

const ACCEPTED = `import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("verify_proof", sys.argv[1])
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
def accepts(policy):
    try: return bool(script.parse_policy(policy))
    except (ValueError, LookupError): return False
print(json.dumps([accepts(policy) for policy in json.load(open(sys.argv[2]))]))`;

test.skipIf(!hasPython)(
  'the script and `annals audit check` accept the same addresses in a policy',
  async ({ folder }) => {
    const addresses = [...ADDRESSES.right, ...ADDRESSES.wrong];
    const policies = addresses.map((address) => `${W1.line} ${address}\nquorum w1\n`);
    const ours = policies.map((policy) => {
      try {
        return parsePolicy(policy).witnesses.length === 1;
      } catch {
        return false;
      }
    });
    expect(ours).toEqual(addresses.map((_, index) => index < ADDRESSES.right.length));
    const path = join(folder, 'policies.json');
    await writeFile(path, JSON.stringify(policies));
    const { stdout } = await promisify(execFile)('python3', ['-c', ACCEPTED, SCRIPT, path]);
    const accepted = JSON.parse(stdout) as readonly boolean[];
    expect(addresses.filter((_, index) => accepted[index] !== ours[index])).toEqual([]);
  },
);
