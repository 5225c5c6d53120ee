import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StartRefused } from '#shared/process/start-refused.ts';
import { filesOfAggregate } from '../package/create/files.ts';
import { whyNoAggregate } from '../package/create/names.ts';
import type { Command } from './command.ts';
import { UsageError } from './usage-error.ts';

const DOMAIN = 'domain/domain.ts';

/** For projects that `npm create annals` has made. */
export const newAggregate: Command = {
  name: 'new aggregate',
  summary: 'Adds an aggregate to a project that npm create annals has made: its file, its test, and its place in domain/domain.ts.',
  positionals: ['<name>'],
  options: {},
  examples: ['new aggregate invoice'],
  async run({ positionals: [name = ''] }, terminal) {
    const why = whyNoAggregate(name);
    if (why !== undefined) throw new UsageError(why.replace(/\.$/, ''));
    const domain = await readFile(DOMAIN, 'utf8').catch(() => undefined);
    if (domain === undefined) throw new StartRefused(`There is no ${DOMAIN} here: run this in a project that npm create annals has made.`);
    const added = withAggregate(domain, name);
    if (added === undefined) throw new StartRefused(`${DOMAIN} has no assemble(base, […]) to which ${name} could be added.`);
    for (const [path, text] of Object.entries(await filesOfAggregate(name))) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text, { flag: 'wx' }).catch((cause: NodeJS.ErrnoException) => {
        throw cause.code === 'EEXIST' ? new StartRefused(`${path} is there already.`, { cause }) : cause;
      });
      await terminal.write(path);
    }
    await writeFile(DOMAIN, added);
    await terminal.write(`${DOMAIN}, where ${name} is in the list now`);
  },
};

/** With its import, and in the list; undefined where there is none. */
const withAggregate = (text: string, name: string): string | undefined => {
  const list = /(assemble\(base, \[)([^\]]*)\]/.exec(text);
  const lastImport = text.lastIndexOf('\nimport ');
  if (list === null || lastImport < 0) return undefined;
  const names = list[2]?.trim().replace(/,$/, '');
  const end = text.indexOf('\n', lastImport + 1) + 1;
  const withList = text.replace(list[0], `${list[1]}${[names, name].filter(Boolean).join(', ')}]`);
  return `${withList.slice(0, end)}import { ${name} } from './${name}.ts';\n${withList.slice(end)}`;
};
