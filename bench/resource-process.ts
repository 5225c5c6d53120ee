import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import express from 'express';
import { pino } from 'pino';
import { publishing } from '../domain/publishing.ts';
import { openResourceServer } from '../edge/authenticate/resource-server.ts';
import { listen } from '../edge/http/listen.ts';
import { REAL_TIME } from '../shared/clock/real-time.ts';
import { openPool } from '../shared/database/pool.ts';

// The smallest possible handler, alone and behind the verification of tokens.
const { values } = parseArgs({
  options: { url: { type: 'string' }, jwks: { type: 'string' }, audience: { type: 'string' } },
});
const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.set('query parser', 'simple');
app.get('/open', (_request, response) => void response.json({ ok: true }));
const pool = openPool({ url: String(values.url), applicationName: 'bench', connectionsMax: 8 });
const resource = await openResourceServer({
  pool,
  clock: REAL_TIME,
  domain: publishing,
  log: pino({ level: 'silent' }),
  issuer: String(values.audience),
  audience: String(values.audience),
  ingressSecret: undefined,
  loadKeys: async () => JSON.parse(String(values.jwks)),
});
app.get(
  '/checked',
  resource.handler,
  (request, response) => void response.json({ ok: resource.callerOf(request).kind === 'user' }),
);
const url = await listen(createServer(app), { port: 0, host: '127.0.0.1', setting: 'PORT' });
process.send?.({ url });
