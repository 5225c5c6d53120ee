import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { policyLineOf } from '../../proof/tree/policy.ts';
import { openWitnessStore } from '../../proof/witness/store.ts';
import { makeKeyFile, readKeyFile } from '../../proof/witness/witness-keys.ts';
import { startWitnessServer } from '../../proof/witness/witness-server.ts';

type TestWitness = AsyncDisposable & {
  readonly url: string;
  /** For a policy: by its Ed25519 key, or by both. */
  line(name: string, algorithm?: 'Ed25519' | 'ML-DSA-44'): string;
  knows(origin: string, vkey: string): void;
  sizeOf(origin: string): number | undefined;
  /** Like a crash: what it has stored stays. */
  stop(): Promise<void>;
  restart(): Promise<void>;
};

/** A witness of Annals on the loopback address, with its file in this folder. */
export const startTestWitness = async (folder: string, name: string): Promise<TestWitness> => {
  const cosigners = readKeyFile(makeKeyFile(name)) ?? [];
  const path = join(folder, `${name.replaceAll(/\W/g, '-')}.db`);
  const start = async (port: number) => {
    const store = openWitnessStore(path);
    const server = await startWitnessServer({
      ...{ store, cosigners, clock: REAL_TIME, requestsPerSecond: 1_000 },
      listener: { host: '127.0.0.1', port },
      onFailure: (error) => console.error(error),
    });
    return { store, server, url: server.url };
  };
  let running: Awaited<ReturnType<typeof start>> | undefined = await start(0);
  const { url } = running;
  const stop = async () => {
    const stopped = running;
    running = undefined;
    await stopped?.server[Symbol.asyncDispose]();
    stopped?.store[Symbol.dispose]();
  };
  return {
    url,
    line(witness, algorithm = 'Ed25519') {
      const key = cosigners.map((each) => each.key).find((each) => each.algorithm === algorithm);
      if (key === undefined) throw new Error(`there is no key for ${algorithm}`);
      return policyLineOf({ name: witness, key, url });
    },
    knows: (origin, vkey) =>
      running?.store.addKey(origin, vkey, createHash('sha256').update(origin).digest('hex')),
    sizeOf: (origin) => running?.store.find(origin)?.head.size,
    stop,
    async restart() {
      await stop();
      running = await start(Number(new URL(url).port));
    },
    [Symbol.asyncDispose]: stop,
  };
};
