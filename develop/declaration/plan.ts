import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, normalize, relative, resolve, sep } from 'node:path';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { wordsOfTemplate } from '../../create/files.ts';
import { whyNoAggregate } from '../../create/names.ts';
import { withField } from './add-field.ts';
import { type ListFile, readList, withListed } from './add-to-list.ts';
import { type AggregateSketch, FIELD_TYPES, type FieldSketch, whyNoAggregateOf } from './sketch.ts';
import { textOfAggregate, textOfTest } from './text-of-aggregate.ts';

/** A file that is to be written. */
export type FileChange = {
  /** From the folder of the project. */
  readonly path: string;
  readonly text: string;
  /** Its present text; undefined if it does not exist. */
  readonly was: string | undefined;
};

/** An aggregate of the domain, and its file. */
export type DeclaredIn = {
  readonly kind: string;
  readonly path: string;
  readonly module: string;
  readonly exported: string;
};

const PACKAGE = 'annals';

/** The files of one more aggregate, of the domain that a file lists. */
export const planAggregate = async (
  file: string,
  sketch: AggregateSketch,
): Promise<readonly FileChange[]> => {
  const { name } = sketch;
  const list = await listIn(file);
  const others = await declaredIn(file, list);
  const words = new Set([...(await wordsOfTemplate()), ...Object.keys(FIELD_TYPES)]);
  const why = whyNoAggregate(name, words) ?? whyNoAggregateOf(sketch);
  if (why !== undefined) throw new StartRefused(why);
  if (others.some(({ kind }) => kind === name))
    throw new StartRefused(`There is an aggregate ${name} already: give this one another name.`);
  const folder = dirname(file);
  const module = `./${name}.ts`;
  const path = join(folder, `${name}.ts`);
  const language = languageOf(list);
  const text = textOfAggregate(sketch, {
    base: list.base,
    language,
    others: Object.fromEntries(others.map((other) => [other.kind, other])),
  });
  const listed = withListed(list, { name, module, shown: file });
  const tested =
    language === PACKAGE
      ? [
          await created(
            join(folder, `${name}.test.ts`),
            textOfTest(sketch, { served: list.exported, list: `./${basename(file)}`, module }),
          ),
        ]
      : [];
  return [await created(path, text), ...tested, { path: file, text: listed, was: list.parsed.text }];
};

/** The file of an aggregate with one more field. */
export const planField = async (
  file: string,
  kind: string,
  field: FieldSketch,
): Promise<readonly FileChange[]> => {
  const list = await listIn(file);
  const others = await declaredIn(file, list);
  const found = others.find((other) => other.kind === kind);
  if (found === undefined)
    throw new StartRefused(
      `${file} lists no aggregate ${kind} of a file beside it: use ${others.map((other) => other.kind).join(', ')}.`,
    );
  if (field.of !== undefined && field.of !== 'user' && !others.some((other) => other.kind === field.of))
    throw new StartRefused(
      `There is no aggregate ${field.of} to refer to: use ${['user', ...others.map((other) => other.kind)].join(', ')}.`,
    );
  const was = await readFile(found.path, 'utf8');
  const text = await withField(was, { kind, field, shown: found.path, language: languageOf(list) });
  return [{ path: found.path, text, was }];
};

/** Writes all of them, unless one has changed since it was read. */
export const writePlan = async (changes: readonly FileChange[]): Promise<void> => {
  for (const { path, was } of changes)
    if ((await textOf(path)) !== was) throw new StartRefused(`${path} has changed meanwhile: start again.`);
  // The list comes last: a domain that names a file has it.
  for (const { path, text, was } of changes) {
    await mkdir(dirname(path), { recursive: true });
    if (was === undefined) await writeFile(path, text, { flag: 'wx' });
    else {
      await writeFile(`${path}.new`, text);
      await rename(`${path}.new`, path);
    }
  }
};

/** The aggregates that a domain lists, whose files are in its folder. */
export const declaredIn = async (file: string, { modules }: ListFile): Promise<readonly DeclaredIn[]> => {
  const folder = await realpath(dirname(file));
  const found: DeclaredIn[] = [];
  for (const module of new Set(Object.values(modules).filter((each) => each.startsWith('.')))) {
    const path = normalize(join(dirname(file), module));
    const actual = await realpath(path).catch(() => undefined);
    if (actual?.startsWith(folder + sep) !== true) continue;
    for (const [, exported = '', kind = ''] of (await readFile(path, 'utf8')).matchAll(AGGREGATE))
      found.push({ kind, path, module, exported });
  }
  return found;
};

const AGGREGATE = /^export const (\w+) = (?:\w+\.)?aggregate\(\s*['"](\w+)['"]/gm;

export const listIn = async (file: string): Promise<ListFile> => {
  if (relative('.', resolve(file)).startsWith('..'))
    throw new StartRefused(`${file} is outside of this folder: start in the folder of the project.`);
  const text = await textOf(file);
  if (text === undefined)
    throw new StartRefused(`There is no ${file} here: run this in a project created by npm create annals.`);
  return readList(text, file);
};

/** In a clone of Annals, its own modules. */
const languageOf = ({ language }: ListFile): string =>
  language.startsWith('#kernel/') ? '#kernel/declare/fields.ts' : language;

const created = async (path: string, text: string): Promise<FileChange> => {
  if ((await textOf(path)) !== undefined) throw new StartRefused(`${path} already exists.`);
  return { path, text, was: undefined };
};

const textOf = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
