import { EventStoreDBClient } from '@eventstore/db-client';
import { StartRefused } from '#shared/process/start-refused.ts';
import { type AppendCall, guardAppendCall } from './append-call.ts';

export type Connection = {
  readonly client: EventStoreDBClient;
  /** The process of the server that has answered the last append: a call that carries appends is never passed on to another. */
  server(): symbol;
  /** Ends what goes on, without an effect on other clients, and closes the connection. */
  close(): Promise<void>;
};

const CLOSE_WITHIN_MS = 1_000;

/** Opens a client; it connects when it is first used. `onAppendCallEnded` hears that the call which carries all appends has ended. */
export const connect = (url: string, onAppendCallEnded: () => void = () => {}): Connection => {
  const client = clientFor(url);
  const internals = internalsOf(client);
  const retired = new AbortController();
  const { GRPCStreamCreator: createCall, getChannel, callArguments, handleError } = internals;
  // Any other node may lag, or at its start show events that it cuts off later. Where it is told who leads, the client goes there.
  internals.callArguments = (options, ofCall) => callArguments({ ...options, requiresLeader: true }, ofCall);
  // It waits for a connection that is being sought, and nobody for it: whoever asked for that connection hears that there is none.
  internals.handleError = (failed, error) => handleError(failed, error).catch(() => {});
  internals.GRPCStreamCreator = (service, name, create, cache) => {
    if (name !== APPEND_CALL) return createCall(service, name, create, cache);
    const createGuarded = (grpc: unknown) => {
      const itsServer = Symbol('a process of EventStoreDB');
      const onAnswer = () => {
        server = itsServer;
      };
      return guardAppendCall(create(grpc), { retired: retired.signal, onAnswer, onEnded: onAppendCallEnded });
    };
    return createCall(service, name, createGuarded, cache);
  };
  let server = Symbol('none yet');
  let channel: Promise<Channel> | undefined;
  internals.getChannel = () => {
    channel = getChannel();
    return channel;
  };
  const close = async (): Promise<void> => {
    retired.abort();
    await client.dispose();
    // Disposing leaves the channel open, and its connection with it.
    await channel?.then(
      (open) => open.close(),
      () => {},
    );
  };
  return { client, server: () => server, close: () => within(CLOSE_WITHIN_MS, close()) };
};

type Channel = { close(): void };

/** What is reached into, because the client offers no other way to keep its faults from the process. */
type Internals = {
  GRPCStreamCreator(service: unknown, name: string, create: (grpc: unknown) => AppendCall, cache: unknown): () => Promise<AppendCall>;
  getChannel(): Promise<Channel>;
  handleError(failed: unknown, error: unknown): Promise<void>;
  /** Of every call, the reading and the appending ones. */
  callArguments(options: object, ofCall?: object): unknown;
};

/** The name that the client gives to the call which carries all its appends. */
const APPEND_CALL = 'appendToStream';

const internalsOf = (client: object): Internals => {
  if (!hasInternals(client))
    throw new StartRefused(
      'this version of @eventstore/db-client is built otherwise than 6.2.1; the guard around its append call must be adapted',
    );
  return client;
};

const hasInternals = (client: object): client is Internals =>
  ['GRPCStreamCreator', 'getChannel', 'callArguments', 'handleError'].every((name) => typeof Reflect.get(client, name) === 'function');

const clientFor = (url: string): EventStoreDBClient => {
  const credentials = CREDENTIALS.exec(url)?.groups?.credentials;
  if (credentials !== undefined && WITHOUT_TLS.test(url))
    throw new StartRefused(
      'EVENT_LOG_URL holds credentials and tls=false, and the client would drop the credentials in silence: remove the one or the other',
    );
  if (credentials !== undefined && credentials.split(':').length > 2)
    throw new StartRefused('the password in EVENT_LOG_URL holds a colon, behind which the client would cut it off: write it as %3A');
  try {
    return EventStoreDBClient.connectionString(url);
  } catch {
    // The client's own message repeats a part of the address, which may hold the password.
    throw new StartRefused(
      'EVENT_LOG_URL is not understood: EventStoreDB addresses look like esdb://user:password@host:2113, esdb://a:2113,b:2113,c:2113 or esdb://host:2113?tls=false',
    );
  }
};

const CREDENTIALS = /^[^:]+:\/\/(?<credentials>[^:]+:[^@]+)@/;
const WITHOUT_TLS = /[?&]tls=\s*false\s*(&|$)/i;

const within = async (timeoutMs: number, work: Promise<void>): Promise<void> => {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  // A client that cannot be closed is left behind: its successor works already, or the process ends.
  await Promise.race([work.catch(() => {}), timedOut]);
  clearTimeout(timer);
};
