// Over 200 lines, because every receiver passes the same list.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { scaled } from '../testing/load.ts';
import { until } from '../testing/until.ts';
import { signatures } from '../webhook-dispatcher/deliver/sign.ts';
import { type Example, startExample } from './engines/example.ts';
import { startLocalServer } from './engines/local-server.ts';

/** Runs the receivers of docs/webhooks.md with requests that are really signed. */
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/webhooks.md`, 'utf8');
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const [SECRET, FORMER, STRANGE] = [newSecret(), newSecret(), newSecret()];
const DEADLINE_MS = 20_000;

type Receiver = AsyncDisposable & {
  readonly url: string;
  received(): readonly string[];
  complaints(): string;
};

type Environment = Readonly<Record<string, string>>;

/** Started as the page says. */
const startShown = (command: string, environment?: Environment): Promise<Receiver> => {
  expect(PAGE).toContain(`\n${command}\n`);
  return startListening(command, environment);
};

const startListening = async (command: string, environment: Environment = {}): Promise<Receiver> => {
  const port = await freePort();
  const example: Example = startExample(command, {
    WEBHOOK_SECRET: `${SECRET} ${FORMER}`,
    PORT: String(port),
    ...environment,
  });
  await until(example.complaints, (text) => text.includes('listening'), DEADLINE_MS);
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received: example.cursors,
    complaints: example.complaints,
    [Symbol.asyncDispose]: example.kill,
  };
};

/** A web server that runs the script as CGI (RFC 3875). */
const startCgi = async (): Promise<Receiver> => {
  const received: string[] = [];
  let complaints = '';
  const server = await startLocalServer(async (request, response) => {
    const environment: Record<string, string> = {
      PATH: process.env.PATH ?? '',
      WEBHOOK_SECRET: `${SECRET} ${FORMER}`,
    };
    for (const [name, value] of Object.entries(request.headers))
      environment[`HTTP_${name.toUpperCase().replaceAll('-', '_')}`] = String(value);
    environment.CONTENT_LENGTH = request.headers['content-length'] ?? '';
    const script: ChildProcess = spawn('bash', [`${ROOT}docs/examples/receive-webhook.sh`], {
      env: environment,
    });
    if (!script.stdin || !script.stdout || !script.stderr) throw new Error('the script has no streams');
    script.stdin.on('error', () => {});
    request.pipe(script.stdin);
    script.stderr.on('data', (text: Buffer) => {
      complaints += text;
    });
    let output = '';
    for await (const text of script.stdout) output += text;
    const status = Number(/^Status: (\d+)\r\n\r\n$/.exec(output)?.[1] ?? 500);
    if (status < 300) received.push(request.headers['webhook-id'] as string);
    response.writeHead(status).end();
  });
  return {
    url: `${server.url}/`,
    received: () => received,
    complaints: () => complaints,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

const hasPython = (): boolean => {
  try {
    return execFileSync('python3', ['--version']).length > 0;
  } catch {
    console.warn('docs/examples/receive-webhook.py is not run, because there is no python3.');
    return false;
  }
};

const ROUTE_HANDLER = 'node test/engines/serve-route-handler.ts docs/examples/receive-webhook-next.js';
const SERVERS: readonly (readonly [name: string, start: (environment?: Environment) => Promise<Receiver>])[] =
  [
    ['receive-webhook.js', (environment) => startShown('node docs/examples/receive-webhook.js', environment)],
    ...(hasPython()
      ? [
          [
            'receive-webhook.py',
            (environment?: Environment) =>
              startShown('python3 docs/examples/receive-webhook.py', environment),
          ] as const,
        ]
      : []),
    [
      'receive-webhook-express.js',
      (environment) => startShown('node docs/examples/receive-webhook-express.js', environment),
    ],
    ['receive-webhook-next.js', (environment) => startListening(ROUTE_HANDLER, environment)],
  ];
const RECEIVERS = [...SERVERS, ['receive-webhook.sh', startCgi] as const];

type Sent = {
  readonly id?: string;
  readonly secrets?: readonly string[];
  readonly ageSeconds?: number;
  /** Replaces parts after the signature. */
  readonly instead?: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> };
};

const send = async (
  url: string,
  { id = randomUUID(), secrets = [SECRET], ageSeconds = 0, instead }: Sent = {},
) => {
  const body = JSON.stringify({
    id,
    type: 'comment.added',
    subject: 'comment-9001',
    data: { text: 'Très “bien”.\n' },
  });
  const timestampSeconds = Math.floor(Date.now() / 1_000) - ageSeconds;
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures({ id, timestampSeconds, body: Buffer.from(body), secrets }),
    ...instead?.headers,
  };
  const response = await fetch(url, { method: 'POST', headers, body: instead?.body ?? body });
  await response.arrayBuffer();
  return { id, status: response.status };
};

describe.each(RECEIVERS)('%s', (_, start) => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await start();
  }, scaled(60_000));
  afterAll(() => receiver?.[Symbol.asyncDispose]());

  test.each<readonly [what: string, sent: Sent]>([
    ['signed', {}],
    ['signed by the former secret alone', { secrets: [FORMER] }],
    ['signed by both, while the secret is rotated', { secrets: [SECRET, FORMER] }],
    ['signed by one that it has and one that it has not yet', { secrets: [STRANGE, SECRET] }],
    ['a little old', { ageSeconds: 200 }],
    ['from a clock that is a little fast', { ageSeconds: -200 }],
  ])('accepts a request that is %s', async (_, sent) => {
    const { id, status } = await send(receiver.url, sent);
    expect(status, receiver.complaints()).toBeLessThan(300);
    await until(receiver.received, (ids) => ids.includes(id), DEADLINE_MS);
  });

  test.each<readonly [what: string, sent: Sent]>([
    ['signed by somebody else', { secrets: [STRANGE] }],
    ['not signed', { instead: { headers: { 'webhook-signature': '' } } }],
    [
      'signed in a way that it does not know',
      { instead: { headers: { 'webhook-signature': 'v1a,AAAA v2,AAAA v1, v1' } } },
    ],
    ['too old', { ageSeconds: 400 }],
    ['from the future', { ageSeconds: -400 }],
    [
      'given another time',
      { instead: { headers: { 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 1) } } },
    ],
    ['given no time', { instead: { headers: { 'webhook-timestamp': 'now' } } }],
    ['given another id', { instead: { headers: { 'webhook-id': randomUUID() } } }],
    [
      'changed on its way',
      { instead: { body: '{"id":"forged","type":"comment.added","subject":"comment-9001"}' } },
    ],
    ['cut off', { instead: { body: '' } }],
  ])('refuses a request that is %s', async (_, sent) => {
    const before = receiver.received().length;
    expect(await send(receiver.url, sent)).toMatchObject({ status: 401 });
    const { id } = await send(receiver.url);
    const received = await until(receiver.received, (ids) => ids.includes(id), DEADLINE_MS);
    expect(received.length).toBe(before + 1);
  });
});

test.each(SERVERS)('%s processes a repeated event once', async (_, start) => {
  await using receiver = await start();
  const { id } = await send(receiver.url);
  expect((await send(receiver.url, { id })).status).toBeLessThan(300);
  const { id: last } = await send(receiver.url);
  const received = await until(receiver.received, (ids) => ids.includes(last), DEADLINE_MS);
  expect(received).toEqual([id, last]);
});

const FAILING_ONCE = {
  NODE_OPTIONS: `--import=${new URL('./engines/fail-once/fail-once.ts', import.meta.url).href}`,
  PYTHONPATH: `${ROOT}test/engines/fail-once`,
};

test.each(SERVERS)('%s processes a failed event when it is retried, and then once', async (_, start) => {
  await using receiver = await start(FAILING_ONCE);
  const id = `fails-once-${randomUUID()}`;
  expect((await send(receiver.url, { id })).status, receiver.complaints()).toBe(500);
  for (let attempt = 2; attempt <= 3; attempt++)
    expect((await send(receiver.url, { id })).status, receiver.complaints()).toBeLessThan(300);
  const { id: last } = await send(receiver.url);
  const received = await until(receiver.received, (ids) => ids.includes(last), DEADLINE_MS);
  expect(received).toEqual([id, last]);
});

test.each(SERVERS.filter(([name]) => name !== 'receive-webhook-next.js'))(
  '%s does not start without a secret',
  async (name) => {
    const command = `${name.endsWith('.py') ? 'python3' : 'node'} docs/examples/${name}`;
    await using receiver = startExample(command, { WEBHOOK_SECRET: ' ', PORT: String(await freePort()) });
    expect(
      await until(receiver.complaints, (text) => /WEBHOOK_SECRET|listening/.test(text), DEADLINE_MS),
    ).toContain('WEBHOOK_SECRET is missing');
  },
);

test('receive-webhook-next.js fails without a secret, so that nothing is lost', async () => {
  await using receiver = await startListening(ROUTE_HANDLER, { WEBHOOK_SECRET: '' });
  expect(await send(receiver.url)).toMatchObject({ status: 500 });
  expect(receiver.complaints()).toContain('WEBHOOK_SECRET is missing');
});

test('send-webhook.sh sends a request that a receiver accepts, or refuses with another secret', async () => {
  await using receiver = await startShown('node docs/examples/receive-webhook.js');
  for (const [secret, status] of [
    [SECRET, '204'],
    [STRANGE, '401'],
  ] as const) {
    const sender = startExample(`bash docs/examples/send-webhook.sh ${receiver.url}`, {
      WEBHOOK_SECRET: secret,
    });
    await until(sender.cursors, (lines) => lines.length === 1, DEADLINE_MS);
    expect(sender.cursors(), sender.complaints()).toEqual([status]);
    await sender.kill();
  }
  expect(receiver.received().length).toBe(1);
});
