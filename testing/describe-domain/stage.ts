// Over 200 lines, because it is one thing: a running installation, its users, and the fixtures that a test
// needs in it.

import type { Role } from '#kernel/base/events/fields.ts';
import { wire } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { CommandInfo, Domain, Kind, Row } from '#kernel/registry/registry.ts';
import type { AggregateOperation } from '#kernel/rest/operation.ts';
import { aggregateOperations } from '#kernel/rest/operations.ts';
import { openPeople, type People, type Person, type TokenHolder } from '../http/people.ts';
import { type Reply, type RestClient, restClientOf } from '../http/rest-client.ts';
import { type RestSession, restSessionOver } from '../http/rest-session.ts';
import { startWebhookSink, type WebhookSink } from '../http/webhook-sink.ts';
import type { Installation } from '../installation.ts';
import { type Random, randomOf } from '../random.ts';
import { type Examples, fieldsOfForm, refreshed } from './forms.ts';
import { endBy } from './holds.ts';
import type { Host } from './host.ts';
import {
  type Found,
  hasSignedIn,
  type PersonKey,
  type Planned,
  type Situation,
  type Step,
  situationsOf,
} from './situations.ts';
import { withReasons } from './with-reasons.ts';

/** A fixture that follows a situation. */
export type Made = {
  readonly situation: Situation;
  readonly id: number;
  /** `/articles/8001`. */
  readonly path: string;
  readonly owner: Actor | undefined;
  /** The version after its last command. */
  readonly version: number;
  /** The ids of its references, by the ids of the search. */
  readonly ids: ReadonlyMap<number, number>;
};

/** A user, or an anonymous caller. */
export type Actor = {
  readonly key: PersonKey;
  readonly role: string;
  readonly userId: number | null;
  readonly token: string | undefined;
  /** Whether a person has signed in, and not a service. */
  readonly isPerson: boolean;
};

export type Stage = AsyncDisposable & {
  /** As its author declares it. */
  readonly domain: Domain;
  /** With the aggregates that the kernel adds. */
  readonly served: Domain;
  readonly host: Host;
  readonly examples: Examples;
  readonly installation: Installation;
  readonly people: People;
  readonly sink: WebhookSink;
  readonly ask: RestClient;
  readonly session: RestSession;
  readonly found: Found;
  /** Two users of each role, an administrator, or two if there are holds, and an anonymous caller. */
  readonly actors: readonly Actor[];
  readonly admin: Actor;
  make(situation: Situation): Promise<Made>;
  /**
   * A fixture that every test may read and none may change: it is made once for all. Where fixtures compete
   * for room, a new one.
   */
  shared(situation: Situation): Promise<Made>;
  /** A fixture whose references nothing else has, so that a test may change what they refer to. */
  makeApart(situation: Situation): Promise<Made>;
  /** The target of references in forms, other than the targets of the fixtures themselves. */
  target(situation: Situation): Promise<Made>;
  /** Ends the aggregate if its kind has a maximum. */
  unmake(made: Made): Promise<void>;
  /** A new number each time, for unique values. */
  serial(): number;
  /** Its values follow from the seed. */
  readonly random: Random;
  /** Reads as an actor, including every earlier write. */
  read<Body = Row>(path: string, by: Actor): Promise<Reply & { readonly body: Body }>;
  /** Reads as an administrator, or where rights name administrators as the first actor who may read it. */
  readAny<Body = Row>(path: string, headers?: Headed): Promise<Reply & { readonly body: Body }>;
  actorOf(userId: unknown): Actor | undefined;
};

type Headed = Readonly<Record<string, string>>;

type Options = { readonly host: Host; readonly examples: Examples; readonly seed: number };

/** Requests of agents belong to the kernel, whose own tests try them: only agents make one. */
export const asDeclared = (domain: Domain): Domain => ({
  ...domain,
  kinds: Object.fromEntries(
    Object.entries(domain.kinds).filter(([, { confirms }]) => confirms === undefined),
  ),
});

/** Random queries are larger than usual ones. */
const ROOMY = {
  GRAPHQL_ALIASES_MAX: '1000',
  GRAPHQL_DIRECTIVES_MAX: '1000',
  GRAPHQL_DEPTH_MAX: '30',
  GRAPHQL_COST_MAX: '1000000',
  GRAPHQL_ROOT_FIELDS_MAX: '1000',
  GRAPHQL_TOKENS_MAX: '100000',
};

/** Every user has the role that the search planned. */
export const openStage = async (served: Domain, { host, examples, seed }: Options): Promise<Stage> => {
  const domain = asDeclared(served);
  await using opening = new AsyncDisposableStack();
  const sink = opening.use(await startWebhookSink());
  const installation = opening.use(await host.start(ROOMY));
  const people = await openPeople(installation);
  const ask = withReasons(domain, restClientOf(installation));
  const session = restSessionOver(ask);
  const found = situationsOf(domain, examples);
  const { holder, renew } = await holdersOf({ found, people, session });
  const renewal = setInterval(() => void renew(), RENEWED_EACH_MS);
  opening.defer(() => clearInterval(renewal));
  const actors: readonly Actor[] = [
    { key: 'nobody', role: 'anonymous', userId: null, token: undefined, isPerson: false },
    ...found.persons.map(({ key, role }) => ({
      ...{ key, role, userId: holder(key).userId, isPerson: hasSignedIn(key) },
      get token() {
        return holder(key).token;
      },
    })),
  ];
  const byKey = (key: PersonKey): Actor => {
    const actor = actors.find((each) => each.key === key);
    if (!actor) throw new RangeError(`there is nobody called ${key}`);
    return actor;
  };
  let serial = 1_000;
  const next = (): number => {
    serial += 1;
    return serial;
  };
  const readers = namesAdministrators(domain) ? [byKey('admin'), ...actors] : [byKey('admin')];
  const readAny = readingAs(session, readers);
  const clear = async (kind: Kind): Promise<void> => {
    const { body } = await readAny<readonly Row[]>(`/${kind.path}?limit=100`);
    for (const { id } of Array.isArray(body) ? body : [])
      await endBy({ session, actors, readAny }, readers, { kind, id: Number(id) });
  };
  const { make, makeApart, target, shared } = makerOf({
    ...{ domain, found, session, byKey, serial: next, clear, readAny },
  });
  const unmake = async ({ situation: { kind }, path }: Made): Promise<void> => {
    if (isScarce(kind)) await ask('DELETE', path, { token: byKey('admin').token });
  };
  const resources = opening.move();
  return {
    ...{
      ...{ domain, served },
      host,
      examples,
      installation,
      people,
      sink,
      ask,
      session,
      found,
      actors,
      make,
      makeApart,
      target,
      shared,
      unmake,
      serial: next,
    },
    random: randomOf(seed),
    admin: byKey('admin'),
    read: (path, { token }) => session.read(path, { token }),
    readAny,
    actorOf: (userId) => actors.find((each) => each.userId !== null && each.userId === userId),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const readingAs =
  (session: RestSession, [first, ...others]: readonly Actor[]): Stage['readAny'] =>
  async <Body>(path: string, headers: Headed = {}) => {
    const as = (actor: Actor | undefined) => session.read<Body>(path, { token: actor?.token, headers });
    const shown = await as(first);
    if (shown.status < 400) return shown;
    for (const other of others) {
      const seen = await as(other);
      if (seen.status < 400) return seen;
    }
    return shown;
  };

type Peopling = { readonly found: Found; readonly people: People; readonly session: RestSession };

/** Tokens last five minutes, and on a busy machine a description takes longer. */
const RENEWED_EACH_MS = 200_000;

type Holders = {
  holder(key: PersonKey): TokenHolder;
  /** Renews the tokens of all users who are still there. */
  renew(): Promise<void>;
};

const holdersOf = async ({ found, people, session }: Peopling): Promise<Holders> => {
  const holders = new Map<PersonKey, TokenHolder>();
  const holder: Holders['holder'] = (key) => holders.get(key) ?? people.administrator;
  const others = found.persons.filter(({ key }) => hasSignedIn(key));
  const signedUp = await Promise.all(
    others.map(async (planned) => ({ planned, person: await people.signUp(`Person ${planned.id}`) })),
  );
  for (const { planned, person } of signedUp)
    await session.write('PATCH', `/users/${person.userId}`, {
      token: people.administrator.token,
      type: MERGE,
      body: { role: planned.role },
    });
  const persons = new Map(signedUp.map(({ planned, person }) => [planned, person]));
  const refresh = async ([planned, person]: readonly [Planned, Person]): Promise<void> => {
    const refreshed = await people.refresh(person, planned.role as Role);
    persons.set(planned, refreshed);
    holders.set(planned.key, refreshed);
  };
  const signInAdministrator = async (): Promise<void> => {
    holders.set('admin', await people.administratorAgain());
  };
  await Promise.all([...persons].map(refresh));
  return {
    holder,
    async renew() {
      await Promise.allSettled([...[...persons].map(refresh), signInAdministrator()]);
    },
  };
};

export const MERGE = 'application/merge-patch+json';

type MakerOptions = {
  readonly domain: Domain;
  readonly found: Found;
  readonly session: RestSession;
  readonly byKey: (key: PersonKey) => Actor;
  readonly serial: () => number;
  /** Makes room for one more aggregate of a kind with a maximum. */
  readonly clear: (kind: Kind) => Promise<void>;
  readonly readAny: Stage['readAny'];
};

/** Administrators may do everything, unless a right names them. */
const namesAdministrators = ({ kinds }: Domain): boolean =>
  Object.values(kinds).some(({ rights, fieldRights }) =>
    [...Object.values(rights), ...Object.values(fieldRights)].some((row) => Object.hasOwn(row, 'admin')),
  );

/** Fixtures that refer to the same target soon exceed such a maximum; with a higher one, they need fewer targets. */
const FEW = 20;

/** A check made as many aggregates as may exist, and none of them can be ended. */
export class NoRoom extends Error {
  constructor({ name }: Kind, cause: Error) {
    super(
      `The maximum of ${name} is reached, and none can be ended: the rest of this check is left out. Give it a command that ends it.`,
      { cause },
    );
  }
}

/** Kinds with a maximum whose aggregates can be ended. */
const isScarce = ({ limits, commands }: Kind): boolean =>
  limits.some(({ max, when }) => max > 1 || when !== undefined) &&
  Object.values(commands).some((command) => command.kind === 'end' && !command.internal);

/** In such a domain, tests compete for room. */
export const isCrowded = ({ kinds }: Domain): boolean => Object.values(kinds).some(isScarce);

/** Sends the commands of the search, with the real ids. */
const makerOf = ({
  domain,
  found,
  session,
  byKey,
  serial,
  clear,
  readAny,
}: MakerOptions): Pick<Stage, 'make' | 'makeApart' | 'target' | 'shared'> => {
  // Nothing else competes for a unique text.
  const isLimited = Object.values(domain.kinds).some(({ fields, limits }) =>
    limits.some(({ max, per }) => max <= FEW && per.some((name) => fields[name]?.kind === 'ref')),
  );
  /** Makes each once for all. */
  const once = (isAlwaysNew = isLimited): ((situation: Situation) => Promise<Made>) => {
    const known = new Map<Situation, Promise<Made>>();
    return (situation) => {
      if (isAlwaysNew) return make(situation);
      const made = known.get(situation) ?? make(situation);
      known.set(situation, made);
      return made;
    };
  };
  /** Frequent targets of references. */
  const referred = once();
  const persons = new Map(found.persons.map(({ id, key }) => [id, byKey(key).userId]));
  const make = (situation: Situation): Promise<Made> => makeWith(situation, referred);
  const makeApart = (situation: Situation): Promise<Made> => makeWith(situation, makeApart);
  const makeWith = async (
    situation: Situation,
    refer: (situation: Situation) => Promise<Made>,
  ): Promise<Made> => {
    const { kind, steps, later, state } = situation;
    const ids = new Map<number, number>();
    const [creation, ...others] = steps;
    if (creation === undefined) throw new RangeError(`${situation.name} has no creation`);
    const born = firstParentOf(kind, creation);
    const changed = changedBesides(situation);
    const idOf = async (planned: number): Promise<number> => {
      const person = persons.get(planned);
      if (typeof person === 'number') return person;
      const known = ids.get(planned);
      if (known !== undefined) return known;
      const target = found.byId.get(planned);
      if (target === undefined) throw new RangeError(`nothing was planned as ${planned}`);
      const isOwn = planned === born || planned === state.fields[kind.parent ?? ''] || changed.has(planned);
      const made = await (isOwn ? make : refer)(target);
      ids.set(planned, made.id);
      return made.id;
    };
    const give = async (
      of: Kind,
      path: Readonly<Record<string, unknown>>,
      { actor, command, form }: Step,
    ) => {
      const body = bodyOf(of, command, await realForm(of, { command, form, idOf, serial }));
      const [method, at] = requestOf(domain, of, command, path);
      const sent = { token: byKey(actor).token, ...(body && { body }) };
      const write = () => session.write(method, at, sent);
      return command.kind === 'create' ? withRoom(of, { write, clear }) : write();
    };
    const above = parentKindOf(domain, kind);
    const first = above === undefined ? undefined : await idOf(Number(born));
    let last = await give(kind, above ? { [`${above.name}Id`]: first } : {}, creation);
    const { id } = last.written;
    for (const step of others)
      last = await give(kind, { [`${kind.name}Id`]: id, ...itemIn(step, ids) }, step);
    const parent = later.length > 0 && (await idOf(Number(state.fields[kind.parent ?? ''])));
    for (const step of later) await give(above as Kind, { [`${above?.name}Id`]: parent }, step);
    return {
      situation,
      id,
      path: `/${kind.path}/${id}`,
      owner: situation.owner && byKey(situation.owner.key),
      version: await versionAfter({ readAny }, `/${kind.path}/${id}`, last),
      ids,
    };
  };
  return { make, makeApart, target: once(), shared: once(isCrowded(domain)) };
};

/** The targets that commands of the aggregate change too: no other fixture may refer to them. */
const changedBesides = ({ kind: { commands }, state: { fields } }: Situation): ReadonlySet<unknown> =>
  new Set(Object.values(commands).flatMap(({ also }) => Object.keys(also).map((name) => fields[name])));

/** In the search; it may have moved below another parent since. */
const firstParentOf = ({ parent, fields }: Kind, { form }: Step): unknown =>
  parent === undefined ? undefined : form[wire(parent, fields[parent])];

type Making = {
  write(): ReturnType<RestSession['write']>;
  clear(kind: Kind): Promise<void>;
};

/** Makes room if there is none. */
const withRoom = async (kind: Kind, { write, clear }: Making): ReturnType<Making['write']> => {
  try {
    return await write();
  } catch (error) {
    const { message } = error as Error;
    if (!kind.limits.some(({ refusal }) => message.includes(`"${refusal.code}"`))) throw error;
    if (!isScarce(kind)) throw new NoRoom(kind, error as Error);
    await clear(kind);
    return write();
  }
};

/** The version of an aggregate after a write. A removal does not return it, so it is read; 0 if it has ended. */
export const versionAfter = async (
  { readAny }: Pick<Stage, 'readAny'>,
  path: string,
  { body, headers }: Reply,
): Promise<number> => {
  const { version } = (body ?? {}) as { readonly version?: number };
  if (version !== undefined) return version;
  const token = headers.get('consistency-token');
  const read = await readAny(path, token === null ? {} : { 'consistency-token': token });
  return Number(/^"(\d+)-/.exec(read.headers.get('etag') ?? '')?.[1] ?? 0);
};

const parentKindOf = (domain: Domain, kind: Kind): Kind | undefined => {
  const target = kind.parent === undefined ? undefined : kind.fields[kind.parent]?.target;
  return target === undefined ? undefined : domain.kinds[typeof target === 'string' ? target : target.kind];
};

const itemIn = ({ command, form }: Step, ids: ReadonlyMap<number, number>): Row => {
  const { list } = command;
  if (list === undefined || command.kind === 'addItem') return {};
  const id = form[list.id.name];
  return { [list.id.name]: ids.get(Number(id)) ?? id };
};

type Real = {
  readonly command: CommandInfo;
  readonly form: Row;
  readonly serial: () => number;
  idOf(planned: number): Promise<number>;
};

/** With the ids of the fixtures, and with new values for unique texts. */
const realForm = async (kind: Kind, { command, form, idOf, serial }: Real): Promise<Row> => {
  const fresh: Record<string, unknown> = { ...refreshed(kind, command, { form, serial: serial() }) };
  for (const [name, def] of fieldsOfForm(kind, command)) {
    const value = fresh[wire(name, def)];
    if (def.kind === 'ref' && typeof value === 'number') fresh[wire(name, def)] = await idOf(value);
  }
  const owner = kind.owner === undefined ? undefined : wire(kind.owner, kind.fields[kind.owner]);
  if (command.kind === 'create' && owner !== undefined && typeof form[owner] === 'number')
    fresh[owner] = await idOf(form[owner]);
  return fresh;
};

/** Without the path parameters; undefined if the request has no body. */
export const bodyOf = (kind: Kind, command: CommandInfo, form: Row): Row | undefined => {
  const sent = new Set(fieldsOfForm(kind, command).map(([name, def]) => wire(name, def)));
  if (command.kind === 'create') {
    if (kind.owner !== undefined) sent.add(wire(kind.owner, kind.fields[kind.owner]));
    for (const next of command.next) sent.add(next);
  }
  if (command.kind === 'moveItem') sent.add('before');
  const body = Object.fromEntries(Object.entries(form).filter(([name]) => sent.has(name)));
  return sent.size === 0 && command.kind !== 'create' ? undefined : body;
};

/** The method and the path of a command; for an edit those that send changes only. */
export const requestOf = (domain: Domain, kind: Kind, command: CommandInfo, path: Row): [string, string] => {
  const { method, path: pattern } = operationOf(domain, kind, command);
  return [
    method,
    pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name]))),
  ];
};

/** Derived once, because their schemas cost more than a request. */
export const operationsOf = oncePer(
  (domain: Domain): ReturnType<typeof aggregateOperations> => aggregateOperations(domain),
);

const operationOf = (domain: Domain, kind: Kind, command: CommandInfo): AggregateOperation => {
  const found = Object.values(operationsOf(domain)).find(
    ({ use, method }) =>
      use.does === 'command' && use.kind === kind && use.command === command && method !== 'PUT',
  );
  if (!found) throw new RangeError(`${kind.name} has no operation for ${command.name}`);
  return found;
};
