import { createHash } from 'node:crypto';
import { parseWitnessKey } from '../../proof/tree/cosignature.ts';
import { parseTypedKey, parseVerifierKey } from '../../proof/tree/note.ts';
import type { Command, Given } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { DATA, storeOf } from './opened.ts';

const ORIGIN = {
  origin: {
    type: 'string',
    placeholder: '<name>',
    description: 'The first line of its checkpoints, if it is not the name of the key.',
  },
} as const;

export const witnessAdd: Command = {
  name: 'witness add',
  summary: 'Adds a log by one of its keys, or a further key of it; the witness need not be restarted.',
  positionals: ['<vkey>'],
  options: { ...ORIGIN, ...DATA },
  examples: ["witness add 'annals/6f96…+0a1b2c3d+AR…'"],
  async run(given, terminal) {
    const { vkey, origin } = logOf(given);
    using store = await storeOf(given);
    store.addKey(origin, vkey, createHash('sha256').update(origin).digest('hex'));
    await terminal.write(`The witness cosigns heads of ${origin} that this key has signed.`);
  },
};

export const witnessRemove: Command = {
  name: 'witness remove',
  summary:
    'Removes a key of a log. Without a key, nothing of the log is cosigned; its last head is remembered.',
  positionals: ['<vkey>'],
  options: { ...ORIGIN, ...DATA },
  examples: ["witness remove 'annals/6f96…+0a1b2c3d+AR…'"],
  async run(given, terminal) {
    const { vkey, origin } = logOf(given);
    using store = await storeOf(given);
    if (!store.removeKey(origin, vkey)) throw new UsageError(`the witness has no such key of ${origin}`);
    await terminal.write(`The witness cosigns nothing of ${origin} that only this key has signed.`);
  },
};

export const witnessLogs: Command = {
  name: 'witness logs',
  summary: 'Lists the logs of the witness, with the size of the newest head that it has cosigned.',
  positionals: [],
  options: { ...DATA, json: { type: 'boolean', description: 'Prints one JSON document for each log.' } },
  examples: ['witness logs --json'],
  async run(given, terminal) {
    using store = await storeOf(given);
    for (const { origin, keys, head } of store.list()) {
      const { size } = head;
      const line = given.flags.has('json')
        ? JSON.stringify({ origin, size, root: head.root.toString('base64'), keys })
        : `${origin}  ${size}  ${keys.length === 1 ? '1 key' : `${keys.length} keys`}`;
      await terminal.write(line);
    }
  },
};

const logOf = (given: Given): { readonly vkey: string; readonly origin: string } => {
  const [vkey = ''] = given.positionals;
  const name = parseTypedKey(vkey)?.name;
  if (name === undefined || (parseVerifierKey(vkey) ?? parseWitnessKey(vkey)) === undefined)
    throw new UsageError(`the key must be one of a log, as \`vkey\` in GET /audit/keys, but is “${vkey}”`);
  return { vkey: vkey.trim(), origin: given.values.get('origin')?.[0] ?? name };
};
