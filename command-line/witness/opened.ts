import { readFile } from 'node:fs/promises';
import { fileFailure } from '#shared/folder.ts';
import type { WitnessStore } from '../../proof/witness/store.ts';
import type { Cosigner } from '../../proof/witness/witness-keys.ts';
import type { Given } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';

/** The files of a witness. It is a program of its own: it needs neither an installation nor its database. */

export const DATA = {
  data: {
    type: 'string',
    placeholder: '<file>',
    description: 'Where the witness remembers its logs and their heads; default witness.db.',
  },
} as const;
export const KEY = {
  key: {
    type: 'string',
    placeholder: '<file>',
    description: 'The private keys of the witness, as `witness init` makes them; default witness-keys.json.',
  },
} as const;

export const keyPathOf = ({ values }: Given): string => values.get('key')?.[0] ?? 'witness-keys.json';

export const cosignersOf = async (given: Given): Promise<readonly Cosigner[]> => {
  const { readKeyFile } = await import('../../proof/witness/witness-keys.ts');
  const path = keyPathOf(given);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${fileFailure(error) ?? String(error)} \`witness init\` makes it`);
  });
  const cosigners = readKeyFile(text);
  if (cosigners === undefined)
    throw new UsageError(`${path} has no keys of a witness that this Node can use`);
  return cosigners;
};

export const storeOf = async ({ values }: Given): Promise<WitnessStore> => {
  const path = values.get('data')?.[0] ?? 'witness.db';
  const { openWitnessStore } = await import('../../proof/witness/store.ts');
  try {
    return openWitnessStore(path);
  } catch (error) {
    throw new UsageError(
      fileFailure(error) ?? `${path} is no file of a witness: ${(error as Error).message}`,
    );
  }
};
