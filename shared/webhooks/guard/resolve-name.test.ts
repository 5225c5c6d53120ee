import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createNameResolver } from './resolve-name.ts';

const [A, AAAA, SERVER_FAILURE, NAME_ERROR] = [1, 28, 2, 3];
const HEADER_BYTES = 12;

type Records = Readonly<Record<string, { readonly [type: number]: readonly number[] }>>;

/** A name server with a few records. It answers other names with the given code. */
const openNameServer = async (records: Records, other = NAME_ERROR) => {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const labels: string[] = [];
    let at = HEADER_BYTES;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const [name, type, end] = [labels.join('.'), query.readUInt16BE(at + 1), at + 5];
    asked.push(name);
    const data = records[name]?.[type];
    const head = Buffer.alloc(HEADER_BYTES);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (records[name] ? 0 : other), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(data ? 1 : 0, 6);
    // A pointer to the name in the question, the type, the class, a minute, and the address.
    const answer = data
      ? Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data])
      : Buffer.alloc(0);
    socket.send(Buffer.concat([head, query.subarray(HEADER_BYTES, end), answer]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { server: `127.0.0.1:${socket.address().port}`, asked, [Symbol.dispose]: () => void socket.close() };
};

const IPV6 = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];

test('all addresses of a name are found', async () => {
  using names = await openNameServer({
    'both.example': { [A]: [192, 0, 2, 7], [AAAA]: IPV6 },
    'new.example': { [AAAA]: IPV6 },
  });
  const resolve = createNameResolver({ servers: [names.server] });
  expect(await resolve('both.example')).toEqual([
    { address: '192.0.2.7', family: 4 },
    { address: '2001:db8::7', family: 6 },
  ]);
  expect(await resolve('new.example')).toEqual([{ address: '2001:db8::7', family: 6 }]);
});

test('concurrent requests for a name share the answer, and a later one asks again', async () => {
  using names = await openNameServer({ 'one.example': { [A]: [192, 0, 2, 7] } });
  const resolve = createNameResolver({ servers: [names.server] });
  const found = await Promise.all([1, 2, 3].map(() => resolve('one.example')));
  expect(new Set(found).size).toBe(1);
  expect(names.asked.length).toBe(2);
  await resolve('one.example');
  expect(names.asked.length).toBe(4);
});

test('the system resolves names that name servers do not know', async () => {
  using names = await openNameServer({});
  const resolve = createNameResolver({ servers: [names.server] });
  expect((await resolve('localhost')).map(({ address }) => address)).toContain('127.0.0.1');
  await expect(resolve('nowhere.invalid')).rejects.toThrow(/nowhere\.invalid/);
  expect(names.asked).toContain('nowhere.invalid');
});

test('the system is not asked if only name servers may be', async () => {
  using names = await openNameServer({ 'one.example': { [A]: [192, 0, 2, 7] } });
  const resolve = createNameResolver({ servers: [names.server], asksSystem: false });
  expect(await resolve('one.example')).toEqual([{ address: '192.0.2.7', family: 4 }]);
  for (const name of ['localhost', 'nowhere.invalid'])
    await expect(resolve(name)).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

test('a name server that fails is the reason, and the system is not asked', async () => {
  using names = await openNameServer({}, SERVER_FAILURE);
  const resolve = createNameResolver({ servers: [names.server] });
  await expect(resolve('some.example')).rejects.toMatchObject({ code: 'ESERVFAIL' });
});
