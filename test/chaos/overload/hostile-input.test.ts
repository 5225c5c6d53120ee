import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { scaled } from '../../../testing/load.ts';
import { until } from '../../../testing/until.ts';
import { SMUGGLED } from '../../security/hostile-requests.ts';
import { allClosed, head, openMany, type Raw } from './sockets.ts';
import { test } from './target.ts';

const AT_ONCE = 40;
/** For clients that pipeline requests. */
const [CONNECTIONS, REQUESTS] = [10, 1_000];
const MEBIBYTE = 1_048_576;
const HUGE_BYTES = 100 * MEBIBYTE;
const PATIENCE_MS = 60_000;
const TEST_MS = scaled(120_000);
/** Out of gigabytes that are sent, or that the input would expand to. */
const GROWTH_MAX_MIB = 300;

type Input = readonly [name: string, request: () => readonly (string | Buffer)[], status: number];

const JSON_TYPE = 'Content-Type: application/json';
const posted = (body: string | Buffer, ...headers: readonly string[]): readonly Buffer[] => [
  Buffer.from(
    head(
      'POST /graphql',
      JSON_TYPE,
      'Connection: close',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...headers,
    ),
  ),
  Buffer.from(body),
];
const query = (text: string): string => JSON.stringify({ query: text });
const NEST = 100_000;

const INPUTS: readonly Input[] = [
  [
    'a body that says that it is of 100 MiB',
    () => [head('POST /graphql', JSON_TYPE, `Content-Length: ${HUGE_BYTES}`)],
    413,
  ],
  ['JSON of 100,000 levels', () => posted('['.repeat(NEST) + ']'.repeat(NEST)), 413],
  ['JSON of half a million values', () => posted(`[${'1,'.repeat(500_000)}1]`), 413],
  ['a document of 100,000 fields', () => posted(query(`{${'a '.repeat(NEST)}}`)), 200],
  ['a document of 100,000 levels', () => posted(query('{a'.repeat(NEST) + '}'.repeat(NEST))), 200],
  ['a bomb by gzip', () => posted(gzipSync(Buffer.alloc(20 * MEBIBYTE, ' ')), 'Content-Encoding: gzip'), 413],
  ['a path of 100,000 characters', () => [head(`GET /${'x'.repeat(NEST)}`)], 431],
  ['a header of 100,000 characters', () => [head('GET /articles', `X-Long: ${'x'.repeat(NEST)}`)], 431],
  [
    '10,000 headers',
    () => [head('GET /articles', ...Array.from({ length: 10_000 }, (_, index) => `X-${index}: x`))],
    431,
  ],
  ['bytes that are no UTF-8', () => posted(Buffer.from([0x22, 0xff, 0xfe, 0x22])), 400],
  ['a NUL in a name', () => posted('{"query\\u0000":1}'), 400],
  ['half a surrogate pair', () => posted('{"query":"{ user(id: \\"\\ud800\\") { id } }"}'), 200],
  ['10,000 parts', () => parts(10_000), 400],
  ...SMUGGLED.map(
    ([name, lines, body]): Input => [name, () => [head('POST /graphql', JSON_TYPE, ...lines), body], 400],
  ),
];

const parts = (count: number): readonly Buffer[] => {
  const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n';
  const body = `${part.repeat(count)}--x--\r\n`;
  const headers = [
    'Content-Type: multipart/form-data; boundary=x',
    'GraphQL-Require-Preflight: 1',
    'Connection: close',
  ];
  return [Buffer.from(head('POST /graphql', ...headers, `Content-Length: ${body.length}`) + body)];
};

const isPutOff = ({ text }: Raw): boolean => /^HTTP\/1\.1 503 [\s\S]*retry-after: 1\r\n/i.test(text());

const answered = (all: readonly Raw[]) =>
  until(
    () => all.filter(({ statuses, socket }) => statuses().length === 0 && !socket.closed).length,
    (missing) => missing === 0,
    PATIENCE_MS,
  );

test(
  `${AT_ONCE} at once of each kind of huge and malformed input are refused correctly, and leave nothing behind`,
  async ({ target }) => {
    using memory = target.watchMemory();
    const wrong: unknown[] = [];
    for (const [name, request, status] of INPUTS) {
      using many = openMany(target, 0);
      const chunks = request();
      const send = async (count: number): Promise<readonly Raw[]> => {
        const sent = Array.from({ length: count }, () => many.add());
        for (const { socket } of sent) for (const chunk of chunks) socket.write(chunk);
        await answered(sent);
        return sent;
      };
      const all = await send(AT_ONCE);
      // On a slow machine some may be refused for overload; a retry gets the same answer as the others.
      const later = all.some(isPutOff)
        ? await until(
            () => send(1),
            (sent) => !sent.some(isPutOff),
            PATIENCE_MS,
          )
        : [];
      for (const { statuses, text } of [...all.filter((raw) => !isPutOff(raw)), ...later]) {
        const isProblem =
          status === 200 ? text().includes('"errors"') : /problem\+json|"errors"/.test(text());
        if (statuses()[0] !== status || !isProblem) wrong.push([name, status, text().slice(0, 300)]);
      }
    }
    console.log(`hostile input: ${memory.beforeMib} MiB before, at most ${memory.peakMib()} MiB`);
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(memory.peakMib() - memory.beforeMib).toBeLessThan(GROWTH_MAX_MIB);
    await target.recovered();
  },
  TEST_MS,
);

test(
  `${AT_ONCE} chunked bodies of 100 MiB are refused once they are too long`,
  async ({ target }) => {
    using memory = target.watchMemory();
    using many = openMany(target, AT_ONCE);
    const chunk = Buffer.from(`${MEBIBYTE.toString(16)}\r\n${' '.repeat(MEBIBYTE)}\r\n`);
    const send = async ({ socket }: Raw): Promise<void> => {
      socket.write(head('POST /graphql', JSON_TYPE, 'Transfer-Encoding: chunked'));
      for (let sent = 0; sent < HUGE_BYTES && socket.writable; sent += MEBIBYTE) {
        if (!socket.write(chunk))
          await until(
            () => socket.writableNeedDrain && socket.writable,
            (isFull) => !isFull,
            PATIENCE_MS,
          );
      }
    };
    const sending = Promise.all(many.all.map(send));
    await sending;
    await answered(many.all);
    console.log(`bodies without a length: ${memory.beforeMib} MiB before, at most ${memory.peakMib()} MiB`);
    expect(new Set(many.all.map(({ statuses }) => statuses().join()))).toEqual(new Set(['413']));
    expect(memory.peakMib() - memory.beforeMib).toBeLessThan(GROWTH_MAX_MIB);
    await target.recovered();
  },
  TEST_MS,
);

test(
  `${CONNECTIONS} × ${REQUESTS} pipelined requests are all answered`,
  async ({ target }) => {
    using memory = target.watchMemory();
    using many = openMany(target, CONNECTIONS);
    const flood =
      head('GET /articles?limit=1').repeat(REQUESTS - 1) + head('GET /articles?limit=1', 'Connection: close');
    for (const { socket } of many.all) socket.write(flood);
    await allClosed(many, PATIENCE_MS);
    const statuses = many.all.flatMap((raw) => raw.statuses());
    console.log(`pipelines: ${memory.beforeMib} MiB before, at most ${memory.peakMib()} MiB`);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(statuses).toHaveLength(CONNECTIONS * REQUESTS);
    expect(memory.peakMib() - memory.beforeMib).toBeLessThan(GROWTH_MAX_MIB);
    await target.recovered();
  },
  TEST_MS,
);
