import type { Secure } from './access.ts';
import type { Engine, SubscriptionEnd } from './engine.ts';
import { entranceTo } from './entrance.ts';
import { type Faults, newFaults } from './faults.ts';
import { newGate } from './gate.ts';
import { grpcServerOf } from './grpc.ts';
import { openJournal, slowJournal } from './journal.ts';
import { type Log, openLog } from './log.ts';
import type { Member, NodeState } from './node.ts';
import { type ProductOptions, productOf } from './product.ts';
import type { NewEvent } from './records.ts';
import { viewOf } from './view.ts';

type NodeOptions = ProductOptions & {
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  /** Its address in gossip, if it differs. */
  readonly advertised?: number | undefined;
  /** The maximum lag of a live subscription, in messages, before it is dropped as too slow. */
  readonly liveLagMax?: number | undefined;
  /** Makes it a secure server, with this certificate and users. */
  readonly secure?: Secure | undefined;
};

export type StandInOptions = NodeOptions & {
  /** The file that keeps the log across processes; without one it is in memory. */
  readonly journal?: string;
  /** Without a file: an append is stored, and answered, after this time. A real server takes some 3 ms. */
  readonly appendMs?: number | undefined;
};

export type EventStoreStandIn = AsyncDisposable & {
  readonly port: number;
  readonly address: string;
  readonly faults: Faults;
  /** Like a kill: connections are reset at once, the port refuses; stored data stays. */
  stop(): Promise<void>;
  /** On the same port with the same log; stops first if needed. */
  restart(): Promise<void>;
  /** Resets every connection at once and continues to listen. Returns how many there were. */
  dropConnections(): number;
  /** Accepts and answers nothing until `resume`, like a stopped process; pings are answered, though. */
  pause(): void;
  resume(): void;
  /** From now on its gossip has this state, and it accepts or refuses appends accordingly. */
  become(state: NodeState): void;
  /**
   * A leader that clients reach and the other nodes do not: it goes on as leader, and refuses appends. Lasts
   * until it becomes something else.
   */
  isolate(): void;
  /** Removes the records that nobody can read from their streams any more, from `$all` as well. */
  scavenge(): void;
  /** Appends to a stream like a client of the former TCP protocol. */
  appendInTransaction(stream: string, events: readonly NewEvent[]): void;
  /** As the others of its cluster know it. */
  member(): Member;
  /** Shows no more than the current records, minus `less`, however much the others have. */
  lag(less?: number): void;
  /** Shows so many more events, like a restarted node with events that had no majority. */
  standAlone(events: number): void;
  /** Shows what the others have: it has caught up, and truncated its own events. */
  catchUp(): void;
  /** Where the last filtered page of `$all` began. */
  searched(): number;
  /** The number of calls with appends that were started: each client has one. */
  appendCalls(): number;
  liveSubscriptions(): number;
  /** Ends every live subscription at once. Returns how many there were. */
  endSubscriptions(how: SubscriptionEnd): number;
};

const LIVE_LAG_MAX = 256;

/** An EventStoreDB for tests, checked against recorded answers of a real one, with faults on request. */
export const startEventStoreStandIn = async ({
  journal,
  appendMs,
  ...options
}: StandInOptions = {}): Promise<EventStoreStandIn> => {
  const slow = appendMs === undefined ? undefined : { journal: slowJournal(appendMs) };
  const log = openLog(journal === undefined ? slow : await openJournal(journal));
  await log.settled();
  const node: EventStoreStandIn = await startNode(log, () => [node], options);
  const dispose = async (): Promise<void> => {
    await node[Symbol.asyncDispose]();
    await log.close();
  };
  return { ...node, [Symbol.asyncDispose]: dispose };
};

/** A node on a log that it may share with others. */
export const startNode = async (
  whole: Log,
  cluster: () => readonly Pick<EventStoreStandIn, 'member'>[],
  { port = 0, advertised, liveLagMax = LIVE_LAG_MAX, secure, ...settings }: NodeOptions = {},
): Promise<EventStoreStandIn> => {
  const view = viewOf(whole);
  const engine: Engine = {
    get log() {
      return view.log();
    },
    ...{
      faults: newFaults(),
      gate: newGate(),
      appendCalls: { count: 0 },
      searched: { from: 0 },
      liveSubscriptions: new Set(),
      liveLagMax,
      product: productOf(settings),
      secure,
    },
    node: { state: 'leader', isIsolated: false, members: () => cluster().map((node) => seen(node.member())) },
  };
  const ownPort = () => advertised ?? bound;
  const seen = (other: Member): Member =>
    engine.node.isIsolated ? { ...other, isAlive: other.port === ownPort() } : other;
  const grpc = grpcServerOf(engine);
  const entrance = entranceTo(grpc.injectConnection);
  const bound = await entrance.open(port);
  return {
    port: bound,
    address: `esdb://127.0.0.1:${bound}${secure ? '' : '?tls=false'}`,
    faults: engine.faults,
    stop: entrance.close,
    async restart() {
      await entrance.close();
      await entrance.open(bound);
    },
    dropConnections: entrance.drop,
    pause: engine.gate.close,
    resume: engine.gate.open,
    become(state) {
      Object.assign(engine.node, { state, isIsolated: false });
    },
    isolate() {
      engine.node.isIsolated = true;
    },
    scavenge: whole.scavenge,
    appendInTransaction: whole.appendInTransaction,
    member: () => ({
      port: ownPort(),
      state: engine.node.state,
      isAlive: entrance.isOpen() && !engine.node.isIsolated,
    }),
    lag: view.lag,
    standAlone: view.standAlone,
    catchUp: view.catchUp,
    searched: () => engine.searched.from,
    appendCalls: () => engine.appendCalls.count,
    liveSubscriptions: () => engine.liveSubscriptions.size,
    endSubscriptions(how) {
      const ended = [...engine.liveSubscriptions];
      for (const subscription of ended) subscription.end(how);
      return ended.length;
    },
    async [Symbol.asyncDispose]() {
      await entrance.close();
      grpc.shutdown();
    },
  };
};
