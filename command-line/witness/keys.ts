import { writeFile } from 'node:fs/promises';
import { fileFailure, PRIVATE_FILE } from '#shared/folder.ts';
import type { Cosigner } from '../../proof/witness/witness-keys.ts';
import type { Command } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import type { Terminal } from '../terminal.ts';
import { cosignersOf, KEY, keyPathOf } from './opened.ts';

export const witnessInit: Command = {
  name: 'witness init',
  summary:
    'Makes the keys of a new witness, one of Ed25519 and one of ML-DSA-44, and prints their public parts.',
  positionals: [],
  options: {
    name: {
      type: 'string',
      placeholder: '<name>',
      description: 'The name in its cosignatures: a URL without https://, which nobody needs to reach.',
    },
    ...KEY,
  },
  examples: ['witness init --name witness.example/w1 --key witness-keys.json'],
  async run(given, terminal) {
    const { isWitnessName, makeKeyFile } = await import('../../proof/witness/witness-keys.ts');
    const [name = ''] = given.values.get('name') ?? [];
    if (!isWitnessName(name))
      throw new UsageError('--name must be a name without spaces and “+”, such as witness.example/w1');
    const path = keyPathOf(given);
    try {
      await writeFile(path, makeKeyFile(name), { flag: 'wx', mode: PRIVATE_FILE });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST')
        throw new UsageError(`${path} exists; a witness keeps its keys`);
      throw new UsageError(fileFailure(error) ?? `This Node cannot make the keys: ${String(error)}`);
    }
    await printKeys(await cosignersOf(given), terminal);
  },
};

export const witnessKeys: Command = {
  name: 'witness keys',
  summary: 'Prints the public keys of the witness, which those who trust it write into their policies.',
  positionals: [],
  options: KEY,
  examples: ['witness keys --key witness-keys.json'],
  run: async (given, terminal) => printKeys(await cosignersOf(given), terminal),
};

const printKeys = async (cosigners: readonly Cosigner[], terminal: Terminal): Promise<void> => {
  const { vkeysOf } = await import('../../proof/witness/witness-keys.ts');
  for (const vkey of vkeysOf(cosigners)) await terminal.write(vkey);
};
