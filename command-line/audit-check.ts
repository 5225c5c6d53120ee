import { readFile, stat } from 'node:fs/promises';
import * as z from 'zod';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { fileFailure } from '#shared/folder.ts';
import { parseVerifierKey } from '../proof/tree/note.ts';
import { type Policy, PolicyWrong, parsePolicy } from '../proof/tree/policy.ts';
import { type Checked, checkProof, type TrustedKey } from '../proof/tree/proof-file.ts';
import type { Command, Given } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { harmless } from './output/print-event.ts';

export const auditCheck: Command = {
  name: 'audit check',
  summary:
    'Checks the proof of an event in a file, with nothing but a key: no database, no server. Exit codes: 0 proven, 1 not proven.',
  positionals: ['<file>'],
  options: {
    key: {
      type: 'string',
      multiple: true,
      placeholder: '<vkey>',
      description: 'A key of the log, as `vkey` in GET /audit/keys; may be given several times.',
    },
    keys: {
      type: 'string',
      placeholder: '<file>',
      description: 'The keys of the log: what GET /audit/keys returned, or keys.jsonl of AUDIT_DIR.',
    },
    policy: {
      type: 'string',
      placeholder: '<file>',
      description:
        'Which witnesses must have cosigned the checkpoint (C2SP tlog-policy). Its logs are keys too.',
    },
    json: { type: 'boolean', description: 'Prints the event, its place and the checkpoint as JSON.' },
  },
  examples: [
    'audit check event.tlog-proof --keys keys.json',
    'audit check event.tlog-proof --key annals/6f96…+0a1b2c3d+AR…',
    'audit check event.tlog-proof --keys keys.json --policy witnesses.policy',
  ],
  async run(given, terminal) {
    const [path = ''] = given.positionals;
    const policy = await policyIn(given.values.get('policy')?.[0]);
    const keys = [
      ...keysOf(given),
      ...(await keysIn(given.values.get('keys')?.[0])),
      ...(policy?.logs ?? []),
    ];
    if (keys.length === 0)
      throw new UsageError(
        'a proof is worth what its key is worth: give --key or --keys, from a source that you trust',
      );
    const checked = checkProof(await readText(path), keys, policy);
    const lines = given.flags.has('json') ? [JSON.stringify(toJson(checked))] : linesOf(checked, keys);
    for (const line of lines) await terminal.write(harmless(line));
    if (!checked.isProven) throw new StartRefused(`Not proven. ${checked.reason}`, { exitCode: NOT_PROVEN });
  },
};

const NOT_PROVEN = 1;

const keysOf = ({ values }: Given): readonly TrustedKey[] =>
  (values.get('key') ?? []).map((text) => {
    const key = parseVerifierKey(text);
    if (key === undefined) throw new UsageError(`--key must be a key such as ${EXAMPLE}, but is “${text}”`);
    return key;
  });

const EXAMPLE = 'annals/6f9619ff-8b86-4011-b42d-00c04fc964ff+0a1b2c3d+AR…';

const PUBLIC_KEY = z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.base64url() });
const KEY_SET = z.looseObject({ keys: z.array(PUBLIC_KEY.extend({ vkey: z.string().optional() })) });
const KEY_LINE = z.looseObject({ publicKey: PUBLIC_KEY });

/** Those of a set, or one on each line, which has no name. */
const keysIn = async (path: string | undefined): Promise<readonly TrustedKey[]> => {
  if (path === undefined) return [];
  const text = await readText(path);
  const set = KEY_SET.safeParse(jsonIn(text));
  const found = set.success
    ? set.data.keys.map(keyOfSet)
    : text.split('\n').filter(isNotEmpty).map(keyOfLine);
  if (!found.every((key) => key !== undefined) || found.length === 0)
    throw new UsageError(`${path} has no keys: it is neither the answer of GET /audit/keys nor keys.jsonl`);
  return found;
};

const isNotEmpty = (line: string): boolean => line !== '';

const keyOfSet = ({ x, vkey }: z.infer<typeof KEY_SET>['keys'][number]): TrustedKey =>
  (vkey === undefined ? undefined : parseVerifierKey(vkey)) ?? bare(x);

const keyOfLine = (line: string): TrustedKey | undefined => {
  const key = KEY_LINE.safeParse(jsonIn(line)).data?.publicKey;
  return key && bare(key.x);
};

const bare = (x: string): TrustedKey => ({ publicKey: Buffer.from(x, 'base64url') });

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const policyIn = async (path: string | undefined): Promise<Policy | undefined> => {
  if (path === undefined) return undefined;
  const text = await readText(path);
  try {
    return parsePolicy(text);
  } catch (error) {
    throw error instanceof PolicyWrong ? new UsageError(`${path}: ${error.message}`) : error;
  }
};

/** No event is larger. */
const BYTES_MAX = 64 * 1_048_576;

const readText = async (path: string): Promise<string> => {
  try {
    if ((await stat(path)).size > BYTES_MAX)
      throw new UsageError(`${path} is too large for a proof or a key`);
    return await readFile(path, 'utf8');
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(fileFailure(error) ?? String(error));
  }
};

const linesOf = (checked: Checked, keys: readonly TrustedKey[]): readonly string[] => {
  if (!checked.isProven) return [];
  const { event, index, checkpoint, witnessed, foreign } = checked;
  const { at, actor } = event.metadata;
  return [
    `Proven: the log ${checkpoint.origin} has this event, in place ${index + 1} of ${checkpoint.size}.`,
    `${event.type}, version ${event.version} of ${event.stream}, ${event.id}`,
    `Recorded at ${String(at)} by ${String(actor)}, as the log says.`,
    JSON.stringify(event.data),
    ...(witnessed?.cosigned.map(({ name, key, at: time }) => `Witnessed by ${name} (${key}) at ${time}.`) ??
      []),
    ...(witnessed?.by ? [`So the log had this event at ${witnessed.by} at the latest.`] : []),
    ...(witnessed === undefined && foreign.length > 0
      ? [`${foreign.join(', ')} have signed the checkpoint too: --policy says whom you trust.`]
      : []),
    ...(keys.some(({ name }) => name === undefined)
      ? ['The keys name no log: compare the name above with that of the log that you mean.']
      : []),
  ];
};

const toJson = (checked: Checked) => {
  if (!checked.isProven) return checked;
  const { event, index, checkpoint, witnessed } = checked;
  const { origin, size, root } = checkpoint;
  const head = { origin, size, root: root.toString('base64') };
  return { isProven: true, event, index, checkpoint: head, ...(witnessed && { witnessed }) };
};
