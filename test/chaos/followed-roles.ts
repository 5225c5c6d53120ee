import { gatewayKey } from '#edge/command-gateway/assertion.ts';
import { createHttpGateway } from '#edge/command-gateway/http-gateway.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { type CommandSide, createCommandDatabase } from '../engines/command-side.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { SCOPES } from '../engines/policy.ts';
import { type RoleProcess, startRole } from '../engines/role-process.ts';
import { serve } from '../serve.ts';
import { AUDIENCE, createTokenMint, ISSUER } from '../token-mint.ts';
import type { Viewer } from './visible-events.ts';

/** A command role, and the requested number of the others, each of which can be ended and restarted. */
export type FollowedRoles = AsyncDisposable & {
  readonly side: CommandSide;
  readonly gateway: CommandGateway;
  /** The addresses of the query processes started so far. */
  urls(): readonly string[];
  /** The process that currently serves in a slot. */
  query(place: number): RoleProcess;
  dispatcher(place: number): RoleProcess;
  /** Ends one, starts another in its slot, and returns how it ended. */
  replace(role: Replaceable, place: number, signal: NodeJS.Signals): ReturnType<RoleProcess['kill']>;
  ready(): Promise<void>;
  authorization(viewer: Viewer): Promise<Readonly<Record<string, string>>>;
  /** The end of the log. */
  cursor(): Promise<string>;
};

type Replaceable = 'query' | 'projector' | 'webhook-dispatcher';

type Options = {
  readonly projector: number;
  readonly query: number;
  readonly dispatcher?: number;
  readonly settings?: Readonly<Record<string, string>>;
};

/** All requests come from one address. */
const PLENTY = {
  RATE_LIMIT: '100000',
  RATE_LIMIT_BURST: '100000',
  RATE_LIMIT_ANONYMOUS: '100000',
  RATE_LIMIT_ANONYMOUS_BURST: '100000',
};
const READY = 'Annals is ready.';

export const startFollowedRoles = async ({
  projector,
  query,
  dispatcher = 0,
  settings: own = {},
}: Options): Promise<FollowedRoles> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createCommandDatabase());
  const side = opening.use(await database.open());
  const dataDir = opening.use(await temporaryDataDir());
  const mint = await createTokenMint();
  const keys = opening.use(await serve((_request, response) => void response.end(JSON.stringify(mint.jwks))));
  const common = {
    ...database.settings,
    DATA_DIR: dataDir.path,
    PUBLIC_URL: AUDIENCE,
    ISSUER_URL: ISSUER,
    JWKS_URL: keys.url,
    ...PLENTY,
    ...own,
  };
  const command = opening.use(startRole('command/main.ts', common));
  const { url } = await command.logged('Listening for commands of other roles.');
  const settings = { ...common, COMMAND_URL: String(url) };
  const start = (role: Replaceable) => startRole(`${role}/main.ts`, settings);
  const started = (role: Replaceable, count: number) => Array.from({ length: count }, () => start(role));
  const dispatchers = started('webhook-dispatcher', dispatcher);
  const roles = {
    query: started('query', query),
    projector: started('projector', projector),
    'webhook-dispatcher': dispatchers,
  };
  const all = () => Object.values(roles).flat();
  opening.defer(async () => void (await Promise.all(all().map((role) => role[Symbol.asyncDispose]()))));
  const urls: (string | undefined)[] = [];
  const noteUrl = async (place: number): Promise<void> => {
    const role = roles.query[place];
    // A process killed before it was ready never has one.
    const line = await role?.logged(READY).catch(() => undefined);
    if (roles.query[place] === role) urls[place] = line && String(line.url);
  };
  const ready = async () => void (await Promise.all(all().map((role) => role.logged(READY))));
  const notes = roles.query.map((_, place) => noteUrl(place));
  await Promise.all([ready(), ...notes]);
  const resources = opening.move();
  return {
    side,
    gateway: createHttpGateway({
      clock: REAL_TIME,
      urls: [String(url)],
      key: gatewayKey(parseMasterKey(database.settings.MASTER_KEY ?? '')),
      issuer: 'test',
    }),
    urls: () => urls.filter((each) => each !== undefined),
    query: (place) => roles.query[place] as RoleProcess,
    dispatcher: (place) => dispatchers[place] as RoleProcess,
    async replace(role, place, signal) {
      if (role === 'query') urls[place] = undefined;
      const ended = (await roles[role][place]?.kill(signal)) ?? null;
      roles[role][place] = start(role);
      if (role === 'query') void noteUrl(place);
      return ended;
    },
    ready,
    async authorization({ userId, role }) {
      if (role === 'anonymous') return {};
      return {
        authorization: `Bearer ${await mint.token({ sub: String(userId), role, scope: SCOPES.join(' ') })}`,
      };
    },
    cursor: async () => formatCursor(side.eventLog.identity, await side.eventLog.head()),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
