import { StartRefused } from '#kernel/base/start-refused.ts';
import type { WitnessStore } from '../../proof/witness/store.ts';
import { type Command, numberOf } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { cosignersOf, DATA, KEY, storeOf } from './opened.ts';

const LISTEN = '127.0.0.1:7380';
const RATE = 50;
const RATE_MAX = 1_000_000;

export const witness: Command = {
  name: 'witness',
  summary:
    'Serves a witness of logs (C2SP tlog-witness): it cosigns a head that has grown from the one before, and never two that contradict each other.',
  positionals: [],
  options: {
    listen: {
      type: 'string',
      placeholder: '<address:port>',
      description: `Where it listens for HTTP; default ${LISTEN}.`,
    },
    ...DATA,
    ...KEY,
    'requests-per-second': {
      type: 'string',
      placeholder: '<number>',
      description: `How often one address may ask; default ${RATE}.`,
    },
  },
  examples: [
    'witness init --name witness.example/w1',
    'witness --listen 127.0.0.1:7380 --data witness.db --key witness-keys.json',
  ],
  async run(given, terminal) {
    const cosigners = await cosignersOf(given);
    const requestsPerSecond =
      numberOf(given, 'requests-per-second', { minimum: 1, maximum: RATE_MAX }) ?? RATE;
    const listener = listenerOf(given.values.get('listen')?.[0] ?? LISTEN);
    using store = await storeOf(given);
    const { startWitnessServer } = await import('../../proof/witness/witness-server.ts');
    const { clock, signal } = terminal;
    const onFailure = (error: unknown) => terminal.complain(`A request has failed: ${String(error)}`);
    await using server = await startWitnessServer({
      ...{ store, cosigners, listener, requestsPerSecond, clock, onFailure },
    }).catch((error: unknown) => {
      throw new StartRefused(`The witness cannot listen there: ${(error as Error).message}`, {
        cause: error,
      });
    });
    await terminal.write(
      `The witness ${cosigners[0]?.key.name} of ${countOf(store)} listens on ${server.url}`,
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (!signal.aborted) await promise;
  },
};

const countOf = (store: WitnessStore): string => {
  const { length } = store.list();
  return length === 1 ? '1 log' : `${length} logs`;
};

const ADDRESS = /^(?:\[(?<six>[\da-fA-F:.]+)\]|(?<four>[\w.-]+)):(?<port>\d{1,5})$/;
const PORT_MAX = 65_535;

const listenerOf = (text: string) => {
  const { six, four, port } = ADDRESS.exec(text)?.groups ?? {};
  const host = six ?? four;
  if (host === undefined || Number(port) > PORT_MAX)
    throw new UsageError(`--listen must be an address and a port such as ${LISTEN}, but is “${text}”`);
  return { host, port: Number(port) };
};
