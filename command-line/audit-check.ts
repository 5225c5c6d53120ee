import { readFile, stat } from 'node:fs/promises';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { fileFailure } from '#shared/folder.ts';
import { byPolicy } from '../proof/tree/check-cosignatures.ts';
import { checkFile } from '../proof/tree/check-file.ts';
import { checkCheckpoint } from '../proof/tree/consistency-file.ts';
import { parseVerifierKey } from '../proof/tree/note.ts';
import { type Policy, PolicyWrong, parsePolicy } from '../proof/tree/policy.ts';
import type { TrustedKey } from '../proof/tree/signatures.ts';
import { parseKeys } from '../proof/tree/trusted-keys.ts';
import type { Command, Given } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { certificatesOf, withStamp } from './check-time.ts';
import { harmless } from './output/print-event.ts';

export const auditCheck: Command = {
  name: 'audit check',
  summary:
    'Checks the proof of an event or an item in a file, with nothing but a key: no database, no server. With --since, whether the log only grew since a checkpoint that you have kept. Exit codes: 0 proven, 1 not proven.',
  positionals: ['<file>'],
  options: {
    since: {
      type: 'string',
      placeholder: '<file>',
      description:
        'A checkpoint that you have kept. <file> is then the address of the log, such as https://example.com/audit/log, or what /audit/log/consistency returned.',
    },
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
    'tsa-cert': {
      type: 'string',
      placeholder: '<file>',
      description: 'The certificate of the authority that has stamped the checkpoint with the time, in PEM.',
    },
    json: { type: 'boolean', description: 'Prints the event, its place and the checkpoint as JSON.' },
  },
  examples: [
    'audit check event.tlog-proof --keys keys.json',
    'audit check event.tlog-proof --key annals/6f96…+0a1b2c3d+AR…',
    'audit check event.tlog-proof --keys keys.json --policy witnesses.policy',
    'audit check https://example.com/audit/log --since kept.checkpoint --keys keys.json',
    'audit check event.tlog-proof --keys keys.json --tsa-cert tsa.pem',
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
    const [since] = given.values.get('since') ?? [];
    const kept = since === undefined ? undefined : await readText(since);
    const [certificatePath] = given.values.get('tsa-cert') ?? [];
    const certificates = certificatePath && certificatesOf(certificatePath, await readText(certificatePath));
    const text = isAddress(path) ? await askLog(path, kept, keys) : await readText(path);
    const checked = checkFile(text, keys, { kept, cosignatures: policy && byPolicy(policy) });
    const { isProven, sentence, details, remarks, json } =
      checked.isProven && certificates ? withStamp(checked, certificates) : checked;
    const lines = given.flags.has('json')
      ? [JSON.stringify(json)]
      : isProven
        ? [`Proven: ${sentence}`, ...details, ...remarks, ...remarkOn(keys)]
        : [];
    for (const line of lines) await terminal.write(harmless(line));
    if (!isProven) throw new StartRefused(`Not proven. ${sentence}`, { exitCode: NOT_PROVEN });
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

const keysIn = async (path: string | undefined): Promise<readonly TrustedKey[]> => {
  if (path === undefined) return [];
  const found = parseKeys(await readText(path));
  if (found === undefined)
    throw new UsageError(`${path} has no keys: it is neither the answer of GET /audit/keys nor keys.jsonl`);
  return found;
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

const remarkOn = (keys: readonly TrustedKey[]): readonly string[] =>
  keys.some(({ name }) => name === undefined)
    ? ['The keys name no log: compare the name above with that of the log that you mean.']
    : [];

const isAddress = (text: string): boolean => /^https?:\/\//.test(text);

const TIMEOUT_MS = 15_000;
/** With the cosignatures of hundreds of witnesses. */
const CHECKPOINT_BYTES_MAX = 1_048_576;

/** The proof that the log has grown from the kept checkpoint, or its newest checkpoint if that is as old. */
const askLog = async (
  address: string,
  kept: string | undefined,
  keys: readonly TrustedKey[],
): Promise<string> => {
  if (kept === undefined)
    throw new UsageError('an address is only asked with --since: give a checkpoint that you have kept');
  const older = checkCheckpoint(kept, keys);
  const size = older.isProven ? older.checkpoint.size : 0;
  const log = address.replace(/\/+$/, '');
  const newest = await fetchText(`${log}/checkpoint`, CHECKPOINT_BYTES_MAX);
  const newer = checkCheckpoint(newest, keys);
  // The check says what is wrong with either of them.
  if (!newer.isProven || size === 0 || newer.checkpoint.size <= size) return newest;
  return fetchText(`${log}/consistency?from=${size}`, BYTES_MAX);
};

const fetchText = async (url: string, bytesMax: number): Promise<string> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new UsageError(`${url} answers ${response.status}: it is no address of a log`);
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of response.body ?? []) {
      bytes += part.length;
      if (bytes > bytesMax) throw new UsageError(`${url} answers with too much: it is no address of a log`);
      parts.push(part);
    }
    return Buffer.concat(parts).toString();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${url} does not answer: ${error instanceof Error ? error.message : error}`);
  }
};
