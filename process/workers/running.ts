import cluster from 'node:cluster';
import { type Answers, type Channel, openChannel } from './channel.ts';
import { type OfPrimary, type OfWorker, WORKER_IS_FIRST, WORKER_NAME } from './protocol.ts';

export type Ended = { readonly exitCode: number; readonly signal: string | null };

/** A worker process, from its start to its end. */
export type Running = {
  readonly pid: number;
  readonly channel: Channel<OfWorker>;
  /** Resolves once it is ready, or to undefined if it ends before. */
  readonly ready: Promise<Ready | undefined>;
  readonly ended: Promise<Ended>;
  stop(asked: OfWorker['stop']['asked']): void;
  kill(): void;
};

export type Ready = OfPrimary['ready']['asked'];
export type Asked = Omit<Answers<OfPrimary>, 'ready'>;

type Starting = {
  readonly name: string;
  readonly isFirst: boolean;
  /** In addition to the environment of this process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly answers: Asked;
};

export const runWorker = ({ name, isFirst, environment, answers }: Starting): Running => {
  const worker = cluster.fork({
    ...environment,
    [WORKER_NAME]: name,
    [WORKER_IS_FIRST]: isFirst ? 'yes' : 'no',
  });
  const { promise: ready, resolve: isReady } = Promise.withResolvers<Ready | undefined>();
  const { promise: ended, resolve: hasEnded } = Promise.withResolvers<Ended>();
  const dropped = dropLostConnections(worker.process);
  worker.on('exit', (exitCode, signal) => {
    dropped();
    isReady(undefined);
    hasEnded({ exitCode, signal });
  });
  // Emitted if the channel closes during a write; the end of the worker is handled elsewhere.
  worker.on('error', () => {});
  const channel = openChannel<OfPrimary, OfWorker>(worker, {
    ...answers,
    ready(address) {
      isReady(address);
      return undefined;
    },
  });
  const kill = () => void worker.process.kill('SIGKILL');
  return {
    pid: worker.process.pid ?? 0,
    channel,
    ready,
    ended,
    stop: (asked) => void channel.ask('stop', asked).catch(() => {}),
    kill,
  };
};

type Handed = { close?: () => void } | undefined;

/**
 * Node hands connections to a worker one by one, the next when the worker has taken the last. A connection
 * that a killed worker has not taken would stay open, and its client wait for ever; closing it makes the
 * client retry.
 */
const dropLostConnections = (child: { send: (...args: never[]) => boolean }): (() => void) => {
  const send = child.send as (...args: unknown[]) => boolean;
  let last: Handed;
  child.send = (...args: unknown[]) => {
    if (args[1] !== undefined && typeof args[1] !== 'function') last = args[1] as Handed;
    return send.apply(child, args);
  };
  return () => last?.close?.();
};
