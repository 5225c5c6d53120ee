import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { assemble } from '#kernel/assembly/assemble.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref } from '#kernel/declare/fields.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { filesOfAggregate, wordsOfTemplate } from '../create/files.ts';
import { whyNoAggregate } from '../create/names.ts';
import { whyRefused } from '../develop/check.ts';
import { type FileChange, planAggregate, writePlan } from '../develop/declaration/plan.ts';
import type { Command } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { SKETCH_OPTIONS, sketchAsked, sketchGiven } from './sketch-given.ts';
import type { Terminal } from './terminal.ts';

const DOMAIN = 'domain/domain.ts';

/** The file that lists the aggregates of this installation. */
export const listFileOf = ({ environment }: Pick<Terminal, 'environment'>): string =>
  environment.DOMAIN_FILE || DOMAIN;

/** For projects made by `npm create annals`. */
export const newAggregate: Command = {
  name: 'new aggregate',
  summary:
    'Adds an aggregate to a project created by npm create annals: its file, its test, and its entry in domain/domain.ts. On a terminal it asks for fields, states and rights, and shows the file before it writes it.',
  positionals: ['<name>'],
  options: {
    ...SKETCH_OPTIONS,
    yes: { type: 'boolean', description: 'Asks nothing.' },
  },
  examples: [
    'new aggregate invoice',
    'new aggregate invoice --field number:line:unique --field total:integer:max=1000000 --states draft,sent,paid',
  ],
  async run(given, terminal) {
    const [name = ''] = given.positionals;
    const why = whyNoAggregate(name, await wordsOfTemplate());
    if (why !== undefined) throw new UsageError(why.replace(/\.$/, ''));
    const { ask } = terminal;
    const isAsked = ask !== undefined && !given.flags.has('yes');
    const sketch =
      sketchGiven(name, given) ?? (isAsked ? await sketchAsked(name, { ...terminal, ask }) : undefined);
    if (sketch === undefined) return addTemplate(name, terminal);
    const file = listFileOf(terminal);
    await addChecked(file, await planAggregate(file, sketch), { terminal, isAsked });
  },
};

type Adding = { readonly terminal: Terminal; readonly isAsked: boolean };

/** Writes files once the kernel accepts them, and shows them first if a user is there. */
export const addChecked = async (
  file: string,
  changes: readonly FileChange[],
  { terminal, isAsked }: Adding,
): Promise<void> => {
  const refused = await whyRefused(file, changes);
  if (refused !== undefined) throw new StartRefused(`Nothing was written: ${refused}`);
  if (isAsked) {
    for (const { path, text } of changes.slice(0, 1)) await terminal.write(`\n${path}:\n\n${text}`);
    if ((await terminal.confirm?.('Write it?')) !== true) throw new StartRefused('Nothing was written.');
  }
  await writePlan(changes);
  for (const { path, was } of changes) await terminal.write(was === undefined ? path : `${path}, changed`);
};

const addTemplate = async (name: string, terminal: Terminal): Promise<void> => {
  demandServed(name);
  const text = await readFile(DOMAIN, 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new StartRefused(`There is no ${DOMAIN} here: run this in a project created by npm create annals.`);
  const added = withAggregate(text, name);
  if (added === undefined) throw new StartRefused(`${DOMAIN} has no assemble(base, […]) to add ${name} to.`);
  const files = Object.entries(await filesOfAggregate(name));
  const present = files.find(([path]) => existsSync(path));
  if (present !== undefined) throw new StartRefused(`${present[0]} already exists.`);
  for (const [path, content] of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    await terminal.write(path);
  }
  await writeFile(DOMAIN, added);
  await terminal.write(`${DOMAIN}, with ${name} added to the list`);
};

/** The kernel refuses its own names, in its own words; this asks it before anything is written. */
const demandServed = (name: string): void => {
  const base = domain({ name: 'project', roles: ['member'] });
  const declared = base.aggregate(name, {
    owner: 'holder',
    fields: { holder: ref(base.user), title: line(1) },
    events: { created: { creates: ['title'] } },
    commands: { create: { emits: 'created' } },
    rights: { read: { member: 'own' }, write: { member: 'own' } },
  });
  operationsOf(assemble(base, [declared]));
};

/** Adds the import and the list entry; undefined if the list is not found. */
const withAggregate = (text: string, name: string): string | undefined => {
  const list = /(assemble\(base, \[)([^\]]*)\]/.exec(text);
  const lastImport = text.lastIndexOf('\nimport ');
  if (list === null || lastImport < 0) return undefined;
  const names = list[2]?.trim().replace(/,$/, '');
  const end = text.indexOf('\n', lastImport + 1) + 1;
  const withList = text.replace(list[0], `${list[1]}${[names, name].filter(Boolean).join(', ')}]`);
  return `${withList.slice(0, end)}import { ${name} } from './${name}.ts';\n${withList.slice(end)}`;
};
