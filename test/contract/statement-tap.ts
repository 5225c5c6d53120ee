import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A statement as a connection ran it. */
export type Tapped = {
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** The connection keeps it, and its plan from the sixth time on. */
  readonly isNamed: boolean;
  /** The connection's planner settings, the latest last. */
  readonly settings: readonly string[];
};

/** A proxy for PostgreSQL that records the statements. */
type StatementTap = AsyncDisposable & { readonly url: string; readonly tapped: Tapped[] };

export const openStatementTap = async (databaseUrl: string): Promise<StatementTap> => {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const tapped: Tapped[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const note = createNotes(tapped);
    client.on('data', note).pipe(upstream).pipe(client);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket
        .setNoDelay(true)
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    tapped,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

const PLANNING = /\b(plan_cache_mode|jit) = \w+/g;

/** Parses the messages of one connection to the server (PostgreSQL documentation, "Message Formats"). */
const createNotes = (tapped: Tapped[]) => {
  const texts = new Map<string, string>();
  const settings: string[] = [];
  let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  // The first message has no type.
  let typeBytes = 0;
  const take = (type: string, body: Buffer): void => {
    const read = readerOf(body);
    if (type === 'Q') settings.push(...Array.from(read.text().matchAll(PLANNING), ([setting]) => setting));
    if (type === 'P') texts.set(read.text(), read.text());
    if (type !== 'B') return;
    read.text();
    const name = read.text();
    for (let formats = read.int16(); formats > 0; formats -= 1) read.int16();
    const values = Array.from({ length: read.int16() }, () => read.value());
    tapped.push({ text: texts.get(name) ?? '', values, isNamed: name !== '', settings: [...settings] });
  };
  return (chunk: Buffer): void => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= typeBytes + 4 && rest.length >= typeBytes + rest.readInt32BE(typeBytes)) {
      const end = typeBytes + rest.readInt32BE(typeBytes);
      take(rest.toString('latin1', 0, typeBytes), rest.subarray(typeBytes + 4, end));
      rest = rest.subarray(end);
      typeBytes = 1;
    }
  };
};

const readerOf = (body: Buffer) => {
  let at = 0;
  /** Returns the offset of its start. */
  const pass = (bytes: number): number => {
    at += bytes;
    return at - bytes;
  };
  return {
    int16: (): number => body.readInt16BE(pass(2)),
    text(): string {
      const end = body.indexOf(0, at);
      return body.toString('utf8', pass(end + 1 - at), end);
    },
    value(): string | null {
      const length = body.readInt32BE(pass(4));
      return length === -1 ? null : body.toString('utf8', pass(length), at);
    },
  };
};
