import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { ANY, type EventStoreDBClient, jsonEvent, START } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import grpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { describe, expect } from 'vitest';
import type { EventStoreStandIn, StandInOptions } from '../engines/eventstoredb/server.ts';
import { freshTest } from '../engines/eventstoredb-fixture.ts';

const MIB = 1_048_576;
const noted = (bytes: number, metadata = {}) =>
  jsonEvent({ type: 'Noted', data: { text: 'x'.repeat(bytes - '{"text":""}'.length) }, metadata });
const append = (client: EventStoreDBClient, ...events: ReturnType<typeof noted>[]) =>
  client.appendToStream(`stand-in-${randomUUID()}`, events, { expectedRevision: ANY });
const CREDENTIALS = { credentials: { username: 'admin', password: 'changeit' } };
const SMALL: StandInOptions = { version: '26.0.3', appendBytesMax: MIB, eventBytesMax: MIB };

describe('26.0.3 with the limits of 23.10.6', () => {
  const test = freshTest.override('standInOptions', SMALL);

  test('refuses one event of 1 MiB by a name that the client does not know', async ({ client }) => {
    await expect(append(client, noted(MIB))).rejects.toMatchObject({
      type: 'unknown',
      message: 'Could not recognize MaximumAppendEventSizeExceeded',
    });
  });

  test('counts type and metadata', async ({ client }) => {
    const others = 2 * 'Noted'.length + '{"of":1}'.length;
    await expect(append(client, noted(MIB - others, { of: 1 }))).resolves.toMatchObject({ success: true });
    await expect(append(client, noted(MIB - others + 1, { of: 1 }))).rejects.toMatchObject({
      type: 'unknown',
    });
  });

  test('refuses two of 600,000 bytes as before', async ({ client }) => {
    await expect(append(client, noted(600_000), noted(600_000))).rejects.toMatchObject({
      type: 'maximum-append-size-exceeded',
      maxAppendSize: MIB,
    });
  });

  test('says the same by the older method', async ({ client }) => {
    const refused = client.appendToStream('one', noted(MIB), { expectedRevision: ANY, ...CREDENTIALS });
    await expect(refused).rejects.toMatchObject({ code: 3 });
  });
});

freshTest('26.0.3 refuses a message of 16 MiB', async ({ client }) => {
  await expect(append(client, noted(16 * MIB))).rejects.toMatchObject({
    code: 8,
    message: expect.stringContaining('Received message exceeds the maximum configured message size'),
  });
});

freshTest('26.0.3 says why it cannot read at a position', async ({ client }) => {
  const { position } = await append(client, noted(100));
  const commit = (position?.commit ?? 0n) - 1n;
  const read = client.readAll({ fromPosition: { commit, prepare: commit } });
  await expect(Array.fromAsync(read)).rejects.toThrow(/^2 UNKNOWN: Unexpected ReadAllResult: .+ >> /);
});

describe.for([
  ['26.0.3', { encoding: 'gzip', flag: 1 }],
  ['23.10.6', { encoding: 'identity', flag: 0 }],
] as const)('messages of %s', ([version, encoding]) => {
  freshTest.override('standInOptions', { version })(
    `have the encoding ${encoding.encoding}, and are read`,
    async ({ client, standIn }) => {
      await append(client, noted(10_000));
      expect(await Array.fromAsync(client.readAll({ fromPosition: START }))).toHaveLength(2);
      expect(await encodingOf(standIn)).toEqual(encoding);
    },
  );
});

/** Of the first message to a client that accepts gzip; the flag before it says whether it is compressed. */
const encodingOf = async ({ port }: EventStoreStandIn): Promise<unknown> => {
  const all = new streams.ReadReq.Options.AllOptions().setStart(new shared.Empty());
  const request = new streams.ReadReq().setOptions(
    new streams.ReadReq.Options().setAll(all).setCount('1').setNoFilter(new shared.Empty()),
  );
  const message = request.serializeBinary();
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const session = connect(`http://127.0.0.1:${port}`);
  const call = session.request({
    ':method': 'POST',
    ':path': grpc.StreamsService.read.path,
    'content-type': 'application/grpc',
    'grpc-accept-encoding': 'identity,gzip',
  });
  call.end(Buffer.concat([head, message]));
  const [headers]: IncomingHttpHeaders[] = await once(call, 'response');
  const answer = Buffer.concat(await call.toArray());
  session.close();
  return { encoding: headers?.['grpc-encoding'], flag: answer[0] };
};
