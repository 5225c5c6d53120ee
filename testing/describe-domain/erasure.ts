// Over 200 lines, because it is one check: a person’s data is written to every personal field, erased and
// searched for.

import { kebab, targetOf, wire } from '#kernel/base/names.ts';
import { isUser, leadsToUser } from '#kernel/base/users.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';
import { type Found, searchDatabase, searchFolder } from '../database/search-everywhere.ts';
import { operate } from '../installation.ts';
import { until } from '../until.ts';
import { freshBody } from './attempts.ts';
import type { Checks } from './checks.ts';
import { fieldsOfForm } from './forms.ts';
import { holdsOn, holdUser, release } from './holds.ts';
import { hasPersonalData, isOfPerson, markNamed } from './personal.ts';
import { findings } from './proof.ts';
import { type Situation, statesIn } from './situations.ts';
import { isCrowded, MERGE, requestOf, type Stage } from './stage.ts';
import { markerOf } from './values.ts';

const ERASED_WITHIN_MS = 60_000;

/**
 * No table and no file holds personal data, of any field or list declared personal, once its person is
 * deleted.
 */
export const checkErasure = async (stage: Stage, checks: Checks): Promise<void> => {
  const { installation, domain, served, admin, session } = stage;
  const { DATABASE_URL = '', DATA_DIR = '' } = installation.settings;
  const person = await stage.people.signUp(markOf(stage, 'Person'));
  const marks = new Map<string, string[]>([
    ['user.name', [person.name]],
    ['user.email', [person.email]],
  ]);
  const texts = (): readonly string[] => [...marks.values()].flat();
  const paths: string[] = [`/users/${person.userId}`];
  const { user } = domain.kinds;
  const made: Made[] = [];
  const marking = { person: person.userId, token: person.token, marks, made };
  if (user) await markUser(stage, user, marking);
  for (const kind of Object.values(domain.kinds))
    if (!isUser(kind)) paths.push(...(await markKind(stage, kind, marking)));
  await stage.read('/me', admin);
  await operate(['projection', 'rebuild'], installation.settings, served);
  const search = async (isSearched?: (place: string) => boolean) => [
    ...(await searchDatabase(DATABASE_URL, texts(), isSearched)),
    ...(await searchFolder(DATA_DIR, texts(), isSearched)),
  ];
  const before = new Set((await search()).map(({ text }) => text));
  // A value that is refused in one state may be accepted in another.
  for (const [field, all] of marks)
    checks.of(field).equal(
      all.some((mark) => before.has(mark)),
      true,
      `${field} is found before its person is deleted`,
    );
  const exported = await operate(['people', 'export', String(person.userId)], installation.settings, served);
  for (const [field, all] of marks)
    checks.of(field).equal(
      all.filter((mark) => before.has(mark) && !exported.includes(mark)),
      [],
      `${field} is in the export of its person`,
    );
  await checkHeld(stage, checks, marking);
  await session.write('DELETE', `/users/${person.userId}`, { token: admin.token });
  const left = await untilGone(search);
  checks.equal(
    left.map(({ place, text }) => `${[...marks].find(([, all]) => all.includes(text))?.[0]} in ${place}`),
    [],
    'what is left of the person',
  );
  checks.equal(await findings(stage), [], 'nothing is found after an erasure');
  for (const path of paths)
    for (const shown of [path, `${path}/history?limit=100`, `${path}?at=v1`]) {
      const look = async () => JSON.stringify((await stage.read<unknown>(shown, admin)).body ?? '');
      const text = await until(look, (seen) => !texts().some((mark) => seen.includes(mark))).catch(look);
      checks.equal(
        texts().filter((mark) => text.includes(mark)),
        [],
        `${shown} shows nothing of it`,
      );
    }
};

/** Nobody erases a person who is held, or whose data is: until another person has released the last hold. */
const checkHeld = async (stage: Stage, checks: Checks, { person, made }: Marking): Promise<void> => {
  const { admin, domain } = stage;
  const path = `/users/${person}`;
  const refused = async (code: string): Promise<void> => {
    const { status, body } = await stage.ask('DELETE', path, { token: admin.token });
    checks.equal([status, (body as Row | undefined)?.code], [409, code], `the erasure of a person: ${code}`);
  };
  for (const holdable of made) {
    const holds = await holdsOn(stage, holdable);
    if (holds.length === 0) continue;
    if (hasPersonalData(holdable.kind)) await refused('user_data_held');
    await release(stage, holdable, holds);
  }
  const { user } = domain.kinds;
  if (user?.hold !== true) return;
  const hold = await holdUser(stage, person);
  await refused('user_held');
  await release(stage, { kind: user, id: person }, [hold]);
};

type Search = (isSearched?: (place: string) => boolean) => Promise<readonly Found[]>;

/** Searches again only where something was left, and everywhere at the end. Returns what is left. */
const untilGone = (search: Search): Promise<readonly Found[]> => {
  let left: readonly Found[] = [];
  const again = async () => {
    const places = new Set(left.map(({ place }) => place));
    left = await search((place) => places.has(place));
    if (left.length === 0) left = await search();
    return left;
  };
  return until(again, (found) => found.length === 0, ERASED_WITHIN_MS).catch(() => search());
};

const markOf = ({ random }: Stage, word: string): string => `${word}${markerOf(TEXT, random) ?? ''}`;
const TEXT = { kind: 'text', demanded: { safeParse: () => ({ success: true }) } } as unknown as FieldDef;

type Made = { readonly kind: Kind; readonly id: number };
type Marking = {
  readonly person: number;
  readonly token: string;
  readonly marks: Map<string, string[]>;
  /** Everything that refers to the person. */
  readonly made: Made[];
};

/** A form with a marker in each personal field, and the person in each reference to a user. */
const marked = async (
  stage: Stage,
  kind: Kind,
  command: CommandInfo,
  { person, marks }: Pick<Marking, 'person' | 'marks'>,
): Promise<Row> => {
  const form: Record<string, unknown> = { ...(await freshBody(stage, kind, command, { by: undefined })) };
  for (const [name, def] of fieldsOfForm(kind, command)) {
    if (leadsToUser(def)) form[wire(name, def)] = person;
    const mark = isOfPerson(kind, def) ? markerOf(def, stage.random) : undefined;
    if (mark === undefined) continue;
    form[name] = mark;
    const key = markNamed(kind, command, name);
    marks.set(key, [...(marks.get(key) ?? []), mark]);
  }
  if (command.kind === 'create' && kind.owner !== undefined)
    form[wire(kind.owner, kind.fields[kind.owner])] = person;
  return form;
};

/** The fields that a domain adds to users. */
const markUser = async (stage: Stage, user: Kind, marking: Marking): Promise<void> => {
  const changes = Object.fromEntries(
    Object.entries(user.fields).flatMap(([name, def]) => {
      const mark =
        def.personal && !['name', 'email'].includes(name) ? markerOf(def, stage.random) : undefined;
      if (mark !== undefined) marking.marks.set(`user.${name}`, [mark]);
      return mark === undefined ? [] : [[name, mark] as const];
    }),
  );
  if (Object.keys(changes).length > 0)
    await stage.session.write('PATCH', `/users/${marking.person}`, {
      token: stage.admin.token,
      type: MERGE,
      body: changes,
    });
};

/**
 * Makes one aggregate of the person’s in each state, with a marker in each personal field. Returns their
 * paths if the kind has personal data.
 */
const markKind = async (stage: Stage, kind: Kind, marking: Marking): Promise<readonly string[]> => {
  const holds = (command: CommandInfo): boolean =>
    fieldsOfForm(kind, command).some(([, def]) => isOfPerson(kind, def));
  if (!Object.values(kind.commands).some((command) => !command.internal && holds(command))) return [];
  const byState = new Map<string, Situation>();
  for (const situation of stage.found.situations)
    if (situation.kind === kind && situation.later.length === 0) byState.set(statesIn(situation), situation);
  const paths: string[] = [];
  for (const situation of isCrowded(stage.domain) ? [...byState.values()].slice(0, 1) : byState.values())
    paths.push(await markSituation(stage, situation, marking));
  return paths;
};

/** The steps of a situation, with markers, and then every other command that writes personal data. */
const markSituation = async (stage: Stage, situation: Situation, marking: Marking): Promise<string> => {
  const { admin, actors } = stage;
  const { kind, steps } = situation;
  const example = await stage.make(situation);
  const theirs = await markAbove(stage, situation, marking);
  const parent =
    kind.parent === undefined
      ? undefined
      : (theirs[kind.parent] ?? example.ids.get(Number(situation.state.fields[kind.parent])));
  const def = kind.parent === undefined ? undefined : kind.fields[kind.parent];
  await stage.unmake(example);
  let self = '';
  let id: unknown = parent;
  for (const { command, actor } of [...steps, ...editsOf(kind)]) {
    const ids = {
      [`${command.kind === 'create' && def ? targetOf(def) : kind.name}Id`]: id,
      ...(await itemIn(stage, self, command)),
    };
    const body: Record<string, unknown> = { ...(await marked(stage, kind, command, marking)) };
    for (const [name, of] of fieldsOfForm(kind, command))
      if (command.kind === 'create' && name in theirs) body[wire(name, of)] = theirs[name];
    const by = actors.find(({ key, role }) => key === actor && role !== situation.owner?.role) ?? admin;
    const [method, path] = requestOf(stage.domain, kind, command, ids);
    const sent = Object.keys(body).length > 0 && { body };
    const reply = await stage.ask(method, path, { token: by.token, ...sent });
    // The person sends what the planned actor may not.
    const done =
      reply.status === 403 ? await stage.ask(method, path, { token: marking.token, ...sent }) : reply;
    if (command.kind !== 'create') continue;
    ({ id } = done.body as { readonly id: number });
    if (done.status !== 201)
      throw new Error(`${command.name} of ${kind.name} was refused: ${JSON.stringify(done.body)}`);
    self = `/${kind.path}/${id}`;
    marking.made.push({ kind, id: Number(id) });
  }
  return self;
};

/**
 * Personal fields may find their person by a path of references: the aggregates on that path belong to the
 * person, and have markers as well.
 */
const markAbove = async (
  stage: Stage,
  { kind, steps: [creation] }: Situation,
  marking: Marking,
): Promise<Readonly<Record<string, number>>> => {
  const made: Record<string, number> = {};
  for (const [first = ''] of Object.values(kind.persons)) {
    const above = stage.found.byId.get(Number(creation?.form[wire(first, kind.fields[first])]));
    if (above !== undefined)
      made[first] = Number((await markSituation(stage, above, marking)).split('/').at(-1));
  }
  return made;
};

const editsOf = ({ commands }: Kind): readonly { readonly command: CommandInfo; readonly actor: string }[] =>
  Object.values(commands)
    .filter(({ kind, internal }) => !internal && (kind === 'edit' || kind === 'changeItem'))
    .map((command) => ({ command, actor: 'admin' }));

/** The first item of the list that a command changes. */
const itemIn = async ({ read, admin }: Stage, self: string, { kind, list }: CommandInfo): Promise<Row> => {
  if (list === undefined || kind === 'addItem') return {};
  const { body } = await read<readonly { readonly _links: { readonly self: { readonly href: string } } }[]>(
    `${self}/${kebab(list.name)}`,
    admin,
  );
  return {
    [list.id.name]: decodeURIComponent(
      (Array.isArray(body) ? body : [])[0]?._links.self.href.split('/').at(-1) ?? '0',
    ),
  };
};
