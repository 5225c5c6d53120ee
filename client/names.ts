import { kebab, type Send } from './collections.ts';
import { jsonIn, Problem } from './problem.ts';

/**
 * The names of collections at run time. A client has only the types of its domain, so it learns them from the
 * server, after the first path that the server does not know: a client without mistakes needs no request for
 * them.
 */
export type Names = { known: ReadonlySet<string> | undefined };

/** Sends the requests of the collection of this name, and refuses a name that is known to be wrong. */
export const sendFor = (send: Send, name: string, names: Names): Send => {
  const demandKnown = (): void => {
    if (names.known?.has(kebab(name)) === false) throw new TypeError(sentenceOn(name, names.known));
  };
  return async (...asked) => {
    demandKnown();
    try {
      return await send(...asked);
    } catch (error) {
      if (error instanceof Problem && error.code === NO_PATH) {
        names.known ??= await namesAt(send);
        demandKnown();
      }
      throw error;
    }
  };
};

/** The code for a path that no domain has; items have codes of their own. */
const NO_PATH = 'not_found';

/** The first words of all paths. Undefined if the description cannot be read. */
const namesAt = async (send: Send): Promise<ReadonlySet<string> | undefined> => {
  try {
    const answer = await send('GET', '/openapi.json', { options: { consistency: false } });
    const { paths } = await jsonIn<{ readonly paths: object }>(answer);
    return new Set(Object.keys(paths).map((path) => path.split('/')[1] ?? ''));
  } catch {
    return undefined;
  }
};

const camel = (name: string): string =>
  name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

const sentenceOn = (name: string, known: ReadonlySet<string>): string => {
  const [nearest] = [...known]
    .map((each) => [distance(name, camel(each)), camel(each)] as const)
    .toSorted(([one], [other]) => one - other);
  const [away, meant] = nearest ?? [name.length, ''];
  const hint = away * 2 <= name.length ? `: did you mean “${meant}”?` : '';
  return `the domain has no collection “${name}”${hint}`;
};

/** How many letters to change, add or leave out (Levenshtein). */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const above = row;
    row = [index + 1];
    for (let at = 0; at < other.length; at++)
      row.push(
        Math.min(
          (above[at + 1] ?? 0) + 1,
          (row[at] ?? 0) + 1,
          (above[at] ?? 0) + (letter === other[at] ? 0 : 1),
        ),
      );
  }
  return row.at(-1) ?? 0;
};
