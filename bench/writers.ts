import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { ContenderName } from './contenders.ts';
import type { Loaded } from './load.ts';
import { median } from './table.ts';

type Writers = {
  readonly contender: ContenderName;
  readonly url: string;
  readonly writers: number;
  readonly processes: number;
  readonly seconds: number;
};

/** Runs writers for a while, in processes of their own. */
export const runWriters = async ({
  contender,
  url,
  writers,
  processes,
  seconds,
}: Writers): Promise<Loaded> => {
  const children = Array.from({ length: processes }, () =>
    fork(new URL('./writer.ts', import.meta.url), [
      `--contender=${contender}`,
      `--url=${url}`,
      `--writers=${Math.max(1, Math.round(writers / processes))}`,
      `--seconds=${seconds}`,
    ]),
  );
  await Promise.all(children.map(nextMessage));
  const answers = children.map(nextMessage);
  for (const child of children) child.send('go');
  const measured = (await Promise.all(answers)) as Loaded[];
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')));
  return {
    count: measured.reduce((sum, { count }) => sum + count, 0),
    rate: measured.reduce((sum, { rate }) => sum + rate, 0),
    p50Ms: median(measured.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...measured.map(({ p99Ms }) => p99Ms)),
  };
};

/** A child that dies before it answers ends the run. */
const nextMessage = async (child: ChildProcess): Promise<unknown> => {
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`a writer ended with ${code} before it answered`);
    }),
  ]);
  return message;
};
