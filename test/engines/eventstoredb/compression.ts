import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { gzipSync } from 'node:zlib';
import type { Server } from '@grpc/grpc-js';

const FLAG_BYTES = 1;
const HEAD_BYTES = 5;

/**
 * Compresses each message of the server for clients that accept it, however small. `@grpc/grpc-js` cannot, so
 * this changes what it writes: one message at a time, after a flag and the length.
 */
export const compressMessages = (server: Server): void => {
  const servers: ReadonlyMap<Http2Server, unknown> = Reflect.get(server, 'http2Servers');
  for (const http2 of servers.keys()) http2.prependListener('stream', compressStream);
};

const compressStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void => {
  if (!`${headers['grpc-accept-encoding'] ?? ''}`.includes('gzip')) return;
  const respond = stream.respond.bind(stream);
  const write = stream.write.bind(stream);
  stream.respond = (answered, options) => respond({ ...answered, 'grpc-encoding': 'gzip' }, options);
  Object.assign(stream, {
    write: (message: Buffer, done: () => void) => write(compressed(message), done),
  });
};

const compressed = (message: Buffer): Buffer => {
  const content = gzipSync(message.subarray(HEAD_BYTES));
  const head = Buffer.alloc(HEAD_BYTES, 1);
  head.writeUInt32BE(content.length, FLAG_BYTES);
  return Buffer.concat([head, content]);
};
