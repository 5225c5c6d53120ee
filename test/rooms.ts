import { importsOf, localTarget, type Sources } from './imports.ts';

/** The top folders by name, each with those that it imports, types included. */
type Rooms = ReadonlyMap<string, ReadonlySet<string>>;

/** Pages show comments of HTML as text, so the block is found by its first line. */
const PICTURE = /```text\n┌[\s\S]*?```/;
const COLUMNS = 72;

/** `docs/architecture.md` with the picture of the sources: each floor above all that it imports. */
export const withPicture = (page: string, sources: Sources): string => {
  if (!PICTURE.test(page)) throw new Error('docs/architecture.md has no block “text” that begins with “┌”.');
  return page.replace(PICTURE, `\`\`\`text\n${drawn(roomsOf(sources))}\n\`\`\``);
};

/** The files at the root compose everything, and are no room. */
const roomsOf = (sources: Sources): Rooms => {
  const paths = [...sources.keys()].filter((path) => path.includes('/') && !path.endsWith('.test.ts'));
  const rooms = new Map(paths.map((path) => [topOf(path), new Set<string>()]));
  for (const path of paths)
    for (const { specifier } of importsOf(sources.get(path) ?? '')) {
      const target = topOf(localTarget(path, specifier) ?? '');
      if (target !== topOf(path) && rooms.has(target)) rooms.get(topOf(path))?.add(target);
    }
  return rooms;
};

const topOf = (path: string): string => path.split('/', 1)[0] ?? '';

const drawn = (rooms: Rooms): string => {
  const width = Math.max(...[...rooms.keys()].map((name) => name.length));
  const line = (ends: string): string =>
    `${ends[0]}${'─'.repeat(width + 2)}${ends[1]}${'─'.repeat(COLUMNS + 2)}${ends[2]}`;
  const rows = (name: string): readonly string[] =>
    wrapped([...(rooms.get(name) ?? [])].toSorted()).map(
      (text, at) => `│ ${(at === 0 ? name : '').padEnd(width)} │ ${text.padEnd(COLUMNS)} │`,
    );
  const floors = floorsOf(rooms).toReversed();
  return [
    line('┌┬┐'),
    ...floors.flatMap((names, at) => [...(at === 0 ? [] : [line('├┼┤')]), ...names.flatMap(rows)]),
    line('└┴┘'),
  ].join('\n');
};

const wrapped = (names: readonly string[]): readonly string[] => {
  const lines = [''];
  for (const [at, name] of names.entries()) {
    const word = at === names.length - 1 ? name : `${name},`;
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + 1 + word.length > COLUMNS) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
};

/** From the ground up. Rooms that import each other in a circle share a floor. */
const floorsOf = (rooms: Rooms): readonly (readonly string[])[] => {
  const floors: string[][] = [];
  const built = new Set<string>();
  while (built.size < rooms.size) {
    const names = [...rooms.keys()].filter((name) => !built.has(name) && standsOn(name, rooms, built));
    floors.push(names.toSorted());
    for (const name of names) built.add(name);
  }
  return floors;
};

/** Whether the room, and those that it shares a circle with, import nothing else that is not built yet. */
const standsOn = (name: string, rooms: Rooms, built: ReadonlySet<string>): boolean =>
  [...unbuiltFrom(name, rooms, built)].every((each) => unbuiltFrom(each, rooms, built).has(name));

const unbuiltFrom = (name: string, rooms: Rooms, built: ReadonlySet<string>): ReadonlySet<string> => {
  const reached = new Set<string>();
  const add = (from: string): void => {
    for (const each of rooms.get(from) ?? []) if (!built.has(each)) reached.add(each);
  };
  add(name);
  for (const each of reached) add(each);
  return reached;
};

/** A table row that begins with the name of a folder. */
const ROOM = /^\| `([\w.-]+)\/` \| (.+) \|$/gm;
const SAYS_MAX = 160;

/** One sentence for each top folder that has not exactly one short line of its own. */
export const findRoomFaults = (page: string, folders: readonly string[]): string[] => {
  const lines = [...page.matchAll(ROOM)].map(([, name = '', says = '']) => ({ name, says }));
  return [
    ...folders.flatMap((folder) => {
      const count = lines.filter(({ name }) => name === folder).length;
      return count === 1 ? [] : [`docs/architecture.md has ${count} lines of ${folder}/: write one.`];
    }),
    ...lines
      .filter(({ name }) => !folders.includes(name))
      .map(({ name }) => `docs/architecture.md has a line of ${name}/, which does not exist.`),
    ...lines
      .filter(({ says }) => says.length > SAYS_MAX)
      .map(
        ({ name }) => `docs/architecture.md needs a shorter line of ${name}/, up to ${SAYS_MAX} characters.`,
      ),
  ];
};
