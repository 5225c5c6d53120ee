import { fork } from 'node:child_process';
import { once } from 'node:events';
import { stop } from '../processes.ts';

/** A process that does one thing a number of times, and reports its rate per second. */
export type Peer = AsyncDisposable & { run(count: number): Promise<number> };

export const startPeer = (module: string, args: readonly string[]): Peer => {
  const child = fork(new URL(module, import.meta.url), args, { execArgv: [] });
  const failed = once(child, 'exit').then(() => Promise.reject(new Error(`${module} has ended`)));
  failed.catch(() => {});
  return {
    async run(count) {
      child.send(count);
      const [rate] = await Promise.race([once(child, 'message'), failed]);
      return Number(rate);
    },
    [Symbol.asyncDispose]: () => stop(child),
  };
};
