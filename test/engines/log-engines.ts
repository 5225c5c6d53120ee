import { startNeighbour } from '../contracts/eventstoredb-neighbour.ts';
import { startEventStoreStandIn } from './eventstoredb/server.ts';

/** An empty event log beside a database, or in it. */
type StartedLog = AsyncDisposable & {
  /** The EVENT_LOG_URL, which a test may change; undefined if the log is in the database. */
  url: string | undefined;
};

export type StartLog = () => Promise<StartedLog>;

export const inTheDatabase: StartLog = async () => ({
  url: undefined,
  [Symbol.asyncDispose]: async () => {},
});

export const inEventStoreDB: StartLog = async () => {
  const standIn = await startEventStoreStandIn();
  return { url: standIn.address, [Symbol.asyncDispose]: () => standIn[Symbol.asyncDispose]() };
};

const besideANeighbour: StartLog = async () => {
  await using starting = new AsyncDisposableStack();
  const standIn = starting.use(await startEventStoreStandIn());
  starting.use(startNeighbour(standIn));
  const resources = starting.move();
  return { url: standIn.address, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** For suites that must pass on every engine. */
export const LOG_ENGINES: readonly (readonly [name: string, start: StartLog])[] = [
  ['PostgreSQL', inTheDatabase],
  ['EventStoreDB, by its stand-in', inEventStoreDB],
];

/** For suites in which other applications on the server must change nothing either. */
export const SHARED_LOG_ENGINES: typeof LOG_ENGINES = [
  ...LOG_ENGINES,
  ['EventStoreDB, by its stand-in, with a neighbour', besideANeighbour],
];
