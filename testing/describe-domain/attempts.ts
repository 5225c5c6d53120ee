import { kebab, targetOf, wire } from '#kernel/base/names.ts';
import type { CommandInfo, Kind, ListInfo, Row } from '#kernel/registry/registry.ts';
import { anyFor, type SampleFile } from '../sample-file.ts';
import { formOf, isToUser, referencesIn } from './forms.ts';
import { type Actor, bodyOf, type Made, operationsOf, requestOf, type Stage } from './stage.ts';
import { nameableBy, targetFor } from './targets.ts';
import { withoutHidden } from './written-parts.ts';

/** A request that can be made for a fixture, and the representation that would show its link. */
export type Attempt = {
  readonly name: string;
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly does: 'command' | 'create' | 'putFile' | 'removeFile';
  readonly method: string;
  readonly path: string;
  readonly on: string;
  /** Different each time, for the one who sends it. */
  body(by?: Actor): Promise<unknown>;
  readonly type?: string | undefined;
};

/** Every write on it, on its items, and under it. */
export const attemptsOn = async (stage: Stage, made: Made): Promise<readonly Attempt[]> => {
  const { domain } = stage;
  const { kind } = made.situation;
  const ids = { [`${kind.name}Id`]: made.id };
  const own = Object.values(kind.commands).filter(({ internal, kind: of }) => !internal && of !== 'create');
  const onItself = own
    .filter(({ list, kind: of }) => list === undefined || of === 'addItem')
    .map((command) => commanded(stage, made, command, ids));
  const onItems = await Promise.all(
    Object.values(kind.lists).map((list) => attemptsOnItem(stage, made, list)),
  );
  const children = Object.values(domain.kinds).flatMap((child) => {
    const def = child.parent === undefined ? undefined : child.fields[child.parent];
    const command = Object.values(child.commands).find(
      ({ kind: of, internal }) => of === 'create' && !internal,
    );
    if (def === undefined || targetOf(def) !== kind.name || command === undefined) return [];
    return [
      {
        ...commanded(stage, { ...made, situation: { ...made.situation, kind: child } }, command, ids),
        on: made.path,
        does: 'create',
      } as const,
    ];
  });
  return [
    ...onItself,
    ...onItems.flat(),
    ...children,
    ...filesOf(stage, made, { list: undefined, ids, on: made.path }),
  ];
};

const commanded = (stage: Stage, made: Made, command: CommandInfo, ids: Row): Attempt => {
  const { domain } = stage;
  const { kind } = made.situation;
  const [method, path] = requestOf(domain, kind, command, ids);
  return {
    ...{
      name: `${command.name} of ${kind.name}`,
      kind,
      command,
      does: 'command',
      method,
      path,
      on: made.path,
    },
    body: async (by) => {
      const body = await freshBody(stage, kind, command, {
        taken: await keysThere(stage, made, command),
        by,
      });
      return body && by ? withoutHidden(stage, made, { kind, command, body, by }) : body;
    },
  };
};

/** The keys of the present items: adding one of them again changes nothing. */
const keysThere = async (
  { readAny }: Stage,
  made: Made,
  { kind: does, list }: CommandInfo,
): Promise<readonly string[]> => {
  if (does !== 'addItem' || list?.key === undefined) return [];
  const { body } = await readAny<readonly Item[]>(`${made.path}/${kebab(list.name)}?limit=100`);
  return Array.isArray(body) ? body.map(keyOf) : [];
};

type Item = { readonly _links: { readonly self: { readonly href: string } } };
const keyOf = ({ _links: { self } }: Item): string => decodeURIComponent(self.href.split('/').at(-1) ?? '');

/**
 * The body of a command: new values each time, references to fixtures made for it, and no user who is already
 * in the list.
 */
export const freshBody = async (
  stage: Stage,
  kind: Kind,
  command: CommandInfo,
  { taken = [], by }: Sending,
): Promise<Row | undefined> => {
  const { examples } = stage;
  const everybody = nameableBy(stage, by);
  const others = everybody.filter((id) => !taken.includes(String(id)));
  const people = others.length === 0 ? everybody : others;
  const ids = new Map<string, number>();
  for (const [name, def] of referencesIn(kind, command)) {
    const isNeeded = !def.optional || command.requires.includes(name);
    const target = isToUser(def)
      ? undefined
      : targetFor(stage, { kind, command, name: wire(name, def), to: targetOf(def), by, isNeeded });
    const id = isToUser(def)
      ? people[stage.serial() % people.length]
      : target && (await (command.also[name] ? stage.make : stage.target)(target)).id;
    if (id !== undefined) ids.set(name, id);
  }
  const form = formOf({ kind, command, examples, idFor: (name) => ids.get(name) }, stage.serial());
  return bodyOf(kind, command, { ...form, ...(command.kind === 'moveItem' && { before: null }) });
};

/** The sender names only users whom they may read; without one, everybody is named. */
type Sending = { readonly taken?: readonly string[]; readonly by: Actor | undefined };

/** Of the first item. */
const attemptsOnItem = async (stage: Stage, made: Made, list: ListInfo): Promise<readonly Attempt[]> => {
  const { kind } = made.situation;
  const { body } = await stage.readAny<readonly Item[]>(`${made.path}/${kebab(list.name)}`);
  const [first] = Array.isArray(body) ? body : [];
  if (first === undefined) return [];
  const on = first._links.self.href;
  const ids = { [`${kind.name}Id`]: made.id, [list.id.name]: keyOf(first) };
  return [
    ...Object.values(kind.commands)
      .filter((command) => command.list === list && command.kind !== 'addItem' && !command.internal)
      .map((command) => ({ ...commanded(stage, made, command, ids), on })),
    ...filesOf(stage, made, { list, ids, on }),
  ];
};

type FileHolder = { readonly list: ListInfo | undefined; readonly ids: Row; readonly on: string };

const filesOf = ({ domain }: Stage, made: Made, { list, ids, on }: FileHolder): readonly Attempt[] =>
  Object.entries(operationsOf(domain)).flatMap(([name, { use, method, path }]): readonly Attempt[] => {
    if (
      use.kind !== made.situation.kind ||
      (use.does !== 'putFile' && use.does !== 'removeFile') ||
      use.upload.list !== list
    )
      return [];
    const at = path.replaceAll(/\{(\w+)\}/g, (_, id: string) => encodeURIComponent(String(ids[id])));
    const { type, body }: Partial<SampleFile> = use.does === 'putFile' ? anyFor(use.upload.accepts) : {};
    const { kind, does, upload } = use;
    const sent = { type, body: async () => body };
    return [{ name, kind, command: upload.command, does, method, path: at, on, ...sent }];
  });
