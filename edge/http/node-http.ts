import type * as nodeHttp from 'node:http';
import { createRequire } from 'node:module';

/**
 * The module `node:http`. An `import` of it would also load all that it exports lazily: a `WebSocket`, and with it
 * a second HTTP client, which take some 14 MB of memory in each process.
 */
const http: typeof nodeHttp = createRequire(import.meta.url)('node:http');

export const { createServer, get, request, IncomingMessage, OutgoingMessage, ServerResponse, STATUS_CODES } =
  http;
