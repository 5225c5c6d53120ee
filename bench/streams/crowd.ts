import { fork } from 'node:child_process';
import { once } from 'node:events';
import { stop } from '../processes.ts';
import type { Instruction, Report } from './listeners.ts';

export type StreamRequest = {
  readonly origin: string;
  /** The request line and headers, each with its line end. */
  readonly head: string;
  readonly body: string;
  /** A second request, for servers that stream nothing before it; `CLIENT` is replaced in its body. */
  readonly second?: { readonly url: string; readonly body: string };
};

type Received = Extract<Report, { kind: 'all' }>;

/** The subscribers of one server, all in one process. */
export type Crowd = AsyncDisposable & {
  resize(tokens: readonly string[]): Promise<void>;
  /** The inner promise resolves with the last message. */
  expect(messages: number): Promise<{ readonly received: Promise<Received> }>;
  /** The counts since the last call; throws if some subscribers have received less than others. */
  counts(): Promise<{ readonly messages: number; readonly bytes: number }>;
};

const RECEIVED_WITHIN_MS = 60_000;

export const gatherCrowd = ({ origin, head, body, second }: StreamRequest): Crowd => {
  const child = fork(new URL('./listeners.ts', import.meta.url), { execArgv: [] });
  const waiting = new Map<Report['kind'], PromiseWithResolvers<Report>>();
  let failure: Error | undefined;
  const fail = (reason: string): void => {
    failure ??= new Error(reason);
    for (const { reject } of waiting.values()) reject(failure);
  };
  child.on('message', (report: Report) => {
    if (report.kind === 'failed') fail(report.reason);
    waiting.get(report.kind)?.resolve(report);
  });
  child.once('exit', () => fail('the subscribers have ended'));
  const next = <Kind extends Report['kind']>(kind: Kind) => {
    const awaited = Promise.withResolvers<Report>();
    waiting.set(kind, awaited);
    if (failure) awaited.reject(failure);
    return awaited.promise as Promise<Extract<Report, { kind: Kind }>>;
  };
  const give = (instruction: Instruction): void => void child.send(instruction);
  return {
    async resize(tokens) {
      const connected = next('connected');
      give({ kind: 'connect', origin, head, body, tokens, ...(second && { second }) });
      await connected;
    },
    async expect(messages) {
      const [expecting, all] = [next('expecting'), next('all')];
      all.catch(() => {});
      give({ kind: 'expect', messages });
      await expecting;
      return { received: inTime(all, `of ${messages} messages not all arrived from ${origin}`) };
    },
    async counts() {
      const counted = next('counts');
      give({ kind: 'count' });
      const { least, most, messages, bytes } = await counted;
      if (least !== most) throw new Error(`some have received ${least} messages and others ${most}`);
      return { messages, bytes };
    },
    async [Symbol.asyncDispose]() {
      child.removeAllListeners('exit');
      const closed = once(child, 'disconnect').catch(() => {});
      await stop(child);
      await closed;
    },
  };
};

const inTime = async <Value>(value: Promise<Value>, reason: string): Promise<Value> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(reason)), RECEIVED_WITHIN_MS);
  return Promise.race([value, late.promise]).finally(() => clearTimeout(timer));
};
