import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test as base, expect } from 'vitest';
import { explainRefusal } from '#adapters/eventstoredb/explain-refusal.ts';
import { openConfiguredEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { callLine } from '../engines/call-line.ts';
import { AUTHORITY, EXPIRED, SERVER, STRANGER } from '../engines/certificates.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { anEvent, aStream } from './event-log-engine.ts';

/** A secure server, and what a start on it says if its address, user or certificate is wrong. */

const USERS = {
  annals: { password: 'right', mayReadAll: true },
  guest: { password: 'right' },
  reader: { password: 'right', mayReadAll: true, mayAppend: false },
};

const PEMS = { authority: AUTHORITY, expired: EXPIRED.cert, stranger: STRANGER.cert };

const test = base
  .extend('pems', { scope: 'file' }, PEMS)
  .extend('users', { scope: 'file' }, USERS)
  .extend('folder', { scope: 'file' }, async ({ pems }, { onCleanup }) => {
    const dataDir = await temporaryDataDir();
    onCleanup(() => dataDir[Symbol.asyncDispose]());
    for (const [name, pem] of Object.entries(pems)) await writeFile(join(dataDir.path, `${name}.pem`), pem);
    return dataDir.path;
  })
  .extend('servers', { scope: 'file' }, async ({ users }, { onCleanup }) => {
    const resources = new AsyncDisposableStack();
    onCleanup(() => resources.disposeAsync());
    const start = async (secure?: typeof SERVER): Promise<EventStoreStandIn> =>
      resources.use(await startEventStoreStandIn({ secure: secure && { ...secure, users } }));
    return {
      secure: await start(SERVER),
      expired: await start(EXPIRED),
      stranger: await start(STRANGER),
      insecure: await start(),
    };
  });

const warnings: string[] = [];
process.on('warning', ({ message }) => void warnings.push(message));

type Server = 'secure' | 'expired' | 'stranger' | 'insecure';
type Refused = readonly [what: string, server: Server, user: string, options: string, says: string];

const urlOf = ({ port }: EventStoreStandIn, user: string, options: string): string =>
  `esdb://${user}127.0.0.1:${port}?connectionName=test${options}`;

const AUTHORITY_NAMED = '&tlsCAFile=authority.pem';
const WRONG_USER = 'refuses the user of EVENT_LOG_URL or its password: correct them.';

const REFUSED: readonly Refused[] = [
  ['a wrong password', 'secure', 'annals:wrong@', AUTHORITY_NAMED, WRONG_USER],
  ['an unknown user', 'secure', 'nobody:right@', AUTHORITY_NAMED, WRONG_USER],
  [
    'no user',
    'secure',
    '',
    AUTHORITY_NAMED,
    'demands a user, and EVENT_LOG_URL names none: write esdb://user:password@127.0.0.1:PORT.',
  ],
  [
    'no right to read everything',
    'secure',
    'guest:right@',
    AUTHORITY_NAMED,
    'denies the user of EVENT_LOG_URL a right (EventStoreDB refused a read of $all',
  ],
  [
    'no right to append',
    'secure',
    'reader:right@',
    AUTHORITY_NAMED,
    'denies the user of EVENT_LOG_URL a right (EventStoreDB refused an append',
  ],
  [
    'an absent file of the authority',
    'secure',
    'annals:right@',
    '&tlsCAFile=absent.pem',
    'tlsCAFile in EVENT_LOG_URL is FOLDER/absent.pem, which cannot be read',
  ],
  ['an unknown option', 'insecure', 'annals:right@', '&tlsCa=x', 'has the unknown option tlsca'],
  [
    'a switched-off verification',
    'secure',
    'annals:right@',
    '&tlsVerifyCert=false',
    'tlsVerifyCert in EVENT_LOG_URL has no effect',
  ],
  ['no authority', 'secure', 'annals:right@', '', 'is of an authority that is not trusted here: name'],
  ['another authority', 'secure', '', '&tlsCAFile=expired.pem', 'is not of the authority in the tlsCAFile'],
  ['an expired certificate', 'expired', '', '&tlsCAFile=expired.pem', 'has expired: renew it.'],
  ['a certificate for another name', 'stranger', '', '&tlsCAFile=stranger.pem', 'is for other names'],
  ['TLS where the server has none', 'insecure', '', '', 'does not speak TLS: add ?tls=false'],
];

test.for(REFUSED)(
  '%s is refused in one sentence',
  async ([, name, user, options, says], { folder, servers }) => {
    const server = servers[name];
    const url = urlOf(server, user, options.replace('tlsCAFile=', `tlsCAFile=${folder}/`));
    const expected = says.replace('PORT', String(server.port)).replace('FOLDER', folder);
    const refused = openConfiguredEventLog({ eventLogUrl: url, databaseUrl: '', clock: REAL_TIME });
    const error = await refused.then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.message).toContain(expected);
    expect(error?.name).toBe('StartRefused');
    // Otherwise it has waited for the server.
    expect(String(error?.cause)).not.toContain('did not answer');
    expect(error?.message).not.toMatch(/right@|wrong|\n/);
  },
);

const UNEXPLAINED: readonly Refused[] = [
  [
    'no TLS where the server demands it',
    'secure',
    '',
    '&tls=false',
    'demands TLS, and EVENT_LOG_URL has tls=false: remove that.',
  ],
  ['a leader that is missing', 'insecure', '', '&tls=false', 'has no leader: start a majority of its nodes'],
];

// The start says this when its retry budget is used up.
test.for(UNEXPLAINED)(
  '%s is what a failed start names',
  async ([, name, , options, says], { folder, servers }) => {
    const url = urlOf(servers[name], '', options.replace('tlsCAFile=', `tlsCAFile=${folder}/`));
    const cause = new Error('Could not recognize Server Is Not Ready');
    expect(await explainRefusal(url, new LogUnavailable('no answer', { cause }))).toContain(says);
  },
);

test('a host whose name is unknown is what a failed start names', async () => {
  expect(await explainRefusal('esdb://nowhere.invalid:2113', new LogUnavailable('no answer'))).toMatch(
    /^The name nowhere\.invalid in EVENT_LOG_URL cannot be resolved \((ENOTFOUND|EAI_AGAIN)\)/,
  );
});

test('the right user appends and reads, and one who loses a right is answered with a temporary failure', async ({
  folder,
  servers: { secure },
}) => {
  const url = urlOf(secure, 'annals:right@', `&tlsCAFile=${folder}/authority.pem`);
  await using log = await openConfiguredEventLog({ eventLogUrl: url, databaseUrl: '', clock: REAL_TIME });
  const stream = aStream();
  expect(await log.append(stream, NO_STREAM, [anEvent()])).toMatchObject({ version: 1 });
  expect(await log.head()).toBeGreaterThan(0);
  secure.faults.appends({ kind: 'access-denied' }, { stream });
  await expect(log.append(stream, 'any', [anEvent()])).rejects.toThrow(LogUnavailable);
});

test('a cluster is found by addresses', async ({ folder, servers: { secure } }) => {
  const found = urlOf(secure, 'annals:right@127.0.0.1:1,', `&tlsCAFile=${folder}/authority.pem`);
  await using log = await openConfiguredEventLog({ eventLogUrl: found, databaseUrl: '', clock: REAL_TIME });
  await log.head();
});

test('no start has made Node warn of the address as a name', async () => {
  // Warnings are emitted in the next turn.
  await nextTurn();
  expect(warnings).toEqual([]);
});

test('doctor names the cause', async ({ folder, servers: { secure } }) => {
  const EVENT_LOG_URL = urlOf(secure, 'annals:wrong@', `&tlsCAFile=${folder}/authority.pem`);
  const { lines } = await callLine(
    { DATA_DIR: join(folder, 'none'), PORT: '0', METRICS_PORT: '0', EVENT_LOG_URL },
    ['doctor', '--json'],
  );
  expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual({
    check: 'engines',
    outcome: 'fail',
    says: `EventStoreDB at 127.0.0.1:${secure.port} refuses the user of EVENT_LOG_URL or its password.`,
    remedy: 'correct them.',
  });
});
